"""What a table is: the rules, on tables of each kind."""

import numpy as np
import pytest

from finsler.data.columns import TAKEN_FOR, arcs_or_pairs, detect, long_header, matrix_layout


def roads(side, rng):
    """Streets of a town, of one or two directions: about four arcs for each corner."""
    corner = np.arange(side * side).reshape(side, side)
    ends = [
        np.stack([a.ravel(), b.ravel()])
        for a, b in ((corner[:, 1:], corner[:, :-1]), (corner[1:], corner[:-1]))
    ]
    i, j = np.hstack([*ends, *(pair[::-1] for pair in ends)])
    return i, j, rng.uniform(0.5, 1.5, len(i)), side * side


def measured(n, n_pairs, rng):
    """Times between places, of some pairs."""
    X = rng.uniform(size=(n, 2))
    key = rng.choice(n * n, n_pairs, replace=False)
    i, j = key // n, key % n
    return i, j, np.hypot(*(X[i] - X[j]).T) * rng.uniform(0.9, 1.2, n_pairs), n


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (lambda rng: roads(20, rng), "edges"),
        (lambda rng: roads(4, rng), "edges"),
        (lambda rng: roads(3, rng), "edges"),
        (lambda rng: measured(30, 540, rng), "pairs"),  # 60 % of all
        (lambda rng: measured(1497, 20_000, rng), "pairs"),
        (lambda rng: measured(100, 1000, rng), "pairs"),
        (lambda rng: (np.repeat(np.arange(3), 60), np.tile(np.arange(60), 3), rng.uniform(1, 2, 180), 60), "pairs"),  # hubs
    ],
)  # fmt: skip
def test_arcs_or_pairs(table, kind):
    assert arcs_or_pairs(*table(np.random.default_rng(0))) == kind
    assert f"kind {'edges' if kind == 'pairs' else 'pairs'}" in TAKEN_FOR[kind]


def test_neighbors_with_many_arcs_are_arcs():
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(300, 2))
    D = np.hypot(*(X[:, None] - X).transpose(2, 0, 1))
    j = np.argsort(D, axis=1)[:, 1:13].ravel()
    i = np.repeat(np.arange(300), 12)
    assert arcs_or_pairs(i, j, D[i, j], 300) == "edges"


def test_self_pairs_repeats_and_gaps_do_not_count():
    i, j = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 1, 0, 1])
    assert arcs_or_pairs(i, j, np.array([0, 1, 1, np.nan, 2.0]), 2) == "edges"  # one of two ordered pairs
    assert arcs_or_pairs(i, j, np.array([0, 1, 1, 3.0, 2.0]), 2) == "pairs"


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([["Origin", "Destination", "Seconds"], ["a", "b", "3"]], "long"),
        ([["o", "d", "year", "trips"], ["a", "b", "2020", "3"]], "long"),
        ([["a", "b"], ["b", "c"]], "long"),
        ([["x", "y", "u", "v"], ["0", "0", "1", "0"]], "points"),
        ([["", "i", "j"], ["i", "0", "1"], ["j", "2", "0"]], "matrix"),
        ([[*"hijk"], *([[*"0123"]] * 4)], "matrix"),
        ([["0", "1"], ["2", "0"]], "matrix"),
    ],
)
def test_detect(rows, kind):
    assert detect(rows) == kind


def test_headers():
    assert long_header(["from", "to"], [["a", "b"]])
    assert not long_header(["i", "j"], [["a", "b"]])
    assert long_header(["i", "j", "n"], [["a", "b", "3"]])
    assert not long_header(["a", "b", "1"], [["b", "c", "2"]])
    assert matrix_layout([["a", "b"], ["0", "1"], ["2", "0"]], 3) == (True, False, False)
    assert matrix_layout([["a", "b"], ["a", "0", "1"], ["b", "2", "0"]], 3) == (True, True, True)
