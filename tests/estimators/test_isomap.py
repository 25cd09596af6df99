"""`FinslerIsomap` and `embed_points`: scikit-learn's checks, the Swiss roll, new points, bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.manifold import Isomap
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from finsler.data.fields import randers_field
from finsler.datasets import make_swiss_roll
from finsler.estimators.isomap import FinslerIsomap
from finsler.geometry.randers import randers_distances
from finsler.geometry.stress import raw_stress
from finsler.graphs.neighbors import geodesic_distances, neighborhood_graph, randers_edges
from finsler.recipes import embed_points

PIECES = "the check's points lie in separate clusters; a graph in pieces is refused, never joined silently"
# Checks that cannot apply with the default of 10 neighbors. Within a large radius all of them do, and pass.
EXPECTED_FAILURES = {
    "check_positive_only_tag_during_fit": PIECES,
    "check_pipeline_consistency": PIECES,
    "check_estimators_pickle": PIECES,
    "check_estimators_pickle(readonly_memmap=True)": PIECES,
    "check_transformer_data_not_an_array": PIECES,
    "check_transformer_general": PIECES,
    "check_transformer_general(readonly_memmap=True)": PIECES,
    "check_transformer_n_iter": PIECES,
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@parametrize_with_checks(
    [
        FinslerIsomap(),
        FinslerIsomap(radius=1e3),
        FinslerIsomap(2, radius=1e3, alpha=0.0),
        FinslerIsomap(radius=1e3, alpha="auto", dtype="float32"),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES if estimator.radius is None else {},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def swirl(points):
    return 0.4 * np.column_stack([np.sin(3 * points[:, 0]), np.cos(3 * points[:, 1])])


@pytest.fixture(scope="module")
def square():
    return np.random.default_rng(0).uniform(size=(150, 2))


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(1000, alpha=0.3, random_state=0)


def test_fit_sets_what_it_promises(square):
    drift = swirl(square)
    isomap = FinslerIsomap(alpha=0.6).fit(square, drift=drift)
    assert isomap.embedding_.shape == (150, 3)
    data = geodesic_distances(square, drift=drift)
    np.testing.assert_array_equal(isomap.dist_matrix_, data.matrix)
    edges = randers_edges(square, neighborhood_graph(square), randers_field(square, drift=drift))
    assert (isomap.neighbors_graph_ != edges).nnz == 0
    assert isomap.stress_ == pytest.approx(raw_stress(isomap.embedding_, data.matrix, drift=0.6))
    assert isomap.normalized_stress_ == pytest.approx(np.sqrt(isomap.stress_ / (data.matrix**2).sum()))
    assert isomap.stress_per_point_.shape == (150,)
    assert isomap.alpha_ == 0.6
    np.testing.assert_array_equal(isomap.omega_, [0, 0, 0.6])
    np.testing.assert_array_equal(isomap.kept_, np.arange(150))
    assert len(isomap.history_) == isomap.n_iter_ + 1
    assert isomap.status_ == "converged"
    assert isomap.n_features_in_ == 2
    assert isomap.result_.coordinates is isomap.embedding_
    np.testing.assert_array_equal(
        FinslerIsomap(alpha=0.6).fit_transform(square, drift=drift), isomap.embedding_
    )


def test_the_field_may_come_from_anywhere(square):
    drift = swirl(square)
    reference = FinslerIsomap().fit(square, drift=drift).embedding_
    for same in (
        FinslerIsomap(drift=swirl).fit(square),
        FinslerIsomap(drift=drift).fit(square),
        FinslerIsomap().fit(square, drift=swirl),
        FinslerIsomap(current=lambda X: -swirl(X), zermelo="first-order").fit(square),
        FinslerIsomap().fit(square, metric=(np.eye(2), drift)),
        FinslerIsomap(current=[0.9, 0.0]).fit(square, drift=drift),  # what fit is given comes first
    ):
        np.testing.assert_allclose(same.embedding_, reference, atol=1e-9)
    np.testing.assert_array_equal(embed_points(square, drift=drift).coordinates, reference)


def test_without_a_field_it_is_isomap(square):
    isomap = FinslerIsomap(2, alpha=0.0, n_neighbors=8).fit(square)
    np.testing.assert_allclose(
        isomap.dist_matrix_, Isomap(n_neighbors=8).fit(square).dist_matrix_, rtol=1e-10, atol=1e-10
    )


def test_the_swiss_roll_is_laid_flat_and_tilted_by_its_drift():
    """The sheet unrolls into a plane whose slope along the roll is data alpha / map alpha."""
    slopes = []
    for data_alpha in (0.0, 0.1, 0.3, 0.5, 0.6):
        roll = make_swiss_roll(1000, alpha=data_alpha, random_state=0)
        isomap = FinslerIsomap(3, alpha=0.8).fit(roll.points, drift=roll.drift)
        X = isomap.embedding_
        values, axes = np.linalg.svd(X, full_matrices=False)[1:]
        inclination = np.sqrt(
            max(0.0, 1 - axes[-1, -1] ** 2)
        )  # sine of the angle between the sheet and the horizon
        width, along = (roll.coordinates - roll.coordinates.mean(axis=0)).T
        slope_across, slope = np.linalg.lstsq(np.column_stack([width, along]), X[:, -1], rcond=None)[0]
        extent = np.ptp(X[:, -1]) / np.ptp(along)
        share = isomap.normalized_stress_**2
        print(f"{data_alpha}: inclination {inclination:.4f} slope {slope:.4f} height {extent:.5f} of the length, "
              f"thickness {values[2] / values[0]:.4f}, stress {share:.2e}")  # fmt: skip
        assert values[2] / values[0] < 0.025  # flat
        assert values[1] / values[0] > 0.2  # and not a line
        assert slope == pytest.approx(data_alpha / 0.8, rel=0.02, abs=1e-3)
        assert abs(slope_across) < 2e-3
        # Paths zigzag, so the map is some 4 % longer than the roll and its sheet that much less inclined.
        assert inclination == pytest.approx(data_alpha / 0.8, rel=0.07, abs=1e-3)
        assert share < 2e-4
        if data_alpha == 0:
            assert extent < 1e-3  # horizontal
        slopes.append(inclination)
    assert np.all(np.diff(slopes) > 0.1)


def test_the_published_roll():
    """Stress that MATH.md gives for the paper's seed, its edge rule and alpha 0.5; the average of both ends is no worse."""
    roll = make_swiss_roll(1000, alpha=0.3, random_state=1)
    start, average = (
        FinslerIsomap(alpha=0.5, rule=rule).fit(roll.points, drift=roll.drift).normalized_stress_ ** 2
        for rule in ("start", "average")
    )
    assert start == pytest.approx(9.12e-5, abs=0.005e-5)
    assert average < 1.001 * start


