import ast
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import finsler

HEAVY = ["numba", "sklearn", "scipy", "pandas", "matplotlib", "torch", "networkx", "plotly", "dask"]


def test_import_loads_nothing_heavy():
    code = f"import sys, finsler; print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


PACKAGES = [
    "finsler",
    "finsler.datasets",
    "finsler.geometry",
    "finsler.graphs",
    "finsler.learn",
    "finsler.models",
    "finsler.plotting",
]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_name_is_there(name):
    package = import_module(name)
    for offered in package.__all__:
        assert getattr(package, offered) is not None
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018


@pytest.mark.parametrize("name", PACKAGES)
def test_the_stub_beside_a_package_says_what_it_exports(name):
    package = import_module(name)
    stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    told = {alias.asname: f"{node.module}.{alias.name}" for node in imports for alias in node.names}
    assert sorted(told) == sorted(package.__all__)
    for offered, full_name in told.items():
        module, _, attribute = full_name.rpartition(".")
        assert getattr(import_module(module), attribute) is getattr(package, offered), full_name


STUB = Path(finsler.__file__).with_suffix(".pyi")
SNIPPET = """
import finsler

hours = [[0.0, 5.3], [4.2, 0.0]]
flights = finsler.embed_matrix(hours, n_components=1, labels=["JFK", "LAX"])
there: float = flights.distance("JFK", "LAX")
finsler.FinslerMDS(2, n_init=3).fit(hours)
finsler.embed_matrx(hours)  # wrong
finsler.FinslerMDS(2, n_inits=3)  # wrong
finsler.embed_matrix(hours, label=["JFK", "LAX"])  # wrong
finsler.embed_graph([("a", "b")], n_pivot=20)  # wrong
finsler.embed_pairs("hours.csv", n_jobs=2, aggregates="sum")  # wrong
flights.distence("JFK", "LAX")  # wrong
finsler.plotting.plot_map(flights, colour=[1, 2])  # wrong
"""


def test_type_checkers_see_misspellings(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "snippet.py").write_text(SNIPPET)
    root = STUB.parents[2]
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        root / "pyproject.toml",
        tmp_path / "snippet.py",
    ]
    environment = {**os.environ, "MYPYPATH": str(STUB.parents[1])}
    environment.pop("PYTHONPATH", None)  # mypy minds what is both there and in its own path
    checked = subprocess.run(command, capture_output=True, text=True, cwd=root, env=environment)
    wrong = {int(line.split(":")[1]) for line in checked.stdout.splitlines() if ": error:" in line}
    marked = {i for i, line in enumerate(SNIPPET.splitlines(), 1) if line.endswith("# wrong")}
    assert wrong == marked, checked.stdout + checked.stderr


def test_compiled_kernels_are_kept_for_the_next_start():
    code = (
        "import numpy as np\n"
        "from finsler import FinslerMDS\n"
        "from finsler.kernels import dense\n"
        "FinslerMDS(alpha=0.3).fit(np.ones((9, 9)) - np.eye(9))\n"
        "print(sum(dense.uniform_three.stats.cache_misses.values()))\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[1].stdout.strip() == "0"
