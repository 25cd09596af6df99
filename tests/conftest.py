"""Fixtures for all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# The gate tries the same examples each time; make fuzz looks for new ones. The first one may have to wait for the compiler.
settings.register_profile("finsler", derandomize=not os.environ.get("FINSLER_FUZZ"), deadline=None)
settings.load_profile("finsler")

# A shell starts background jobs with Ctrl-C ignored, and so would be the processes that the tests of Ctrl-C start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# numba numbers the files of compiled code without a lock, so that two processes that compile one function for different
# types at once may mix them up: each process of pytest -n 2 has a folder of its own, and so have those that it starts.
if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    os.environ["NUMBA_CACHE_DIR"] = str(Path(__file__).parents[1] / ".pytest_cache" / f"numba-{worker}")


# What make test-quick leaves out as a whole, beside single tests that are marked: training, processes, clusters, checks of
# scikit-learn, the paper.
SLOW = (
    "tests/paper/",
    "tests/learn/",
    "tests/solvers/backends/",
    "tests/solvers/sparse/",
    "tests/solvers/test_invariants.py",
    "tests/estimators/test_common.py",
    "tests/fuzz/",
    "tests/estimators/test_isomap.py",
    "tests/cli/test_app.py",
    "tests/cli/test_examples.py",
    "tests/cli/test_compare.py",
    "tests/cli/test_learn.py",
    "tests/cli/test_sparse.py",
    "tests/models/",
    "tests/kernels/test_cache.py",
    "tests/test_architecture.py",
    "tests/test_import.py",
    "tests/test_readme.py",
)


def pytest_collection_modifyitems(items):
    root = Path(__file__).resolve().parents[1]
    for item in items:
        place = item.path.relative_to(root).as_posix() if item.path.is_relative_to(root) else ""
        if place.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
