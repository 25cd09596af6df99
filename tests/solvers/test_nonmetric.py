"""Maps of disparities against references: R's smacof and vegan's monoMDS where they have the type, else many starts."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.data.tables import read_table
from finsler.geometry import scaling as scaling_module
from finsler.geometry.randers import randers_distances
from finsler.geometry.scaling import Scaling
from finsler.solvers import scaled_problem as problems
from finsler.solvers.nonmetric import ScaledData, reversed_alpha, scaled_smacof
from finsler.solvers.smacof import smacof

from helpers import random_problem, real_file, spiral

ROOT = Path(__file__).resolve().parents[2]
INTERVAL, SPLINE = Scaling("interval"), Scaling("spline")
PRIMARY, SECONDARY = Scaling("ordinal"), Scaling("ordinal", "secondary")
ROW = Scaling("ordinal", conditional="row")
ALL = [INTERVAL, SPLINE, PRIMARY, SECONDARY]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table(name):
    if name in ("Q20", "S20", "T20"):
        Q = spiral() ** 2
        S = (Q + Q.T) / 2
        return {"Q20": Q, "S20": S, "T20": np.round(2 * np.sqrt(S))}[name]
    file = {"morse": "morse", "towns": "english_towns"}[name.split()[0]]
    D = np.array(read_table(real_file(f"proximities/{file}.csv"), kind="matrix").values, dtype=float)
    np.fill_diagonal(D, 0)
    return np.round((D + D.T) / 2, 4) if name.endswith("sym") else D


def fit(D, scaling, m=2, alpha="auto", weights=None, **options):
    data = D if isinstance(D, Dissimilarities) else as_dissimilarities(D, weights)
    return scaled_smacof(data, scaling, m, alpha, **{"random_state": 0, **options})


def least(solution):
    """Stress-1 before alpha is corrected."""
    facts = solution.scaled
    return facts.stress1 if facts.stress1_least_stress is None else facts.stress1_least_stress


def test_the_tables_are_those_of_the_references():
    Q, T = table("Q20"), table("T20")
    assert Q.sum() == pytest.approx(8902.974133, abs=1e-6)
    assert (Q[0, 1], Q[1, 0]) == (pytest.approx(5.387726777), pytest.approx(2.801462647))
    assert len(np.unique(T)) == 18


# --- references -----------------------------------------------------------------------------------------------

# Interval, spline, ordinal primary and secondary; the R programs agree to all digits but for splines, with other knots,
# and where R's interval disparities are negative (Morse).
SYMMETRIC = {
    ("S20", 2): (0.147252, 0.101684, 0.090397, 0.090397),
    ("S20", 3): (0.120521, 0.090422, 0.077671, 0.077671),
    ("T20", 2): (0.110155, 0.105735, 0.069289, 0.101331),
    ("T20", 3): (0.094898, 0.092010, 0.055589, 0.088283),
    ("morse sym", 2): (0.279045, 0.204980, 0.190624, 0.200736),
    ("morse sym", 3): (0.186111, 0.141818, 0.129444, 0.135808),
    ("towns sym", 2): (0.017705, 0.016059, 0.0, 0.0),
}


@pytest.mark.parametrize("k", range(4), ids=["interval", "spline", "primary", "secondary"])
@pytest.mark.parametrize(("name", "m"), SYMMETRIC)
def test_symmetric_references_from_the_two_starts(name, m, k):
    found = fit(table(name), ALL[k], m, alpha=0, tol=1e-9, max_iter=3000)
    loose = (name, m, k) == ("morse sym", 3, 0)  # the least valley takes more starts
    exact = name == "towns sym" and k > 1  # stops where the map has the order of the data
    assert found.scaled.stress1 == pytest.approx(
        SYMMETRIC[name, m][k], abs=1e-4 if loose else 2e-5 if exact else 2e-6
    )
    assert found.normalized_stress == pytest.approx(found.scaled.stress1, abs=1e-6)


# The same, and row-conditional primary; "auto" before the correction. The best of 30 to 50 starts.
ASYMMETRIC = {
    ("Q20", 2, 0): (0.278673, 0.228360, 0.219434, 0.219434, 0.093343),
    ("Q20", 2, 0.3): (0.192794, 0.129272, 0.118188, 0.118188, 0.080986),
    ("Q20", 2, "auto"): (0.190473, 0.127124, 0.115650, 0.115650, 0.078104),
    ("Q20", 3, "auto"): (0.160421, 0.114190, 0.103399, 0.103399, 0.0662),
    ("morse", 2, 0): (0.291378, 0.236074, 0.217352, 0.232578, 0.161266),
    ("morse", 2, "auto"): (0.290945, 0.233831, 0.215009, 0.230374, 0.157851),
    ("morse", 3, "auto"): (0.200713, 0.170054, 0.154429, 0.166518, 0.114542),
    ("towns", 2, "auto"): (0.018313, 0.016820, 0.003247, 0.003821),
}


@pytest.mark.slow
@pytest.mark.parametrize("k", range(5), ids=["interval", "spline", "primary", "secondary", "row"])
@pytest.mark.parametrize(("name", "m", "alpha"), ASYMMETRIC)
def test_asymmetric_references_with_eight_starts(name, m, alpha, k):
    if k == len(ASYMMETRIC[name, m, alpha]):
        pytest.skip("8 towns do not tell rows apart")
    found = fit(table(name), [*ALL, ROW][k], m, alpha, n_init=8, max_iter=2000)
    assert least(found) <= ASYMMETRIC[name, m, alpha][k] + 1e-4
    assert not found.scaled.degenerate


def test_corrected_alphas_of_the_references():
    """By the least value on a grid: 0.380, 0.400, 0.448; the parabola, which does not follow jumps, is nearer to 0.4."""
    for scaling, alpha in {PRIMARY: 0.395, SPLINE: 0.398, INTERVAL: 0.448}.items():
        found = fit(table("Q20"), scaling)
        assert found.alpha == pytest.approx(alpha, abs=2e-3)
        assert found.scaled.alpha_least_stress < found.alpha


# --- the evaluation -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_steps_never_rise_and_keep_their_promise(seed):
    fuzz = script("fuzz_scalings")
    case = fuzz.draw(10_000 + seed)
    rise, shortfall = fuzz.rises(case)
    assert max(rise, shortfall) <= fuzz.ROUNDING, case.words


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("scaling", [INTERVAL, SPLINE, SECONDARY])
def test_codes_pairs_and_weights_of_one_give_the_same_evaluation(scaling, fixed):
    X, D, _ = random_problem(3, n=15, m=2)
    omega = np.array([0.1, 0.3])
    data = ScaledData(as_dissimilarities(np.round(3 * D) + (D > 0)), scaling)
    weighted = ScaledData(Dissimilarities(data.data.matrix, 2.0 * (1 - np.eye(15))), scaling)
    drift = omega if fixed else None
    found = [
        problems.CodedProblem(data.cone, data.total, drift, 1).evaluate(X, omega),
        problems.CompleteProblem(data.cone, data.total, drift, 1).evaluate(X, omega),
        problems.PairProblem(weighted.cone, weighted.total, drift, 1).evaluate(X, omega),
    ]
    for other, factor in zip(found[1:], (1.0, 2.0), strict=True):
        assert other.stress == pytest.approx(factor * found[0].stress, rel=1e-10)
        np.testing.assert_allclose(other.omega, found[0].omega, atol=1e-10)
        if fixed:  # weights round a fitted alpha up, which shortens the step
            np.testing.assert_allclose(other.step, found[0].step, atol=1e-9)


def test_ratio_as_a_cone_is_the_metric_stress():
    X, D, _ = random_problem(4, n=12, m=2)
    omega = np.array([0.0, 0.3])
    data = ScaledData(as_dissimilarities(D), Scaling())
    metric = smacof(data.data, 2, 0.3, init=X, max_iter=0)
    assert data.problem(omega).evaluate(X - X.mean(axis=0), omega).stress == pytest.approx(
        metric.stress, rel=1e-10
    )


@pytest.mark.parametrize("n", [30, 200])
def test_conjugate_gradients_and_factors_find_the_same_rows(n, monkeypatch):
    rng = np.random.default_rng(0)
    D = randers_distances(rng.normal(size=(n, 2)), drift=0.4) * rng.lognormal(0, 0.1, (n, n))
    np.fill_diagonal(D, 0)
    stresses = []
    for direct in (0, 1000):
        monkeypatch.setattr(problems, "DIRECT", direct)
        stresses.append(fit(D, ROW, alpha=0.4).scaled.stress1)
    assert stresses[0] == pytest.approx(stresses[1], abs=1e-5)


def test_bins_change_the_stress_by_little(monkeypatch):
    rng = np.random.default_rng(0)
    D = randers_distances(rng.normal(size=(150, 2)), drift=0.4) * rng.lognormal(0, 0.3, (150, 150))
    np.fill_diagonal(D, 0)
    exact = fit(D, PRIMARY)
    monkeypatch.setattr(scaling_module, "MANY", 1000)
    monkeypatch.setattr(scaling_module, "BINS", 2000)
    binned = fit(D, PRIMARY)
    assert (exact.scaled.n_bins, binned.scaled.n_bins > 2000) == (0, True)
    assert least(binned) == pytest.approx(least(exact), abs=5e-4)
    assert "bins" in " ".join(binned.scaled.sentences())


# --- invariance -----------------------------------------------------------------------------------------------


def noisy(n=25, alpha=0.4, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    D = randers_distances(X, drift=alpha) * rng.lognormal(0, noise, (n, n))
    np.fill_diagonal(D, 0)
    return X, D


def same_map(one, other, factor=1.0):
    np.testing.assert_allclose(
        other.coordinates, factor * one.coordinates, atol=2e-3 * factor * np.abs(one.coordinates).max()
    )
    assert other.alpha == pytest.approx(one.alpha, abs=2e-3)
    assert other.scaled.stress1 == pytest.approx(one.scaled.stress1, abs=1e-5)


@pytest.mark.parametrize("scaling", [PRIMARY, SECONDARY, ROW])
def test_only_the_order_counts(scaling):
    X, D = noisy()
    other = np.where(D > 0, np.exp(D) + 3, 0)
    one, two = (fit(data, scaling, init=X, tol=1e-10, max_iter=5000) for data in (D, other))
    same_map(one, two, np.sqrt((other**2).sum() / (D**2).sum()))


def test_a_function_of_its_own_for_each_row():
    X, D = noisy()
    rng = np.random.default_rng(1)
    other = np.exp(rng.normal(size=(25, 1))) * D ** rng.uniform(0.5, 2, (25, 1))
    one, two = (fit(data, ROW, init=X, tol=1e-10, max_iter=5000) for data in (D, other))
    same_map(one, two, np.sqrt((other**2).sum() / (D**2).sum()))


@pytest.mark.parametrize("scaling", [INTERVAL, SPLINE])
def test_a_line_of_the_data_gives_the_same_map(scaling):
    _, D = noisy()
    other = np.where(D > 0, 2 * D + 5, 0)
    one, two = fit(D, scaling, tol=1e-10, max_iter=5000), fit(other, scaling, tol=1e-10, max_iter=5000)
    same_map(one, two, np.sqrt((other**2).sum() / (D**2).sum()))


def test_columns_are_rows_of_the_way_back():
    _, D = noisy()
    rows, columns = fit(D, ROW, alpha=0.4), fit(D.T, Scaling("ordinal", conditional="column"), alpha=0.4)
    assert columns.scaled.stress1 == pytest.approx(rows.scaled.stress1, abs=1e-6)
    np.testing.assert_allclose(columns.coordinates[:, -1], -rows.coordinates[:, -1], atol=0.02)


@pytest.mark.parametrize("scaling", [PRIMARY, INTERVAL, ROW])
def test_threads_and_repetition_change_nothing(scaling):
    _, D = noisy(n=40)
    one, two = fit(D, scaling, n_init=3, n_jobs=1), fit(D, scaling, n_init=3, n_jobs=2)
    np.testing.assert_array_equal(one.coordinates, two.coordinates)


@pytest.mark.parametrize("scaling", [*ALL, ROW])
def test_weights_of_any_size_and_pairs_of_weight_0(scaling):
    _, D = noisy()
    rng = np.random.default_rng(2)
    W = rng.uniform(0.5, 2, D.shape) * (rng.random(D.shape) < 0.8)
    spoiled = np.where(W > 0, D, 1e6)
    np.fill_diagonal(spoiled, 0)
    one, two = fit(D, scaling, weights=W), fit(spoiled, scaling, weights=1e5 * W)
    np.testing.assert_allclose(two.coordinates, one.coordinates, atol=1e-4)
    assert two.stress == pytest.approx(1e5 * one.stress, rel=1e-4)
    assert np.isnan(
        ScaledData(as_dissimilarities(D, W), scaling).measure(one.coordinates, one.drift).disparities()
    ).any()


# --- the result -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "scaling", [*ALL, ROW, Scaling("ordinal", conditional="parts"), Scaling("ratio", conditional="row")]
)
def test_the_solution_is_measured_by_its_disparities(scaling):
    _, D = noisy()
    found = fit(D, scaling)
    measured = ScaledData(as_dissimilarities(D), scaling).measure(found.coordinates, found.drift)
    assert found.stress == pytest.approx(measured.residuals().sum())
    assert found.per_point.sum() == pytest.approx(1)
    assert found.history[-1] == pytest.approx(found.stress, rel=1e-5)
    assert (np.diff(found.history) <= 0).all()
    assert found.total == pytest.approx((D**2).sum())
    assert found.scaled.stress1 == pytest.approx(found.normalized_stress, rel=1e-4)
    if not scaling.by_group:
        d = randers_distances(found.coordinates, drift=found.drift)
        assert found.stress == pytest.approx(((d - measured.disparities()) ** 2).sum())


def test_starts_are_counted():
    _, D = noisy()
    found = fit(D, PRIMARY, n_init=3)
    assert found.n_starts == 6  # data and ranks, each without a drift first as well, and two random ones
    assert 1 <= found.n_same <= 6
    assert fit(D, PRIMARY, alpha=0.4).n_starts == 2


def test_rows_have_the_size_of_the_data():
    _, D = noisy()
    found = fit(D, ROW)
    d = randers_distances(found.coordinates, drift=found.drift)
    assert (d**2).sum() == pytest.approx((D**2).sum())


def test_noise_free_order_gives_the_map():
    _X, D = noisy(n=40, noise=0)
    found = fit(D**2, PRIMARY)
    assert found.scaled.stress1 < 1e-3
    assert "rounding" not in fit(D**2, PRIMARY, alpha=0.4).message
    assert found.alpha == pytest.approx(0.4, abs=0.01)
    d = randers_distances(found.coordinates, drift=found.drift)
    assert np.corrcoef(d.ravel(), D.ravel())[0, 1] > 0.9995


@pytest.mark.slow
@pytest.mark.parametrize("line", [0, 2, 3, 4, 6, 7])
def test_recovery_of_map_and_alpha_from_distorted_data(line):
    recovery = script("recovery_scalings")
    similar, _, alpha = recovery.medians(line, "ordinal")
    assert similar >= 0.99
    assert alpha == pytest.approx(0.4, abs=0.03)


@pytest.mark.slow
def test_recovery_of_rows_that_are_not_comparable():
    recovery = script("recovery_scalings")
    assert recovery.medians(8, "ordinal, row")[0] >= 0.98


def test_the_correction_undoes_what_noise_does_to_alpha():
    _, D = noisy(n=40, noise=0.3, seed=3)
    for scaling in (PRIMARY, SPLINE, INTERVAL):
        found = fit(D, scaling)
        assert found.scaled.alpha_least_stress < 0.32
        assert found.alpha == pytest.approx(0.4, abs=0.06)
        assert found.scaled.stress1 >= found.scaled.stress1_least_stress


def test_alpha_in_reverse_of_exact_data():
    X, D = noisy(n=30, noise=0)
    for scaling in (PRIMARY, INTERVAL, ROW):
        scaled = ScaledData(as_dissimilarities(D), scaling)
        assert reversed_alpha(scaled, X) == pytest.approx(0.4, abs=0.01)


def test_a_given_alpha_and_symmetric_data_are_left_alone():
    _, D = noisy()
    given = fit(D, PRIMARY, alpha=0.2)
    assert (given.alpha, given.alpha_source, given.scaled.alpha_least_stress) == (0.2, "given", None)
    symmetric = fit((D + D.T) / 2, PRIMARY)
    assert (symmetric.alpha, symmetric.alpha_source) == (0.0, "symmetric")


def test_the_larger_model_does_not_end_above_the_smaller():
    for seed in range(5):
        _, D = noisy(n=10, alpha=0.1, noise=0.5, seed=seed)
        for scaling in (PRIMARY, INTERVAL):
            assert least(fit(D, scaling)) <= fit(D, scaling, alpha=0).scaled.stress1 + 1e-6


def test_the_symmetric_part_alone():
    """D = f(e) + drift: the right model is to scale the symmetric part."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    e = randers_distances(X, drift=0)
    D = np.where(np.eye(30), 0, 3 + e**2 + 0.5 * (X[None, :, 1] - X[:, None, 1]))
    found = fit(D, Scaling("ordinal", conditional="parts"))
    assert found.scaled.stress1 < 2e-3
    assert found.scaled.alpha_least_stress is None
    assert np.corrcoef(randers_distances(found.coordinates, drift=0).ravel(), e.ravel())[0, 1] > 0.999
    assert "convention" in " ".join(found.scaled.sentences())