def test_fitted_points_are_placed_where_they_are(roll):
    isomap = FinslerIsomap().fit(roll.points, drift=roll.drift)
    size = np.abs(isomap.embedding_).max()
    for given in ({}, {"drift": roll.drift}):
        placed = isomap.transform(roll.points, **given)
        assert np.abs(placed - isomap.embedding_).max() < 1e-3 * size
    # A tighter tolerance of the fit brings them closer: what is left is the fit's distance from its minimum.
    isomap = FinslerIsomap(tol=1e-13, max_iter=5000).fit(roll.points, drift=roll.drift)
    assert np.abs(isomap.transform(roll.points) - isomap.embedding_).max() < 1e-5 * size


@pytest.mark.parametrize("how", ["array", "array for new points too", "function", "transformer", "radius"])
def test_new_points_lie_as_in_a_joint_fit(how):
    X = np.random.default_rng(0).uniform(size=(600, 2))
    old, new = X[:500], X[500:]
    options = {
        "transformer": {"graph": KNeighborsTransformer(n_neighbors=10)},
        "radius": {"radius": 0.1},
    }.get(how, {})
    both = geodesic_distances(X, drift=swirl, **options).matrix
    if how == "function":
        isomap = FinslerIsomap(drift=swirl, **options).fit(old)
    else:
        isomap = FinslerIsomap(**options).fit(old, drift=swirl(old))
    placed = isomap.transform(new, drift=swirl(new) if how == "array for new points too" else None)
    whole = np.vstack([isomap.embedding_, placed])
    joint = FinslerIsomap(**options).fit(X, drift=swirl(X)).embedding_

    def error(coordinates):
        d = randers_distances(coordinates, drift=0.5)
        between = np.s_[:500, 500:], np.s_[500:, :500]
        return np.sqrt(
            sum(((d[b] - both[b]) ** 2).sum() for b in between) / sum((both[b] ** 2).sum() for b in between)
        )

    print(f"{how}: placed {error(whole):.4f}, joint fit {error(joint):.4f}")
    assert error(whole) < 1.25 * error(joint) + 0.005
    # Each by itself: order and company do not matter.
    np.testing.assert_allclose(
        isomap.transform(new[::-1][:20], drift=swirl(new[::-1][:20]) if "too" in how else None),
        placed[::-1][:20],
        atol=1e-8,
    )


