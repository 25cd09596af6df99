"""What tests of several commands share: a small table, the flight example, a sea."""

import numpy as np
import pytest

pytest.importorskip("typer")
from finsler.cli import output as cli_output
from finsler.datasets import load_flight_hours

from helpers import SMALL, done


@pytest.fixture
def small(tmp_path):
    (tmp_path / "small.csv").write_text(SMALL)
    return tmp_path / "small.csv"


@pytest.fixture(scope="session")
def flights(tmp_path_factory):
    """The flight example as CSV, its map in all formats, and what was said meanwhile."""
    folder = tmp_path_factory.mktemp("flights")
    example = load_flight_hours()
    (folder / "times.csv").write_text(cli_output.matrix_csv(example.hours, example.codes))
    outs = [part for s in ("csv", "npz", "png", "svg", "pdf") for part in ("--out", folder / f"map.{s}")]
    return folder, done("embed", folder / "times.csv", *outs)


@pytest.fixture
def sea(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    rows = [f"p{i},{x!r},{y!r},0.3,{-0.1 * y!r},{i % 3}" for i, (x, y) in enumerate(X.tolist())]
    (tmp_path / "sea.csv").write_text("name,x,y,u,v,depth\n" + "\n".join(rows))
    return tmp_path / "sea.csv", X, np.column_stack([np.full(60, 0.3), -0.1 * X[:, 1]])
