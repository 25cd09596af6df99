"""A few steps with the base and with each extra that is named: python .ci/smoke.py plot cli ...

Run by ``make release-check`` in environments that hold the wheel and nothing else of ours.
"""

import importlib.util
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

import finsler

HOURS = [[0.0, 5.3, 2.6], [4.2, 0.0, 3.7], [2.4, 4.5, 0.0]]
LABELS = ["JFK", "LAX", "MIA"]
ARCS = [(f"p{i}", f"p{j}") for i in range(40) for j in {i // 2, i // 3, i - 1} if 0 <= j < i]
WAYS = [(a, b, 2.0) for a, b in ARCS] + [(b, a, 1.0) for a, b in ARCS]  # there, and cheaper back
# A module that only this extra brings, to see that the environment holds what was asked for and no more.
BROUGHT = {
    "plot": "plotly",
    "cli": "typer",
    "graph": "igraph",
    "files": "openpyxl",
    "field": "h5netcdf",
    "data": "pooch",
    "learn": "torch",
    "distributed": "distributed",
}


def base(folder: Path) -> None:
    """The recipes, the scikit-learn way, files, types."""
    flights = finsler.embed_matrix(HOURS, labels=LABELS)
    assert flights.distance("JFK", "LAX") > flights.distance("LAX", "JFK")
    again = finsler.Embedding.load(flights.save(folder / "map.npz"))
    assert np.array_equal(again.coordinates, flights.coordinates)
    assert finsler.embed_graph(WAYS).n_points == 40
    assert finsler.embed_graph(WAYS, method="sparse", n_pivots=5).n_points == 40
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(60, 2))
    assert finsler.embed_points(points, current=np.full((60, 2), 0.2)).n_components == 3
    D = finsler.load_flight_hours().hours
    mds = finsler.FinslerMDS().fit(D)
    assert mds.normalized_stress_ < 0.02
    assert mds.transform(D[:3], from_fitted=D[:, :3].T).shape == (3, 2)
    assert "follows heights" in str(finsler.asymmetry_report(D))
    assert (Path(finsler.__file__).parent / "py.typed").is_file()
    assert finsler.__version__ == version("finsler")


def plot(folder: Path) -> None:
    """A picture and a page."""
    import matplotlib

    matplotlib.use("agg")
    flights = finsler.embed_matrix(HOURS, labels=LABELS)
    flights.plot().figure.savefig(folder / "map.png")
    assert flights.explore(folder / "map.html").stat().st_size > 10_000


def cli(folder: Path) -> None:
    """The command, as the shell finds it."""
    (folder / "times.csv").write_text(",A,B,C\nA,0,1.3,4.6\nB,1.6,0,4.1\nC,5.1,4.4,0\n")
    command = Path(sys.executable).with_name("finsler")
    for words in ("--version", "report times.csv", "embed times.csv --out map.csv", "compare times.csv"):
        done = subprocess.run([command, *words.split()], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, f"finsler {words}: {done.stderr}"
    assert (folder / "map.csv").read_text().count("\n") == 4


def graph(folder: Path) -> None:
    """Digraphs of networkx, igraph and pandas."""
    import igraph
    import networkx
    import pandas

    plain = finsler.embed_graph(WAYS)
    nodes = {label: k for k, label in enumerate(plain.labels)}
    from_networkx = networkx.DiGraph()
    from_networkx.add_weighted_edges_from(WAYS)
    from_igraph = igraph.Graph(n=len(nodes), edges=[(nodes[a], nodes[b]) for a, b, _ in WAYS], directed=True)
    from_igraph.es["weight"] = [length for _, _, length in WAYS]
    table = pandas.DataFrame(WAYS, columns=["source", "target", "weight"])
    for given in (from_networkx, from_igraph, table):
        assert np.isclose(finsler.embed_graph(given).stress, plain.stress)
    assert list(plain.to_frame().index) == plain.labels


def files(folder: Path) -> None:
    """A table of pyarrow, with its labels."""
    import pyarrow

    hours = finsler.load_flight_hours()
    columns = {str(code): hours.hours[:, k] for k, code in enumerate(hours.codes)}
    table = pyarrow.table({"from": [str(code) for code in hours.codes], **columns})
    assert finsler.embed_matrix(table).to_frame("pyarrow").column_names[0] == "label"


def field(folder: Path) -> None:
    """A DataArray, with its coordinates."""
    import h5netcdf  # noqa: F401
    import xarray

    hours = finsler.load_flight_hours()
    codes = [str(code) for code in hours.codes]
    table = xarray.DataArray(hours.hours, coords={"from": codes, "to": codes}, dims=("from", "to"))
    assert finsler.embed_matrix(table).labels == codes


def data(folder: Path) -> None:
    """Downloads: what is asked for is refused by name if it is not known."""
    from finsler.datasets import fetch_graph

    try:
        fetch_graph("no such graph")
    except ValueError as error:
        assert "cora" in str(error)  # noqa: PT017
    import pooch  # noqa: F401


def learn(folder: Path) -> None:
    """Both learners, and a saved model."""
    model = finsler.LinkPredictor(n_components=4, epochs=3, random_state=0).fit(ARCS)
    again = finsler.LinkPredictor.load(model.save(folder / "model.npz"))
    pairs = [("p39", "p3"), ("p3", "p39")]
    assert np.array_equal(again.predict_proba(pairs), model.predict_proba(pairs))
    finsler.DigraphEmbedding(n_components=3, random_state=0).fit(ARCS)


def distributed(folder: Path) -> None:
    """A Dask array is solved where it is."""
    import dask.array

    D = finsler.load_flight_hours().hours
    spread = finsler.FinslerMDS(alpha=0.1).fit(dask.array.from_array(D, chunks=(16, 64)))
    assert np.isclose(spread.stress_, finsler.FinslerMDS(alpha=0.1).fit(D).stress_, rtol=1e-5)


def main() -> None:
    """Check the base and the extras that are named; the others must not be there."""
    extras = list(BROUGHT) if sys.argv[1:] == ["all"] else sys.argv[1:]
    for extra, module in BROUGHT.items():
        there = importlib.util.find_spec(module) is not None
        assert there == (extra in extras), f"{module} is {'' if there else 'not '}there, extras: {extras}"
    for step in (base, *(globals()[extra] for extra in extras)):
        with tempfile.TemporaryDirectory() as folder:
            step(Path(folder))
    shown = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba"))
    print(f"  works: {' '.join(['base', *extras])} ({shown})", flush=True)


if __name__ == "__main__":
    main()
