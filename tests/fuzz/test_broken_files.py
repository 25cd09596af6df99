"""Broken files of every format end in an error of one line, in Python and on the command line, and in nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from finsler.solvers.sparse.checkpoint import Checkpoint

sys.path.insert(0, str(Path(__file__).parent))
from corpus import broken, mutated, seeds, write_all
from readers import ALLOWED, STATE, campaign, entries, tried

from helpers import SMALL, run

SOUND, BROKEN = seeds(), broken()
FAMILIES = sorted({"".join(Path(name).suffixes) for name in BROKEN})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("broken")
    write_all(place)
    (place / "small-table.csv").write_text(SMALL)
    return place


def learns() -> bool:
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.mark.filterwarnings(
    "ignore:.*is taken for a header"
)  # files of other points, read as pairs of labels
@pytest.mark.parametrize("name", SOUND)
def test_sound_files_are_read(name, folder):
    """Some way in must be open, else the tests below would test nothing."""
    open_ways = 0
    for way in entries(folder / name, learns()).values():
        try:
            way()
            open_ways += 1
        except ALLOWED:
            pass
    assert open_ways


@pytest.mark.parametrize("family", FAMILIES)
def test_broken_files_are_refused_in_one_line(family, folder):
    names = [name for name in BROKEN if "".join(Path(name).suffixes) == family]
    trouble = {
        f"{way} of {name}": found
        for name in names
        for way, function in entries(folder / name, learns()).items()
        if (found := tried(function))
    }
    assert not trouble, "\n".join(f"{place}: {found}" for place, found in list(trouble.items())[:5])


@pytest.mark.parametrize(
    "name", [name for name in BROKEN if name.startswith(("map-", "header-", "network-", "columns-"))], ids=str
)
def test_a_map_with_one_part_that_is_wrong_is_refused(name, folder):
    """A saved object is checked as an input is: all of these were loaded, or ended in a traceback."""
    from finsler import Embedding

    with pytest.raises(ALLOWED, match=name):
        Embedding.load(folder / name)


@pytest.mark.parametrize(
    "name", [name for name in BROKEN if name.startswith("model-")], ids=lambda name: name
)
def test_a_model_with_one_part_that_is_wrong_is_refused(name, folder):
    pytest.importorskip("torch")
    from finsler import LinkPredictor

    with pytest.raises(ALLOWED, match=name):
        LinkPredictor.load(folder / name)


@pytest.mark.parametrize(
    "name", [name for name in BROKEN if name.startswith("state-")], ids=lambda name: name
)
def test_a_checkpoint_with_one_part_that_is_wrong_is_refused(name, folder):
    """It was gone on from, or ended in KeyError."""
    with pytest.raises(ALLOWED, match=name):
        Checkpoint(folder / name, STATE, 1.0).load()


def test_a_damaged_checkpoint_of_a_training_is_refused(tmp_path):
    torch = pytest.importorskip("torch")
    from readers import resumed, training_state

    path = tmp_path / "state.pt"
    path.write_bytes(training_state())
    resumed(path)
    state = torch.load(path, weights_only=True)
    nan = {name: value * float("nan") for name, value in state["model"].items()}
    wrong = [
        {"model": {}},
        {"model": nan},
        {"optimizer": 3},
        {"best": {}},
        {"epoch": "x"},
        {"record": {"x": 1}},
    ]
    for change in wrong:
        torch.save({**state, **change}, path)
        with pytest.raises(ALLOWED, match=r"state\.pt"):
            resumed(path)


USES = {
    "report": "report FILE",
    "embed": "embed FILE --json --max-iter 2",
    "weights": "embed small-table.csv --json --max-iter 2 --weights FILE",
    "attributes": "plot map.npz --attributes FILE --out p.csv --force",
    "distance": "distance FILE A B",
    "plot": "plot FILE --out p.csv --force",
    "place": "place map.npz FILE",
    "predict": "predict FILE --from A",
}


@pytest.mark.parametrize("use", USES)
def test_the_command_line_ends_in_one_line(use, folder, monkeypatch):
    """A sample of the files for each command: exit code 0 or 2, and no traceback."""
    if use == "predict" and not learns():
        pytest.skip("needs torch")
    monkeypatch.chdir(folder)
    names = sorted(BROKEN)
    for name in names[list(USES).index(use) :: 12]:
        result = run(*USES[use].replace("FILE", name).split())
        assert result.exit_code in (0, 2), (name, result.exception, result.stderr)
        if result.exit_code == 2:
            said = [line for line in result.stderr.splitlines() if line.startswith("finsler: ")]
            assert len([line for line in said if not line.startswith("finsler: warning")]) == 1, (name, said)
            assert "Traceback" not in result.stderr


MARKET = """
import sys
from finsler.graphs.readers import read_graph
for name in sys.argv[1:]:
    try:
        read_graph(name)
    except (ValueError, OSError, MemoryError):
        pass
print("alive")
"""


def test_no_matrix_market_file_ends_the_process(folder):
    """SciPy's compiled reader aborted: SIGABRT, beyond any except."""
    names = [folder / name for name in BROKEN if ".mtx" in name]
    rng = np.random.default_rng(0)
    for k in range(200):
        name = str(rng.choice(["graph.mtx", "pattern.mtx", "array.mtx", "lower.mtx", "graph.mtx.gz"]))
        names.append(folder / f"random-{k}-{name}")
        names[-1].write_bytes(mutated(SOUND[name], rng))
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MARKET, *map(os.fspath, names)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (child.returncode, child.stdout.strip()) == (0, "alive"), child.stderr


def test_files_broken_at_random(tmp_path):
    """A short campaign; ``make fuzz`` runs long ones."""
    assert campaign(300, 0, None, learns()) == 0