def test_few_rows_do_not_tell_alpha_and_that_is_said():
    _, D = noisy(n=12)
    assert fit(D, ROW).scaled.few_rows
    assert any("alpha" in text for text in fit(D, ROW).scaled.warnings())
    assert not fit(D, ROW, alpha=0.4).scaled.few_rows
    assert not fit(D, PRIMARY).scaled.few_rows


# --- heaps ----------------------------------------------------------------------------------------------------


def clusters(k, n=18, seed=0):
    """Points in k clusters so far apart that the order says no more."""
    rng = np.random.default_rng(seed)
    which = np.arange(n) % k
    X = rng.normal(size=(n, 2)) + 100 * np.eye(3)[which][:, :2] - 100 * (which == 2)[:, None]
    D = randers_distances(X, drift=0.1)
    return np.where(np.eye(n), 0, D)


@pytest.mark.parametrize("k", [2, 3])
def test_far_clusters_collapse_and_that_is_said(k):
    found = fit(clusters(k), PRIMARY, alpha=0)
    assert found.scaled.degenerate
    assert any("collapsed" in text and "spline" in text for text in found.scaled.warnings())
    assert not fit(clusters(k), SPLINE, alpha=0).scaled.degenerate


@pytest.mark.parametrize("name", ["Q20", "T20", "morse", "towns"])
def test_sound_maps_are_not_called_degenerate(name):
    assert not fit(table(name), PRIMARY).scaled.degenerate


