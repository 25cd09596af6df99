"""Is `LinkPredictor().fit(G, features=features)`, with nothing set, as good as the table? One process per graph.

    python paper/defaults.py [GRAPH ...]

For each split the arcs that training sees in the table (neither test nor validation pairs) are fitted with default options,
so that the model holds out validation pairs of its own, and the test pairs of the split are scored with `predict_proba`
and `predict_direction`. Results are added to `results/table2/defaults.json`, graph by graph; a graph that is in it is run
again if it is named. The graphs are downloaded once, or read from the folder that the variable FINSLER_DATA names.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import roc_auc_score

from cells import write_text
from table2 import NAMES, link_data

FOLDER = Path(__file__).parent / "results" / "table2"
RESULTS = FOLDER / "defaults.json"
SPLITS = {"cora": (0, 1, 2), "citeseer": (0, 1, 2)}
TASKS = {"existence": "existence_mixed", "direction": "direction"}


def run_split(name: str, split: int) -> dict[str, Any]:
    """Fit and predict one split as a user would; areas under ROC curves in percent, and what it took."""
    from finsler.learn.links import LinkPredictor
    from finsler.learn.tasks import split_links

    graph, features = link_data(name)
    parts = split_links(graph, random_state=split)
    tails, heads = parts.observed.T
    training = csr_array((np.ones(len(tails)), (tails, heads)), shape=(parts.n_nodes, parts.n_nodes))
    np.random.seed(split)  # noqa: NPY002 - what random_state=None draws from
    wall, processor = time.perf_counter(), time.process_time()
    model = LinkPredictor().fit(training, features=features)
    mixed, direction = parts.test.existence_mixed, parts.test.direction
    found = {
        "existence": 100 * float(roc_auc_score(mixed.labels, model.decision_function(mixed.pairs))),
        "direction": 100 * float(roc_auc_score(direction.labels, model.predict_direction(direction.pairs))),
    }
    seconds = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    table = json.loads((FOLDER / "results" / f"{name}-random-split{split}.json").read_text(encoding="utf-8"))
    return {
        "graph": name,
        "split": split,
        "defaults": found,
        "table": {task: table["test"][key] for task, key in TASKS.items()},
        "encoder": model.encoder_,
        "seconds": {key: round(value, 1) for key, value in seconds.items()},
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def table_text(results: list[dict[str, Any]]) -> str:
    """Markdown table of all splits."""
    lines = [
        "| graph, split | existence, mixed | table | difference | direction | table | difference | wall s | CPU s | MB |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        cells = [f"{NAMES[result['graph']]}, {result['split']}"]
        for task in TASKS:
            ours, theirs = result["defaults"][task], result["table"][task]
            cells += [f"{ours:.2f}", f"{theirs:.2f}", f"{ours - theirs:+.2f}"]
        cells += [f"{result['seconds'][key]:.0f}" for key in ("wall", "processor")]
        lines.append(f"| {' | '.join([*cells, str(result['peak_memory_mb'])])} |")
    return "\n".join(lines)


def main() -> None:
    """Run the graphs one after the other, each split in a process of its own, so that the peak of memory is its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graphs", nargs="*", metavar="GRAPH", help=f"of {', '.join(NAMES)}; all by default")
    parser.add_argument("--split", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := set(options.graphs) - set(NAMES):
        parser.error(f"there is no graph {min(unknown)!r}; there are {', '.join(NAMES)}")
    if options.split is not None:
        print(json.dumps(run_split(options.graphs[0], options.split)))
        return
    for name in options.graphs or NAMES:
        for split in SPLITS.get(name, (0,)):
            command = [sys.executable, __file__, name, "--split", str(split)]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else []
            kept = [result for result in kept if (result["graph"], result["split"]) != (name, split)]
            kept.append(json.loads(output.splitlines()[-1]))
            kept.sort(key=lambda result: (list(NAMES).index(result["graph"]), result["split"]))
            write_text(RESULTS, json.dumps(kept, indent=1) + "\n")
    print(table_text(json.loads(RESULTS.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
