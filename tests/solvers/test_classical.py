import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.manifold import Isomap

from finsler.data.matrix import as_dissimilarities
from finsler.geometry.randers import randers_distances
from finsler.solvers import start as starts
from finsler.solvers.classical import classical
from finsler.solvers.start import DENSE_EIGEN


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.8])
@pytest.mark.parametrize(("n", "m"), [(200, 3), (200, 1), (DENSE_EIGEN + 100, 3), (5, 4), (700, 2)])
def test_exact_data_are_recovered_exactly(alpha, n, m):
    X = np.random.default_rng(n).normal(size=(n, m))
    D = randers_distances(X, drift=alpha)
    solution = classical(as_dissimilarities(D), m, alpha)
    assert solution.stress < 1e-20 * (D**2).sum()
    assert solution.status == "closed_form"


def test_alpha_zero_is_classical_scaling():
    """Isomap with all points as neighbors is classical scaling of Euclidean distances."""
    X, _ = make_blobs(60, 5, random_state=0)
    D = randers_distances(X, drift=0.0)
    ours = classical(as_dissimilarities(D), 3, 0.0).coordinates
    theirs = Isomap(n_neighbors=59, n_components=3).fit_transform(X)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-8)


def test_an_alpha_too_small_for_the_data_stays_finite_and_bounded():
    D = randers_distances(np.random.default_rng(0).normal(size=(40, 2)), drift=0.8)
    solution = classical(as_dissimilarities(D), 2, 0.01)
    assert np.abs(solution.coordinates).max() < 10 * D.max()


def test_more_dimensions_than_points_give_zeros():
    D = randers_distances([[0.0, 0.0], [1.0, 2.0]], drift=0.3)
    solution = classical(as_dissimilarities(D), 5, 0.3)
    assert solution.coordinates.shape == (2, 5)
    assert solution.stress < 1e-25


def test_weights_are_refused():
    with pytest.raises(ValueError, match="equal weights"):
        classical(as_dissimilarities(np.ones((3, 3)) - np.eye(3), np.ones((3, 3))), 2, 0.5)


def test_the_result_does_not_depend_on_the_global_seed():
    D = randers_distances(np.random.default_rng(0).normal(size=(DENSE_EIGEN + 50, 3)), drift=0.5)
    runs = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002
        runs.append(classical(as_dissimilarities(D + 0.1 * (D > 0)), 3, 0.5).coordinates)
    np.testing.assert_array_equal(*runs)


@pytest.mark.parametrize("alpha", [0.2, 0.6])
def test_the_closed_form_finds_its_own_alpha(alpha):
    D = randers_distances(np.random.default_rng(0).normal(size=(60, 3)), drift=alpha)
    solution = classical(as_dissimilarities(D), 3, "auto")
    assert solution.alpha == pytest.approx(alpha, abs=1e-5)
    assert solution.alpha_source == "fitted"
    assert classical(as_dissimilarities((D + D.T) / 2), 3, "auto").alpha_source == "symmetric"


@pytest.mark.parametrize("kind", ["noise", "exact", "small", "flat"])
def test_passes_over_the_pairs_find_the_same_eigenvectors(kind, monkeypatch):
    rng = np.random.default_rng(0)
    S = randers_distances(rng.normal(size=(700, 3)), drift=0.0)
    if kind == "noise":
        S *= rng.uniform(0.8, 1.2, size=S.shape)
    if kind == "flat":  # no gap in the spectrum
        S = rng.random(S.shape)
    S = (np.triu(S, 1) + np.triu(S, 1).T) * (1e-130 if kind == "small" else 1.0)
    heights = 0.3 * S.mean() * rng.normal(size=700)
    gram = starts.DoublyCentered.of(S, 1)
    for minus in (None, heights - heights.mean()):
        few = gram.leading(2, minus)
        monkeypatch.setattr(starts, "MANY", 0)
        assert gram._from_passes(minus, 2)[2] == (kind != "flat")
        many = gram.leading(2, minus)
        monkeypatch.undo()
        np.testing.assert_allclose(many, few, atol=1e-7 * np.abs(few).max())
