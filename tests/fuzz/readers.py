"""Every way into the library that a file can take, and what may come out: a result, or an error in one line.

``python tests/fuzz/readers.py --cases 20000 --seed 1`` breaks so many files at random and tries each; it prints how many of
which format were tried, and stops at nothing: what was found is listed at the end, and kept in ``--keep FOLDER``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from corpus import LABELS, mutated, seeds

from finsler import Embedding
from finsler.cli.output import map_csv
from finsler.data.labels import LabelIndex
from finsler.data.matrix import as_dissimilarities
from finsler.data.point_tables import (
    read_attributes,
    read_features,
    read_label_pairs,
    read_new_rows,
    read_weights,
)
from finsler.errors import InputError, MissingExtraError
from finsler.exports.gexf import gexf
from finsler.exports.graphml import graphml
from finsler.exports.node_link import node_link
from finsler.graphs.readers import open_file, read_graph
from finsler.solvers.backends.memmap import opened
from finsler.solvers.sparse.checkpoint import Checkpoint
from finsler.solvers.sparse.problem import PairStream

ALLOWED = (InputError, OSError, MemoryError, MissingExtraError)
STATE = {"n_points": 4, "n_components": 2}
TABLES = ("auto", "matrix", "pairs", "edges", "points")


def entries(path: Path, learn: bool = True) -> dict[str, object]:
    """All ways into the library for a file, by name."""
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    points = LabelIndex(LABELS, 4)
    if suffix == ".pt":
        return {"training checkpoint": partial(resumed, path)}
    ways: dict[str, object] = {"open_file": partial(described, path)}
    if suffix in (".csv", ".txt", ".tsv", ".xlsx", ".parquet", ".feather"):
        ways |= {f"open_file, {kind}": partial(described, path, kind) for kind in TABLES[1:]}
        ways |= {
            "read_attributes": partial(read_attributes, path, LABELS, 4),
            "read_weights": partial(read_weights, path, LABELS, 4),
            "read_new_rows": partial(read_new_rows, path, None, LABELS, 4),
            "read_label_pairs": partial(read_label_pairs, path, points),
        }
    if suffix in (".csv", ".txt", ".tsv"):
        ways["stdin"] = lambda: open_file(BytesIO(path.read_bytes()))
    if suffix in (".csv", ".npy", ".npz"):
        ways["read_features"] = partial(read_features, path, LABELS, 4)
    if suffix == ".npy":
        ways["opened"] = lambda: as_dissimilarities(opened(path, "D"), missing="mask")
    if suffix == ".npz":
        ways |= {
            "Embedding.load": partial(loaded, path),
            "PairStream": lambda: list(PairStream.from_files(3, [path])),
            "Checkpoint": lambda: Checkpoint(path, STATE, 1.0).load(),
            "read_graph": partial(read_graph, path),
        }
        if learn:
            ways["LinkPredictor.load"] = partial(loaded_model, path)
    return ways


def described(path: Path, kind: str = "auto") -> None:
    """Read a table, and say what it is."""
    table = open_file(path, kind)
    table.describe()
    if table.kind == "matrix":
        as_dissimilarities(table.values, labels=table.labels, missing="mask")


def loaded(path: Path) -> None:
    """Load a map and use it."""
    found = Embedding.load(path)
    found.summary()
    found.distances()
    map_csv(found).encode("utf-8", "backslashreplace")
    for write in (gexf, graphml, node_link):
        write(found)
    found.to_networkx()
    found.to_frame()
    found.worst_pairs(3) if found.data is not None else None
    if found.network is not None:
        names = found.network.graph.nodes
        found.route(names[0], names[-1])
        found.route(*[found.labels[k] if found.labels else k for k in (0, found.n_points - 1)])


def loaded_model(path: Path) -> None:
    """Load a link predictor and use it."""
    from finsler import LinkPredictor

    model = LinkPredictor.load(path)
    first, second = model._nodes.label(0), model._nodes.label(len(model.embedding_) - 1)
    model.predict_proba([(first, second)])
    model.rank(first, 3)
    model.result_.summary()


def training_state() -> bytes:
    """A checkpoint of a training."""
    import torch

    from finsler.learn.training import CHECKPOINT_FORMAT

    trainer = small_trainer()
    trainer.record.history.append({"epoch": 1, "loss": 0.5})
    file = BytesIO()
    torch.save({"format": CHECKPOINT_FORMAT, "fingerprint": "graph", **trainer.state()}, file)
    return file.getvalue()


def small_trainer():
    """A training of four nodes."""
    from finsler.graphs.arc_set import ArcSet
    from finsler.learn.model import DirectCoordinates, FermiDirac, LinkModel
    from finsler.learn.options import LinkOptions, schedule
    from finsler.learn.training import Lesson, Trainer

    arcs, options = np.array([[0, 1], [1, 2], [2, 3]]), LinkOptions()
    model = LinkModel(DirectCoordinates(np.arange(4.0), 2, radii=True), FermiDirac(None, None, None))
    plan = schedule(options, 2, n_arcs=3, n_lessons=1, direct=True)
    return Trainer(model, [Lesson(arcs)], ArcSet(arcs, 4), plan, options)


def resumed(path: Path) -> None:
    """Go on from a checkpoint of a training."""
    from finsler.learn.training import Checkpoint as Training

    small_trainer().resume(Training(path, "graph"))


def tried(way) -> str:
    """Try one: nothing if it went well or was refused as it should be, else what came out."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            way()
    except ALLOWED as error:
        if len(str(error).splitlines()) != 1:
            return f"not one line: {str(error)!r}"
    except Exception:
        return traceback.format_exc()
    return ""


def campaign(cases: int, seed: int, keep: Path | None, learn: bool, only: str = "") -> int:
    """Break many files, and try each; the number of findings."""
    rng = np.random.default_rng(seed)
    sound = seeds() | ({"training.pt": training_state()} if learn else {})
    names = [name for name in sound if only in name]
    tally: Counter[str] = Counter()
    found: dict[str, str] = {}
    slowest, began = (0.0, ""), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for case in range(cases):
            name = names[case % len(names)]
            data = mutated(sound[name], rng, sound[names[int(rng.integers(len(names)))]])
            path = Path(folder) / name
            path.write_bytes(data)
            for way, function in entries(path, learn).items():
                start = time.monotonic()
                trouble = tried(function)
                slowest = max(slowest, (time.monotonic() - start, f"{way} of {name}"))
                tally["".join(path.suffixes)] += 1
                if trouble:
                    place = "\n".join(trouble.splitlines()[-3:])
                    if place not in found and keep is not None:
                        keep.mkdir(parents=True, exist_ok=True)
                        (keep / f"{seed}-{case}-{name}").write_bytes(data)
                    found.setdefault(place, f"{way} of {seed}-{case}-{name}\n{trouble}")
    for trouble in found.values():
        print(trouble)
    each = ", ".join(f"{kind} {count:,}" for kind, count in sorted(tally.items()))
    print(
        f"seed {seed}: {cases:,} files, {sum(tally.values()):,} calls ({each}), {time.monotonic() - began:.0f} s"
    )
    print(f"slowest {slowest[0]:.2f} s: {slowest[1]}; findings: {len(found)}")
    return len(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", default="", help="part of the names of files to break: .mtx, say")
    parser.add_argument("--no-learn", action="store_true")
    given = parser.parse_args()
    sys.exit(min(1, campaign(given.cases, given.seed, given.keep, not given.no_learn, given.only)))
