"""Choice of the dimension: folds, held-out errors by hand, what is chosen; scree."""

import json

import numpy as np
import pytest
from scipy.stats import spearmanr

from finsler import embed_graph, randers_distances
from finsler.data.matrix import as_dissimilarities
from finsler.datasets import make_city
from finsler.errors import InputError
from finsler.inference import cross_validate, dimensions, scree
from finsler.inference.dimensions import _folds, _held_out_error
from finsler.solvers.smacof import smacof

from helpers import random_dissimilarities, spiral


def noisy(m, alpha, n=15, seed=0):
    rng = np.random.default_rng(seed)
    D = randers_distances(rng.normal(size=(n, m)), drift=alpha)
    return np.where(np.eye(n), 0.0, D * rng.lognormal(sigma=0.1, size=D.shape))


def test_folds_hold_both_directions_and_take_of_every_point_alike():
    known = np.random.default_rng(0).random((20, 20)) < 0.9
    np.fill_diagonal(known, False)
    fold = _folds(known, 10, 2, np.random.default_rng(0))
    assert (fold == fold.T).all()
    assert ((fold >= 0) == (known | known.T)).all()
    loads = np.array([(fold == k).sum(axis=1) for k in range(10)])
    assert loads.max() <= 4  # 19 pairs a point, in 10 folds
    assert np.ptp(loads.sum(axis=1)) <= 12


@pytest.mark.parametrize("weighted", [False, True])
def test_error_on_held_out_pairs_by_loops(weighted):
    D, W = random_dissimilarities(9, 3, 0.0, weighted)
    data = as_dissimilarities(D, W)
    w = np.ones_like(D) if W is None else W
    out = np.zeros((9, 9), dtype=bool)
    for i, j in ((0, 1), (2, 5), (3, 8)):
        out[i, j] = out[j, i] = True
    kept = np.where(out, 0.0, w)
    solution = smacof(as_dissimilarities(D, kept), 2, 0.0, tol=1e-5, max_iter=100, random_state=0)
    d = randers_distances(solution.coordinates, drift=solution.drift)
    apart = sum(w[p] * (d[p] - D[p]) ** 2 for p in zip(*np.nonzero(out), strict=True))
    total = sum(w[i, j] * D[i, j] ** 2 for i in range(9) for j in range(9) if i != j)
    assert _held_out_error(data, out, 2, 0.0, {}) == pytest.approx(apart / total, rel=1e-6)
    rho = spearmanr(d[out], D[out]).statistic
    assert _held_out_error(data, out, 2, 0.0, {}, by_order=True) == pytest.approx(1 - rho**2)


@pytest.mark.parametrize(
    ("m", "alpha", "model"), [(1, 0.3, "randers"), (2, 0.0, "symmetric"), (2, 0.3, "randers")]
)
def test_the_truth_is_chosen(m, alpha, model):
    found = cross_validate(noisy(m, alpha), dims=(1, 2, 3))
    assert found.table[found.chosen][:2] == (m, model)
    assert found.table[found.best].excess == 0
    best = found.table[found.best]
    for one in found.table:
        assert one.error**2 == pytest.approx(one.folds.sum())
        assert one.excess == pytest.approx((one.folds - best.folds).sum(), abs=1e-12)
    assert "<- chosen" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["chosen"] == found.chosen


def test_exact_data_take_every_dimension_but_the_simplest_that_is_enough_is_told():
    found = cross_validate(spiral(14) + 0.001 * noisy(3, 0.3, 14), dims=(1, 2, 3), models=["randers"])
    assert found.table[found.enough].n_components <= found.table[found.chosen].n_components


def test_the_scaling_is_chosen_by_order():
    found = cross_validate(
        noisy(2, 0.3) ** 3, dims=(2,), models=["randers"], scalings=("ratio", "ordinal"), n_folds=5
    )
    assert [one.scaling for one in found.table] == ["ratio", "ordinal"]
    assert found.table[found.chosen].scaling == "ordinal"
    assert "ordinal" in str(found)


@pytest.mark.parametrize(
    "D", [spiral(8), np.where(np.eye(8), 0.0, 2.0), np.round(spiral(8))], ids=["any", "equal", "ties"]
)
def test_order_is_judged_from_enough_pairs(D):
    found = cross_validate(D, dims=(1,), scalings=("ratio", "ordinal"))
    assert found.n_folds == 5, "28 pairs, at least five at a time"
    assert all(0 <= one.error <= 1 for one in found.table)
    if np.ptp(D[~np.eye(8, dtype=bool)]) == 0:
        assert found.table[0].error == 1, "equal values have no order"


def test_there_are_no_more_parts_than_pairs():
    assert cross_validate(spiral(4), dims=(1,)).n_folds == 6


def test_an_order_that_is_turned_round_is_wrong(monkeypatch):
    D = as_dissimilarities(spiral(8))
    out = np.zeros((8, 8), dtype=bool)
    out[:2, 4:] = out[4:, :2] = True
    monkeypatch.setattr(dimensions, "randers_distances", lambda *a, **k: -spiral(8))
    assert _held_out_error(D, out, 1, 0.0, {"scaling": "ratio"}, by_order=True) == 1.0
    monkeypatch.setattr(dimensions, "randers_distances", lambda *a, **k: spiral(8))
    assert _held_out_error(D, out, 1, 0.0, {"scaling": "ratio"}, by_order=True) == pytest.approx(0.0)


def test_a_swirl_is_chosen():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(16, 2))
    D = randers_distances(X, drift=[0.0, 0.0], swirl=0.5)
    D = np.where(np.eye(16), 0.0, D * rng.lognormal(sigma=0.03, size=D.shape))
    found = cross_validate(D, dims=(1, 2), models=("symmetric", "randers", "swirl"), n_folds=5)
    assert [one.model for one in found.table if one.n_components == 1] == ["symmetric", "randers"]
    assert found.table[found.chosen][:2] == (2, "swirl")


def test_scree():
    found = scree(spiral(12), dims=(2, 1), n_permutations=4, cross_validated=True)
    assert found.dims == [1, 2]
    assert found.random.shape == (4, 2)
    assert (found.stress < found.random.min(axis=0)).all()
    assert found.cross_validation.table[0].n_components == 1
    assert "in random places" in str(found)
    assert scree(
        spiral(12), dims=(1,), n_permutations=0, cross_validated=found.cross_validation
    ).random.shape == (0, 1)


def test_what_is_refused():
    with pytest.raises(InputError, match="6 known pairs: scalings are compared by the order"):
        cross_validate(spiral(4), dims=(1,), scalings=("ordinal",))
    with pytest.raises(InputError, match="D has 3 points"):
        cross_validate(spiral(3), dims=(1,))
    with pytest.raises(InputError, match="some point of D has 5 known pairs"):
        cross_validate(spiral(6), dims=(4,), n_folds=2)
    with pytest.raises(InputError, match="n_folds"):
        cross_validate(spiral(6), dims=(3,), n_folds=2)
    with pytest.raises(InputError, match="models"):
        cross_validate(spiral(8), models=["swirl?"])
    with pytest.raises(InputError, match="dims"):
        scree(spiral(6), dims=(6,))
    paths = embed_graph(make_city(30).graph).data
    for function in (cross_validate, scree):
        with pytest.raises(InputError, match="lengths of shortest paths"):
            function(paths)