def test_a_ready_graph_is_as_good_as_the_search_for_it(square):
    searched = FinslerIsomap(drift=swirl).fit(square)
    given = FinslerIsomap(drift=swirl, graph=neighborhood_graph(square)).fit(square)
    np.testing.assert_array_equal(given.embedding_, searched.embedding_)
    np.testing.assert_array_equal(given.transform(square[:5] + 0.01), searched.transform(square[:5] + 0.01))


def test_pieces():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)), 100 + rng.normal(size=(20, 2))])[rng.permutation(50)]
    near = np.flatnonzero(X[:, 0] < 50)
    with pytest.raises(ValueError, match=r"2 pieces \(of 30, 20 points\)"):
        FinslerIsomap().fit(X)
    with pytest.raises(ValueError, match="unreachable must be 'raise' or 'largest' here, got 'mask'"):
        FinslerIsomap(unreachable="mask").fit(X)
    isomap = FinslerIsomap(2, unreachable="largest")
    drift = np.where(X[:, :1] < 50, 0.3, 0.0) * [1.0, 0.0]
    with pytest.warns(UserWarning, match="FinslerIsomap: .*20 points outside the largest are left out"):
        rows = isomap.fit_transform(X, drift=drift, weights=np.ones((50, 50)))
    np.testing.assert_array_equal(isomap.kept_, near)
    assert rows.shape == (50, 2)
    np.testing.assert_array_equal(rows[near], isomap.embedding_)
    assert np.isnan(np.delete(rows, near, axis=0)).all()
    assert "left out" in isomap.result_.summary()
    assert isomap.result_.labels == near.tolist()
    alone = FinslerIsomap(2).fit(X[near], drift=drift[near], weights=np.ones((30, 30)))
    np.testing.assert_array_equal(isomap.embedding_, alone.embedding_)
    np.testing.assert_array_equal(isomap.transform(X[near[:5]]), alone.transform(X[near[:5]]))
    transformer = FinslerIsomap(2, unreachable="largest", graph=KNeighborsTransformer(n_neighbors=10))
    with pytest.warns(UserWarning, match="left out"):
        transformer.fit(X, drift=drift, weights=np.ones((50, 50)))
    np.testing.assert_allclose(transformer.transform(X[near[:5]]), alone.transform(X[near[:5]]), atol=1e-9)
    with pytest.raises(ValueError, match="has no fitted point near it"):
        transformer.transform(np.delete(X, near, axis=0))


def test_labels_reach_the_map(square):
    frame = pd.DataFrame(square, columns=["x", "y"], index=[f"cell {i}" for i in range(150)])
    isomap = FinslerIsomap().set_output(transform="pandas")
    out = isomap.fit_transform(frame, drift=swirl(square))
    assert list(out.index) == list(frame.index)
    assert list(out.columns) == ["finslerisomap0", "finslerisomap1", "finslerisomap2"]
    result = embed_points(frame, drift=swirl(square))
    assert result.labels == list(frame.index)
    assert result.distance("cell 3", "cell 9") == isomap.result_.distance(3, 9)
    named = embed_points(square, drift=swirl(square), labels=range(1000, 1150))
    assert named.distance(1003, 1009) == result.distance(3, 9)
    with pytest.raises(ValueError, match="labels"):
        embed_points(square, labels="abc")
    with pytest.raises(ValueError, match="different labels"):
        FinslerIsomap().fit(frame, drift=pd.DataFrame(swirl(square)))


