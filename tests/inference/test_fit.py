"""`fit_test` and `random_stress`: exchanges of whole pairs, level, reference values."""

from dataclasses import replace

import numpy as np
import pytest

from finsler import embed_graph, randers_distances
from finsler.data.matrix import as_dissimilarities
from finsler.datasets import make_city
from finsler.errors import InputError
from finsler.inference import fit, fit_test, random_stress
from finsler.inference.fit import exchanged, stress_of
from finsler.solvers.smacof import smacof

from helpers import random_dissimilarities, spiral


@pytest.mark.parametrize("unknown", [0.0, 0.3])
def test_pairs_move_together_with_their_weights(unknown):
    D, W = random_dissimilarities(9, 2, unknown, True)
    data = as_dissimilarities(D, W, missing="mask")
    table = next(exchanged(data, np.random.default_rng(0)))
    i, j = np.triu_indices(9, 1)

    def pairs(one):
        w = one.weights
        rows = np.stack([one.matrix[i, j], one.matrix[j, i], w[i, j], w[j, i]]).T
        return sorted(tuple(max(row.tolist(), row[[1, 0, 3, 2]].tolist())) for row in np.nan_to_num(rows))

    assert pairs(table) == pairs(data)
    assert (table.matrix != data.matrix).any()
    assert (np.diagonal(table.matrix) == 0).all()


def test_stress_is_that_at_the_best_scale():
    data = as_dissimilarities(spiral())
    solution = smacof(data, 2)
    d = randers_distances(solution.coordinates, drift=solution.drift)
    best = min(
        np.sqrt(((s * d - data.matrix) ** 2).sum() / (data.matrix**2).sum())
        for s in np.linspace(0.9, 1.1, 20001)
    )
    assert stress_of(data, solution) == pytest.approx(best, abs=1e-8)
    assert stress_of(data, solution) == pytest.approx(solution.normalized_stress, abs=1e-6)


def test_a_map_is_told_from_chance():
    found = fit_test(spiral(10), n_permutations=39)
    assert found.p_value == 1 / 40
    assert found.statistic < found.null.min()
    assert "better than the same values in random places" in str(found)
    again = fit_test(spiral(10), n_permutations=39)
    assert (again.null == found.null).all()
    rng = np.random.default_rng(3)
    noise = rng.uniform(1, 2, (10, 10))
    assert not fit_test(np.where(np.eye(10), 0, noise + noise.T), n_permutations=39).significant


def test_level():
    rejected, rng = 0, np.random.default_rng(0)
    for seed in range(60):
        one = rng.uniform(1, 2, (8, 8))
        D = np.where(np.eye(8), 0, one + one.T + 0.3 * rng.uniform(size=(8, 8)))  # directions alike
        rejected += fit_test(D, alpha=0.0, n_permutations=19, random_state=seed).significant
    assert rejected <= 9  # 3 expected


@pytest.mark.parametrize(("n", "expected"), [(12, 0.440), (20, 0.481)])
def test_random_stress(n, expected):
    found = random_stress(n, 2, n_draws=40)
    assert found.mean == pytest.approx(expected, abs=3 * found.sd / np.sqrt(40))
    assert random_stress(n, 2, n_draws=3).values == pytest.approx(found.values[:3])
    even = random_stress(n, 2, alpha=0.0, symmetric=True, n_draws=3)
    assert even.mean < found.mean
    assert f"{n} points" in str(even)
    assert even.to_dict()["mean"] == even.mean


@pytest.mark.parametrize(
    ("n", "options", "expected"),
    [
        (12, {"alpha": 0.0, "symmetric": True}, 0.222),
        (12, {}, 0.292),
        (20, {}, 0.340),
        (20, {"alpha": 0.0, "symmetric": True}, 0.296),
    ],
)
def test_random_stress_of_an_order(n, options, expected):
    found = random_stress(n, 2, scaling="ordinal", n_draws=20, **options)
    assert found.mean == pytest.approx(expected, abs=0.012)


def test_the_fit_of_an_order():
    found = fit_test(spiral(10) ** 2, n_permutations=19, alpha=0.3, scaling="ordinal")
    assert found.p_value == 0.05
    assert found.statistic < fit_test(spiral(10) ** 2, n_permutations=1, alpha=0.3).statistic
    with pytest.raises(InputError, match="scaling"):
        fit_test(spiral(10), scaling="nominal")
    with pytest.raises(InputError, match="scale"):
        fit_test(spiral(10), scale="ordinal")


def test_few_draws_tell_nothing():
    few = fit_test(spiral(8), n_permutations=9)
    assert few.statistic < few.null.min()
    assert str(few).endswith("p = 0.1: 9 draws are too few to tell")
    assert "better than" in str(fit_test(spiral(8), n_permutations=19))


def test_what_is_refused():
    with pytest.raises(InputError, match="at least 5 points"):
        fit_test(spiral(4))
    with pytest.raises(InputError, match="n_components must be lower"):
        fit_test(spiral(6), n_components=4)
    with pytest.raises(InputError, match="lengths of shortest paths"):
        fit_test(embed_graph(make_city(30).graph).data)
    D = np.full((40, 40), np.nan)  # a star
    D[0, 1:] = D[1:, 0] = 1.0
    with pytest.raises(InputError, match="unconnected"):
        fit_test(D, n_permutations=5)
    with pytest.raises(InputError, match="n_permutations"):
        fit_test(spiral(8), n_permutations=0)


def test_ctrl_c_ends_a_test(monkeypatch):
    real = fit.smacof
    monkeypatch.setattr(fit, "smacof", lambda *a, **k: replace(real(*a, **k), status="interrupted"))
    with pytest.raises(KeyboardInterrupt):
        fit_test(spiral(8), n_permutations=3)
