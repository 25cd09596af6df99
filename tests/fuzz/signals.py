"""Kill processes while they write maps, pages, tables and checkpoints: nothing may be lost, and nothing left behind.

``python tests/fuzz/signals.py --kills 60 --terms 40`` goes on until so many SIGKILLs and SIGTERMs have hit, that is, have
come while a file was half written. After every one the file must be whole, in its old or its new version. After a SIGTERM,
which the command line turns into an exception, nothing else may be in the folder; what a SIGKILL leaves the next writer
must have swept.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from finsler import Embedding
from finsler.cli.app import run
from finsler.cli.output import map_csv, write_text
from finsler.data.matrix import as_dissimilarities
from finsler.solvers.sparse.checkpoint import Checkpoint, State

PROBLEM = {"n_points": 40_000, "n_components": 3}


def made_map(version: int, n: int = 500) -> Embedding:
    rng = np.random.default_rng(version)
    D = rng.uniform(1, 2, (n, n)) * (1 - np.eye(n))
    labels = [f"place {i}" for i in range(n)]
    data = as_dissimilarities(D, labels=labels)
    share = np.full(n, 1 / n)
    return Embedding(
        rng.normal(size=(n, 3)),
        np.array([0, 0, 0.2]),
        labels,
        1.0,
        0.1,
        share,
        version,
        "converged",
        "Done.",
        data,
    )


MAPS = [made_map(0), made_map(1)]
STATES = [
    State(np.random.default_rng(k).normal(size=(40_000, 3)), np.array([0, 0, 0.2]), [3.0, 2.0], k, "fitted")
    for k in (0, 1)
]


def write_page(path: Path, k: int) -> None:
    MAPS[k].explore(path, title=f"version {k}")


def page_is_whole(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return text.rstrip().endswith("</html>") and ("version 0" in text or "version 1" in text)


def write_training(path: Path, k: int) -> None:
    import torch

    from finsler.learn.training import Checkpoint as Training

    Training(path, "graph").write({"epoch": k, "model": {"weight": torch.full((1000, 1000), float(k))}})


def training_is_whole(path: Path) -> bool:
    from finsler.learn.training import Checkpoint as Training

    return (Training(path, "graph").read() or {})["epoch"] in (0, 1)


# What is written, and what tells whether a file is whole.
KINDS = {
    "map.npz": (lambda path, k: MAPS[k].save(path), lambda path: Embedding.load(path).n_iter in (0, 1)),
    "page.html": (write_page, page_is_whole),
    "state.npz": (
        lambda path, k: Checkpoint(path, PROBLEM, 0).save(STATES[k]),
        lambda path: Checkpoint(path, PROBLEM, 0).load().n_passes in (0, 1),
    ),
    "map.csv": (
        lambda path, k: write_text(path, map_csv(MAPS[k]) * 20),
        lambda path: path.read_bytes().count(b"\n") == 20 * 501,
    ),
    "training.pt": (write_training, training_is_whole),
}


def writer(name: str, path: Path, polite: bool) -> int:
    """Start a process that writes a file again and again; one that is `polite` handles SIGTERM as the command line does."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            if polite:
                run(["--version"])
            for k in range(100_000):
                KINDS[name][0](path, k % 2)
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        os._exit(code)


def strike(name: str, folder: Path, number: int, rng: random.Random) -> bool:
    """Send one signal to a writer; whether it hit. The file must be whole then."""
    path = folder / name
    pid = writer(name, path, number == signal.SIGTERM)
    seen, deadline = False, time.monotonic() + 300
    while not seen and time.monotonic() < deadline:
        seen = any(part.name.endswith(".tmp") and f"-{pid}-" in part.name for part in folder.iterdir())
    time.sleep(rng.choice([0, 0, 0.001, 0.003, 0.01]))
    os.kill(pid, number)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    left = [part.name for part in folder.iterdir() if part.name not in KINDS]
    if not KINDS[name][1](path):
        raise AssertionError(f"{name} is not whole after signal {number}")
    if number == signal.SIGTERM:
        if code != 128 + signal.SIGTERM or any(f"-{pid}-" in part for part in left):
            raise AssertionError(f"SIGTERM while writing {name}: exit code {code}, left {left}")
        return seen
    return any(f"-{pid}-" in part for part in left)


def campaign(kills: int, terms: int, seed: int = 0) -> Counter[str]:
    """Strike until so many signals have hit; how many of each kind did."""
    rng, tally = random.Random(seed), Counter[str]()
    with contextlib.suppress(ImportError):
        import torch  # noqa: F401  (before the forks)
    names = [name for name in KINDS if name != "training.pt" or "torch" in sys.modules]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in names:
            KINDS[name][0](folder / name, 0)
        for number, wanted in ((signal.SIGKILL, kills), (signal.SIGTERM, terms)):
            hits, tries = 0, 0
            while hits < wanted and tries < 20 * wanted:
                name = names[tries % len(names)]
                tries += 1
                if strike(name, folder, number, rng):
                    hits += 1
                    tally[f"{number.name} {name}"] += 1
            if hits < wanted:
                raise AssertionError(f"only {hits} of {wanted} hit")
            for name in names:  # whoever writes next sweeps
                KINDS[name][0](folder / name, 0)
                if not KINDS[name][1](folder / name):
                    raise AssertionError(f"{name} is not whole in the end")
            left = {part.name for part in folder.iterdir()} - {*names}
            if left:
                raise AssertionError(f"left behind: {left}")
    return tally


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--terms", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = campaign(given.kills, given.terms, given.seed)
    for what, count in sorted(found.items()):
        print(f"{what}: {count}")
    print(f"{sum(found.values())} signals hit; nothing lost, nothing left")