def test_threads_and_dtype(square):
    one = FinslerIsomap(n_jobs=1, drift=swirl).fit(square)
    three = FinslerIsomap(n_jobs=3, drift=swirl).fit(square)
    np.testing.assert_array_equal(one.embedding_, three.embedding_)
    np.testing.assert_array_equal(one.transform(square[:9] + 0.01), three.transform(square[:9] + 0.01))
    single = FinslerIsomap(dtype=np.float32, drift=swirl).fit(square)
    assert single.dist_matrix_.dtype == np.float32
    np.testing.assert_allclose(single.embedding_, one.embedding_, atol=1e-3)
    assert FinslerIsomap().fit(square.astype(np.float32)).embedding_.dtype == np.float64


def test_in_a_pipeline_with_clone_and_pickle(square):
    pipe = make_pipeline(StandardScaler(), FinslerIsomap(2, current=[0.3, 0.0]))
    out = clone(pipe).fit_transform(square)
    assert out.shape == (150, 2)
    fitted = pickle.loads(pickle.dumps(pipe.fit(square)))
    np.testing.assert_array_equal(fitted.transform(square[:5]), pipe.transform(square[:5]))


def test_weights_count(square):
    weights = np.ones((150, 150))
    weights[:, 7] = 1e-3
    drift = swirl(square)
    plain, weighted = (
        FinslerIsomap(2).fit(square, drift=drift),
        FinslerIsomap(2).fit(square, drift=drift, weights=weights),
    )
    value = raw_stress(weighted.embedding_, weighted.dist_matrix_, weights, drift=0.5)
    assert weighted.stress_ == pytest.approx(value)
    assert value < raw_stress(plain.embedding_, plain.dist_matrix_, weights, drift=0.5)


def test_warnings_are_given_when_due(square):
    with pytest.warns(ConvergenceWarning, match="FinslerIsomap: .*max_iter = 2"):
        FinslerIsomap(2, max_iter=2).fit(square, drift=swirl(square))
    with pytest.warns(UserWarning, match="hardly determine alpha"):
        FinslerIsomap(alpha="auto").fit(square, drift=[0.3, 0.0])


@pytest.mark.parametrize(
    ("options", "fit", "match"),
    [
        ({"alpha": 1.0}, {}, "alpha must"),
        ({"n_components": 151}, {}, "n_components = 151 needs at least as many points"),
        ({"n_neighbors": 150}, {}, "n_neighbors=150 needs more points than that: n_samples = 150"),
        ({"rule": "end"}, {}, "rule must"),
        ({"zermelo": "none"}, {}, "zermelo must"),
        ({"init": "best"}, {}, "init must"),
        ({"drift": swirl}, {"drift": np.zeros((150, 3))}, r"drift must have shape \(150, 2\)"),
        ({"drift": swirl, "current": swirl}, {}, "found drift and current"),
        ({}, {"drift": swirl, "current": swirl}, "found drift and current"),
        ({}, {"drift": np.full((150, 2), 0.8)}, r"1.131 at point 0 \(150 of 150"),
        ({}, {"current": [0.0, 2.0]}, "as strong as the boat"),
        ({}, {"drift": np.full((150, 2), np.nan)}, "drift is not finite at point 0"),
        ({}, {"weights": np.ones(150)}, r"weights must have shape \(150, 150\)"),
    ],
)
def test_bad_arguments_of_fit(square, options, fit, match):
    with pytest.raises(ValueError, match=match):
        FinslerIsomap(**options).fit(square, **fit)


def test_bad_arguments_of_transform(square):
    isomap = FinslerIsomap(radius=0.3)
    with pytest.raises(NotFittedError):
        isomap.transform(square)
    isomap.fit(square)
    with pytest.raises(ValueError, match="3 features"):
        isomap.transform(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"drift must have shape \(2, 2\)"):
        isomap.transform(square[:2], drift=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="found drift and current"):
        isomap.transform(square[:2], drift=[0, 0], current=[0, 0])
    with pytest.raises(ValueError, match="Point 1 of X has no fitted point near it"):
        isomap.transform([[0.5, 0.5], [9.0, 9.0]])
    with pytest.raises(ValueError, match="minimum of 2"):
        FinslerIsomap().fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="n_neighbors=10 needs more points than that: n_samples = 3"):
        FinslerIsomap(n_neighbors=10).fit([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]])
