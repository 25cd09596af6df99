import subprocess
import sys

import pytest

import finsler

HEAVY = ["numba", "sklearn", "scipy", "pandas", "matplotlib", "torch", "networkx", "plotly", "dask"]


def test_import_loads_nothing_heavy():
    code = f"import sys, finsler; print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_every_name_is_there():
    for name in finsler.__all__:
        assert getattr(finsler, name) is not None
    assert set(finsler.__all__) <= set(dir(finsler))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        finsler.nothing  # noqa: B018


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