@pytest.mark.parametrize("seed", range(5))
def test_ten_points_are_not_called_degenerate(seed):
    _, D = noisy(n=10, noise=0.1, seed=seed)
    assert not fit(D, PRIMARY, n_init=4).scaled.degenerate


# --- small, early, refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaling", [*ALL, ROW, Scaling("ordinal", conditional="parts")])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(n, scaling):
    D = np.where(np.eye(n), 0, np.arange(1.0, n + 1)[:, None] + np.arange(n))
    found = fit(D, scaling, 1)
    assert found.coordinates.shape == (n, 1)
    assert np.isfinite(found.coordinates).all()


@pytest.mark.parametrize("scaling", [*ALL, ROW])
def test_equal_data(scaling):
    found = fit(1 - np.eye(6), scaling)
    assert np.isfinite(found.coordinates).all()
    assert np.isfinite(found.scaled.stress1)


def test_bounds_are_put_above_all_others():
    _, D = noisy(n=20, noise=0)
    far = np.quantile(D, 0.8) < D
    data = as_dissimilarities(np.where(far, np.inf, D), missing="hinge")
    for ties in ("primary", "secondary"):
        found = fit(data, Scaling("ordinal", ties), alpha=0.4)
        d = randers_distances(found.coordinates, drift=found.drift)
        assert np.corrcoef(d.ravel(), D.ravel())[0, 1] > 0.99


