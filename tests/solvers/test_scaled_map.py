"""What a saved or loaded map of disparities can be asked."""

from dataclasses import replace

import numpy as np
import pytest

from finsler import Embedding, embed_matrix
from finsler.errors import InputError
from finsler.geometry.scaling import Scaling
from finsler.geometry.stress import stress1

from helpers import incomplete_map, spiral

Q = spiral() ** 2
SCALINGS = [
    {"scaling": "ordinal"},
    {"scaling": "spline", "spline_degree": 3, "spline_knots": 1},
    {"scaling": "ordinal", "conditional": "row", "alpha": 0.4},
    {"scaling": "ordinal", "conditional": "parts"},
]


@pytest.mark.parametrize("options", SCALINGS)
def test_saved_and_loaded(options, tmp_path):
    made = embed_matrix(Q, **options)
    loaded = Embedding.load(made.save(tmp_path / "map.npz"))
    assert loaded.scaled == made.scaled
    assert loaded.scaling == made.scaling != Scaling()
    assert loaded.stress1 == made.stress1
    np.testing.assert_array_equal(loaded.disparities(), made.disparities())
    assert loaded.summary() == made.summary()
    assert f"stress-1 (Kruskal) {made.stress1:.4g}" in made.summary()


def test_the_summary_tells_both_alphas():
    made = embed_matrix(Q, scaling="ordinal")
    (line,) = (line for line in made.summary().splitlines() if "Kruskal" in line)
    assert f"{made.alpha:.3g}" in line
    assert f"{made.scaled.alpha_least_stress:.3g}" in line
    assert f"{made.scaled.stress1_least_stress:.4g}" in line


def test_maps_without_a_scaling_are_ratio(tmp_path):
    made = embed_matrix(spiral())
    loaded = Embedding.load(made.save(tmp_path / "map.npz"))
    assert (loaded.scaling, loaded.scaled) == (Scaling(), None)
    assert loaded.stress1 == pytest.approx(made.normalized_stress, rel=1e-6)
    assert loaded.fitted_to is loaded.data
    assert "Kruskal" not in made.summary()


def test_stress1_of_ratio_maps_leaves_gaps_and_bounds_out():
    made = incomplete_map()
    D, W = made.data.matrix, made.data.weights
    known = (W > 0) & (D >= 0)
    d, D, w = made.distances()[known], D[known], W[known]
    assert made.stress1 == pytest.approx(np.sqrt(1 - (w @ (d * D)) ** 2 / (w @ d**2 * (w @ D**2))))
    unknown = ~np.eye(made.n_points, dtype=bool) & (W == 0)
    assert unknown.any()
    assert np.isnan(made.disparities()[unknown]).all()


def test_stress1_does_not_depend_on_the_scale_of_the_map():
    X = spiral(points=True)
    values = [stress1(c * X, spiral(), drift=0.4) for c in (0.1, 1.0, 7.0)]
    assert values == pytest.approx([values[0]] * 3, rel=1e-12)
    assert stress1(X, 3 * spiral(), drift=0.4) == pytest.approx(values[0], rel=1e-12)


def test_the_asymmetry_shown_is_that_of_the_disparities():
    made = embed_matrix(Q, scaling="ordinal")
    assert made.asymmetry_shown().share > embed_matrix(Q, alpha=0.3).asymmetry_shown().share
    assert made.fitted_to.matrix[0, 1] == pytest.approx(made.disparities()[0, 1])


def test_new_points_go_through_the_function():
    made = embed_matrix(Q, scaling="ordinal")
    values = made.transformation()(Q[3])
    np.testing.assert_allclose(made.as_disparities(Q[3]), values)
    plain = replace(made, scaled=None)
    np.testing.assert_allclose(made.place(to_fitted=Q[3:4]), plain.place(to_fitted=values[None]))
    assert made.with_points(to_fitted=Q[3:4]).n_points == 21


def test_without_data_there_are_no_disparities():
    made = replace(embed_matrix(Q, scaling="ordinal"), data=None)
    assert made.fitted_to is None
    assert made.stress1 is not None
    for ask in (made.disparities, made.transformation, lambda: made.place(to_fitted=Q[:1])):
        with pytest.raises(InputError, match="data"):
            ask()
