"""Metric unfolding: exact data, gaps, weights, labels."""

import numpy as np
import pytest

import finsler
from finsler import randers_distances
from finsler.errors import InputError


def test_two_kinds_of_points():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(14, 2))
    d = randers_distances(X, drift=0.0)[:9, 9:]
    found = finsler.embed_rectangular(d, column_labels=list("abcde"))
    assert found.labels == [*(f"row {k + 1}" for k in range(9)), *"abcde"]
    assert found.normalized_stress < 1e-3
    np.testing.assert_allclose(found.distances()[:9, 9:], d, atol=0.02)
    assert "9 rows and 5 columns" in found.summary()
    unknown = d.copy()
    unknown[0, 0] = np.nan
    assert finsler.embed_rectangular(unknown).provenance.n_missing == 1
    weights = np.ones_like(d)
    weights[0, 0] = 0
    wrong = d.copy()
    wrong[0, 0] = 50.0
    assert finsler.embed_rectangular(wrong, weights=weights).normalized_stress < 1e-3
    drifting = randers_distances(X, drift=0.3)[:9, 9:]
    assert finsler.embed_rectangular(drifting, alpha=0.3).normalized_stress < 1e-3


def test_labels_of_two_kinds_of_points():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([[1.0, 2.0], [2.0, 1.0], [3.0, 2.0]], index=["p", "q", "r"], columns=["x", "y"])
    assert finsler.embed_rectangular(table).labels == ["p", "q", "r", "x", "y"]
    with pytest.raises(InputError, match="column_labels"):
        finsler.embed_rectangular(table.rename(columns={"x": "p"}))
    with pytest.raises(InputError, match="row_labels"):
        finsler.embed_rectangular(table, row_labels=["p"])
    with pytest.raises(InputError, match="weights"):
        finsler.embed_rectangular(table, weights=np.ones((2, 2)))
    with pytest.raises(InputError, match="D must"):
        finsler.embed_rectangular([1.0, 2.0])
    with pytest.raises(InputError, match="n_inits"):
        finsler.embed_rectangular(table, n_inits=3)