def test_limits_and_callbacks_end_it_early():
    _, D = noisy()
    assert fit(D, PRIMARY, max_iter=0).n_iter == 0
    assert fit(D, PRIMARY, max_iter=2, alpha=0.2).status == "max_iter"
    limited = fit(D, PRIMARY, time_limit=1e-9)
    assert limited.status == "time_limit"
    assert "time limit" in limited.message
    seen = []
    found = fit(D, PRIMARY, callback=lambda iteration: seen.append(iteration.n_iter) or len(seen) == 3)
    assert found.status == "stopped"
    assert len(seen) == 3


@pytest.mark.parametrize("scaling", [PRIMARY, ROW])
def test_an_interruption_anywhere_ends_it(scaling):
    """In a run from any start, without a drift as well, and with the corrected alpha."""
    _, D = noisy(n=12)
    count = []

    def interrupt(iteration):
        count.append(iteration.n_iter)
        if len(count) == when:
            raise KeyboardInterrupt

    when = np.inf
    whole = fit(D, scaling, callback=interrupt, max_iter=150)
    total = len(count)
    for when in {1, *range(7, total, max(total // 12, 1)), total}:
        count.clear()
        found = fit(D, scaling, callback=interrupt, max_iter=150)
        assert found.status == "interrupted", (when, total)
        assert len(count) == when
        assert "Ctrl-C" in found.message
        assert found.n_passes <= whole.n_passes + 2


def test_a_given_start_is_the_only_one():
    X, D = noisy()
    found = fit(D, PRIMARY, alpha=0.4, init=X, max_iter=0)
    np.testing.assert_allclose(found.coordinates[:, -1], X[:, -1] - X[:, -1].mean(), atol=1e-12)
    assert found.n_passes == 1


def test_options_are_checked():
    with pytest.raises(ValueError, match="n_init"):
        fit(noisy()[1], PRIMARY, n_init=0)
    with pytest.raises(TypeError, match="n_int"):
        fit(noisy()[1], PRIMARY, n_int=2)
