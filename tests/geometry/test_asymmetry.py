"""`finsler.geometry.asymmetry`, with its heights and pairs, against explicit incidence matrices and plain loops."""

import itertools
import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finsler.geometry import asymmetry, heights, pairs
from finsler.geometry.asymmetry import asymmetry_report
from finsler.geometry.heights import gradient_heights

CYCLE = np.array([[0.0, 3.0, 1.0], [1.0, 0.0, 3.0], [3.0, 1.0, 0.0]])  # A = 1 all the way round.


def random_data(n, seed, unknown=0.0, weighted=False):
    """Positive dissimilarities, some NaN, inf or of weight 0, and weights (or None)."""
    rng = np.random.default_rng(seed)
    D = rng.uniform(0.5, 2.0, (n, n))
    W = rng.uniform(0.1, 3.0, (n, n)) if weighted else None
    D[rng.random((n, n)) < unknown / 2] = np.nan
    D[rng.random((n, n)) < unknown / 4] = np.inf
    if W is not None:
        W[rng.random((n, n)) < unknown / 4] = 0.0
    return D, W


def known_pairs(D, W):
    """Ordered pairs that are known, as a set, and their weights."""
    n = len(D)
    W = np.ones((n, n)) if W is None else W
    pairs = {p for p in itertools.permutations(range(n), 2) if np.isfinite(D[p]) and W[p] > 0}
    return pairs, W


def incidence(D, W):
    """Explicit weighted least squares for the heights: one row sqrt(c) (h_j - h_i) = sqrt(c) A_ij a pair.

    The weight comes from eliminating S numerically, not from the formula under test.
    """
    pairs, W = known_pairs(D, W)
    rows, values = [], []
    for i, j in sorted(pairs):
        if i < j and (j, i) in pairs:
            # Residual of min over S, at a = A + 1: (S + a - D_ij, S - a - D_ji) = (s + 1, s - 1).
            s = (W[j, i] - W[i, j]) / (W[i, j] + W[j, i])
            c = (W[i, j] * (s + 1) ** 2 + W[j, i] * (s - 1) ** 2) / 2
            row = np.zeros(len(D))
            row[j], row[i] = 1.0, -1.0
            rows.append(np.sqrt(c) * row)
            values.append(np.sqrt(c) * (D[i, j] - D[j, i]) / 2)
    return np.array(rows), np.array(values)


@pytest.fixture(params=["default", "small tiles", "matrix-free"])
def path(request, monkeypatch):
    """Each way through the code that depends on size."""
    if request.param != "default":
        monkeypatch.setattr(pairs, "BLOCK", 7)
    if request.param == "matrix-free":
        monkeypatch.setattr(heights, "SPARSE_PAIRS", 0)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unknown", [0.0, 0.4])
def test_heights_are_the_least_squares_solution(weighted, unknown):
    D, W = random_data(30, 1, unknown, weighted)
    rows, values = incidence(D, W)
    expected = np.linalg.lstsq(rows, values, rcond=None)[0]  # Of least norm, hence of mean 0.
    h = gradient_heights(D, W)
    np.testing.assert_allclose(h, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    report = asymmetry_report(D, W)
    np.testing.assert_array_equal(report.heights, h)
    fitted = rows @ expected
    assert report.gradient_share == pytest.approx(fitted @ fitted / (values @ values), rel=1e-12)
    residual = values - rows @ h
    # Pythagoras: the gradient and the rest are orthogonal.
    assert values @ values == pytest.approx((rows @ h) @ (rows @ h) + residual @ residual, rel=1e-12)
    assert report.cyclic_share == pytest.approx(residual @ residual / (values @ values), rel=1e-10)


def test_uniform_heights_are_column_means():
    D, _ = random_data(40, 2)
    np.fill_diagonal(D, 0)
    expected = ((D - D.T) / 2).mean(axis=0)
    np.testing.assert_allclose(gradient_heights(D), expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(gradient_heights(D, np.full_like(D, 0.3)), expected, rtol=1e-12, atol=1e-15)


def test_uniform_heights_use_no_solver(monkeypatch):
    monkeypatch.setattr(heights, "cg", None)
    gradient_heights(random_data(9, 3)[0])
    with pytest.raises(TypeError):
        gradient_heights(*random_data(9, 3, weighted=True))


@pytest.mark.usefixtures("path")
def test_each_component_has_its_own_mean_zero():
    D = np.full((9, 9), np.nan)
    h = np.array([3.0, 5, 4, 100, 107, 0, 0, 0, 0])
    for group in ([0, 1, 2], [3, 4]):
        for i, j in itertools.permutations(group, 2):
            D[i, j] = 20 + h[j] - h[i]
    D[5, 6] = 3.0  # One way only: says nothing about heights.
    np.testing.assert_allclose(gradient_heights(D), [-1, 1, 0, -3.5, 3.5, 0, 0, 0, 0], atol=1e-13)


@pytest.mark.usefixtures("path")
def test_weights_of_very_different_size():
    # Two groups, one of weights 1e-20: each has the heights that it has alone.
    parts = [random_data(8, seed, weighted=True) for seed in (20, 21)]
    D, W = np.full((16, 16), np.nan), np.zeros((16, 16))
    for k, (part, weights) in enumerate(parts):
        rows = slice(8 * k, 8 * k + 8)
        D[rows, rows], W[rows, rows] = part, weights * 1e-20**k
    expected = np.concatenate([gradient_heights(*part) for part in parts])
    np.testing.assert_allclose(gradient_heights(D, W), expected, rtol=0, atol=1e-13)
    # One group that hangs on the other by a pair of weight 1e-9: it moves as a whole.
    D[0, 8], D[8, 0], W[0, 8], W[8, 0] = 3.0, 1.0, 1e-9, 1e-9
    h = gradient_heights(D, np.where(W > 0, np.maximum(W, 1e-9 * W.max()), 0))
    assert h[8] - h[0] == pytest.approx(1.0, rel=1e-7)


def test_a_long_chain_is_solved_accurately():
    n = 400
    rng = np.random.default_rng(4)
    D, i = np.full((n, n), np.nan), np.arange(n - 1)
    D[i, i + 1], D[i + 1, i] = rng.uniform(1, 3, n - 1), 1.0
    expected = np.concatenate([[0], np.cumsum((D[i, i + 1] - 1) / 2)])
    expected -= expected.mean()
    np.testing.assert_allclose(gradient_heights(D), expected, rtol=0, atol=1e-10 * np.ptp(expected))


@pytest.mark.parametrize("seed", [2, 30, 34])
def test_rounding_outside_the_range_of_the_laplacian_is_left_alone(seed, monkeypatch):
    # Once the heights are solved to rounding, what is left does not sum to 0, which no heights can make up for:
    # conjugate gradients broke down on that sum, and ran on without an end in sight at N = 5000.
    monkeypatch.setattr(heights, "SPARSE_PAIRS", 0)
    rng = np.random.default_rng(seed)
    D, _ = rng.random((20, 20)) + 1, rng.random((20, 20))
    W = 10.0 ** rng.uniform(-8, 0, (20, 20))
    rows, values = incidence(D, W)
    expected = np.linalg.lstsq(rows, values, rcond=1e-14)[0]
    np.testing.assert_allclose(gradient_heights(D, W), expected, rtol=0, atol=1e-12)


def test_heights_that_are_not_solved_warn(monkeypatch):
    monkeypatch.setattr(heights, "cg", lambda matrix, b, **_: (np.zeros_like(b), 1))
    with pytest.warns(RuntimeWarning, match=r"solve their equations to 1\.0e\+00 only"):
        gradient_heights(*random_data(9, 3, weighted=True))


@pytest.mark.parametrize("weighted", [False, True])
def test_exact_gradient(weighted):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(25, 3))
    D = np.linalg.norm(X[:, None] - X, axis=2) + 0.4 * (X[:, 2] - X[:, 2][:, None])
    report = asymmetry_report(D, rng.uniform(0.1, 1, D.shape) if weighted else None)
    assert report.gradient_share == pytest.approx(1, abs=1e-12)
    assert report.cyclic_share == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(report.heights, 0.4 * (X[:, 2] - X[:, 2].mean()), atol=1e-12)
    assert report.alpha_asked[1.0] <= 0.4
    assert report.triangle_violations == 0
    assert report.verdict.endswith("and a Randers map of enough dimensions can show up to 100 % of it.")


def test_pure_cycle():
    report = asymmetry_report(CYCLE)
    assert report.asymmetry == pytest.approx(6 / 30)
    assert (report.gradient_share, report.cyclic_share) == (0.0, 1.0)
    np.testing.assert_array_equal(report.heights, 0)
    assert "only 0 % of it follows heights; the rest runs in circles" in report.verdict


@pytest.mark.parametrize("weighted", [False, True])
def test_asymmetry_is_the_least_loss_of_a_symmetric_map(weighted):
    D, W = random_data(12, 6, 0.3, weighted)
    pairs, W = known_pairs(D, W)
    lost = total = 0.0
    for i, j in pairs:
        if i < j and (j, i) in pairs:
            S = (W[i, j] * D[i, j] + W[j, i] * D[j, i]) / (W[i, j] + W[j, i])
            lost += W[i, j] * (S - D[i, j]) ** 2 + W[j, i] * (S - D[j, i]) ** 2
            total += W[i, j] * D[i, j] ** 2 + W[j, i] * D[j, i] ** 2
    assert asymmetry_report(D, W).asymmetry == pytest.approx(lost / total, rel=1e-12)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unknown", [0.0, 0.5, 0.97])
def test_counts_ratios_and_triangles_by_loops(weighted, unknown):
    n = 16
    D, W = random_data(n, 7, unknown, weighted)
    D[3, 4] = 0.0  # A zero is known, but has no ratio.
    pairs, _ = known_pairs(D, W)
    report = asymmetry_report(D, W)
    ordered = list(itertools.permutations(range(n), 2))
    assert report.n_points == n
    assert report.n_pairs == len(pairs)
    assert report.unreachable == sum(np.isinf(D[p]) for p in ordered)
    assert report.missing == sum(p not in pairs and not np.isinf(D[p]) for p in ordered)
    assert report.one_way == sum((j, i) not in pairs for i, j in pairs)

    mutual = [(i, j) for i, j in pairs if i < j and (j, i) in pairs]
    ratios = [max(D[i, j] / D[j, i], D[j, i] / D[i, j]) for i, j in mutual if D[i, j] > 0 and D[j, i] > 0]
    for q, rho in report.ratio_quantiles.items():
        assert rho == pytest.approx(np.quantile(ratios, q), rel=1e-12)
        assert report.alpha_asked[q] == pytest.approx((rho - 1) / (rho + 1))
    assert bool(report.ratio_quantiles) == bool(ratios)
    if mutual:
        gap, i, j = max((abs(D[i, j] - D[j, i]), i, j) for i, j in mutual)
        i, j = (i, j) if D[i, j] > D[j, i] else (j, i)
        assert report.most_asymmetric == {"from": i, "to": j, "there": D[i, j], "back": D[j, i]}
        assert gap == D[i, j] - D[j, i]

    triples = [
        (D[i, k] - (D[i, j] + D[j, k]), i, j, k)
        for i, j, k in itertools.permutations(range(n), 3)
        if {(i, k), (i, j), (j, k)} <= pairs
    ]
    violations = [t for t in triples if t[0] > 1e-9]
    assert report.triangles_checked == len(triples)
    assert not report.triangles_sampled
    assert report.triangle_violations == (pytest.approx(len(violations) / len(triples)) if triples else None)
    if violations:
        excess, i, j, k = max(violations)
        worst = report.worst_triangle
        assert (worst["from"], worst["via"], worst["to"]) == (i, j, k)
        assert worst["excess"] == pytest.approx(excess)
        assert worst["direct"] == pytest.approx(D[i, k])
        assert worst["detour"] == pytest.approx(D[i, j] + D[j, k])
    else:
        assert report.worst_triangle is None


@pytest.mark.parametrize("seed", range(6))
def test_connectivity_agrees_with_networkx(seed):
    networkx = pytest.importorskip("networkx")
    n = 20
    D = np.where(np.random.default_rng(seed).random((n, n)) < 0.03 * (1 + seed), 1.0, np.nan)
    graph = networkx.DiGraph(known_pairs(D, None)[0])
    graph.add_nodes_from(range(n))
    sizes = sorted(map(len, networkx.weakly_connected_components(graph)), reverse=True)
    report = asymmetry_report(D)
    assert report.component_sizes == tuple(sizes)
    assert report.components == len(sizes)
    assert report.strongly_connected == networkx.is_strongly_connected(graph)


def test_strongly_connected():
    ring = np.full((4, 4), np.nan)
    ring[[0, 1, 2, 3], [1, 2, 3, 0]] = 1.0
    assert asymmetry_report(ring).strongly_connected
    ring[3, 0] = np.inf
    assert not asymmetry_report(ring).strongly_connected
    assert not asymmetry_report(ring.T).strongly_connected
    assert asymmetry_report(ring).components == 1


def test_sampled_triangles():
    D, _ = random_data(60, 8)
    full = asymmetry_report(D, max_triangles=60**3)
    part = asymmetry_report(D, max_triangles=20_000, random_state=3)
    assert full.triangles_checked == 60 * 59 * 58
    assert not full.triangles_sampled
    assert part.triangles_sampled
    assert (part.triangles_checked, part.seed) == (20_000, 3)
    # Five standard deviations of a sample of 20,000.
    assert part.triangle_violations == pytest.approx(full.triangle_violations, abs=5 * 0.5 / np.sqrt(20_000))
    assert part.triangle_violations != full.triangle_violations
    again = asymmetry_report(D, max_triangles=20_000, random_state=3)
    assert again.triangle_violations == part.triangle_violations
    fresh = asymmetry_report(D, max_triangles=2_000, random_state=None)
    told = asymmetry_report(D, max_triangles=2_000, random_state=fresh.seed)
    assert told.to_dict() == fresh.to_dict()


def test_triangles_in_chunks():
    D, _ = random_data(110, 9)  # 1,294,920 triples: more than one chunk.
    S = D[:, :, None] + D[None]  # S[i, j, k] = D_ij + D_jk
    i, j, k = np.ogrid[:110, :110, :110]
    distinct = (i != j) & (j != k) & (i != k)
    excess = np.where(distinct, D[:, None, :] - S, -np.inf)
    report = asymmetry_report(D, max_triangles=10**7)
    assert report.triangle_violations == pytest.approx((excess > 1e-9).sum() / distinct.sum(), rel=1e-14)
    worst = report.worst_triangle
    assert (worst["from"], worst["via"], worst["to"]) == np.unravel_index(excess.argmax(), excess.shape)


def test_sampled_ratios(monkeypatch):
    D, _ = random_data(150, 10)
    full = asymmetry_report(D).ratio_quantiles
    monkeypatch.setattr(asymmetry, "RATIO_SAMPLE", 2_000)
    part = asymmetry_report(D).ratio_quantiles
    assert part[1.0] == full[1.0]  # The largest is never sampled.
    assert part[0.5] != full[0.5]
    assert part[0.5] == pytest.approx(full[0.5], rel=0.1)
    assert asymmetry_report(D, n_jobs=1).ratio_quantiles == part
    assert asymmetry_report(D, random_state=1).ratio_quantiles != part


def test_rounding_of_float32_is_no_violation():
    x = np.cumsum(np.random.default_rng(11).random(40))
    D = np.abs(x[:, None] - x).astype(np.float32)  # On a line every detour through a middle point is exact.
    report = asymmetry_report(D)
    assert report.triangle_violations == 0
    assert report.gradient_share is None


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, np.float16, bool])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "read-only"])
def test_any_dtype_and_layout(dtype, layout):
    D = np.random.default_rng(12).integers(0, 2 if dtype is bool else 9, (20, 20)).astype(dtype)
    expected = asymmetry_report(D.astype(np.float64)).to_dict()
    if layout == "F":
        D = np.asfortranarray(D)
    elif layout == "strided":
        D = np.repeat(np.repeat(D, 2, axis=0), 3, axis=1)[::2, ::3]
    elif layout == "read-only":
        D.flags.writeable = False
    before = D.copy()
    assert asymmetry_report(D).to_dict() == expected
    np.testing.assert_array_equal(D, before)


@pytest.mark.usefixtures("path")
def test_threads_change_nothing():
    D, W = random_data(60, 13, 0.3, True)
    one = asymmetry_report(D, W, n_jobs=1, max_triangles=1000).to_dict()
    for n_jobs in (2, 5):
        assert asymmetry_report(D, W, n_jobs=n_jobs, max_triangles=1000).to_dict() == one


def test_inputs_are_not_modified_and_the_diagonal_is_ignored():
    D, W = random_data(10, 14, 0.2, True)
    expected = asymmetry_report(D, W).to_dict()
    np.fill_diagonal(D, [np.nan, np.inf, -1, 1e308, 0] * 2)
    np.fill_diagonal(W, [np.nan, np.inf, -1, 1e300, 0] * 2)
    D0, W0 = D.copy(), W.copy()
    assert asymmetry_report(D, W).to_dict() == expected
    np.testing.assert_array_equal(D, D0)
    np.testing.assert_array_equal(W, W0)


NUMBERS = ["asymmetry", "gradient_share", "cyclic_share", "triangle_violations"]
COUNTS = ["n_pairs", "missing", "unreachable", "one_way", "component_sizes", "strongly_connected"]
COUNTS += ["triangles_checked", "verdict"]


def assert_same_report(a, b, scale=1.0):
    for name in COUNTS:
        assert getattr(a, name) == getattr(b, name)
    for name in NUMBERS:
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None)
        assert x is None or x == pytest.approx(y, rel=1e-9, abs=1e-12)
    assert list(a.ratio_quantiles.values()) == pytest.approx(list(b.ratio_quantiles.values()))
    for name, key in (("worst_triangle", "excess"), ("most_asymmetric", "there")):
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None)
        assert x is None or x[key] * scale == pytest.approx(y[key])


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 12),
    unknown=st.sampled_from([0.0, 0.3, 0.8]),
    w=st.booleans(),
)
def test_permutation_and_transpose(seed, n, unknown, w):
    D, W = random_data(n, seed, unknown, w)
    report = asymmetry_report(D, W)
    order = np.random.default_rng(seed).permutation(n)
    shuffled = asymmetry_report(D[order][:, order], None if W is None else W[order][:, order])
    assert_same_report(report, shuffled)
    np.testing.assert_allclose(shuffled.heights, report.heights[order], atol=1e-12)
    turned = asymmetry_report(D.T, None if W is None else W.T)
    assert_same_report(report, turned)
    np.testing.assert_allclose(turned.heights, -report.heights, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    scale=st.floats(1e-290, 1e290),
    w_scale=st.floats(1e-290, 1e290),
    unknown=st.sampled_from([0.0, 0.4]),
)
def test_scale(seed, scale, w_scale, unknown):
    D, W = random_data(9, seed, unknown, True)
    report, scaled = asymmetry_report(D, W), asymmetry_report(D * scale, W * w_scale)
    assert_same_report(report, scaled, scale)
    np.testing.assert_allclose(scaled.heights / scale, report.heights, atol=1e-12)


def test_verdict_symmetric():
    S = np.random.default_rng(15).uniform(1, 2, (8, 8))
    S += S.T
    report = asymmetry_report(S)
    assert report.verdict == "The data is symmetric: use ordinary MDS, or alpha = 0."
    assert (report.asymmetry, report.gradient_share, report.cyclic_share) == (0, None, None)
    assert report.most_asymmetric is None
    assert "asymmetry             none" in str(report)
    nearly = asymmetry_report(S * (1 + 1e-4 * np.triu(np.ones((8, 8)))))
    assert nearly.verdict == report.verdict
    assert 0 < nearly.asymmetry < asymmetry.SYMMETRIC
    assert nearly.gradient_share + nearly.cyclic_share == 1
    rounded = asymmetry_report(S * (1 + 2e-16 * np.random.default_rng(0).integers(0, 3, S.shape)))
    assert rounded.asymmetry > 0
    assert rounded.gradient_share is None  # Shares of rounding would be noise.
    S[0, 1] = np.nan
    assert "pairs known one way only (1) say nothing" in asymmetry_report(S).verdict
    assert asymmetry_report(np.zeros((3, 3))).verdict == report.verdict


def test_verdict_disconnected():
    D = np.full((5, 5), np.nan)
    D[0, 1] = D[1, 0] = D[2, 3] = D[3, 4] = 1.0
    report = asymmetry_report(D)
    assert report.verdict.startswith("The points fall into 2 groups with no known pair between them")
    assert "no: 2 groups, of 3, 2 points" in str(report)
    W = np.ones((8, 8)) * np.eye(8)
    assert "no: 8 groups, of 1, 1, 1, 1, 1, … points" in str(asymmetry_report(np.ones((8, 8)), W))


def test_verdict_one_way():
    report = asymmetry_report(np.where(np.triu(np.ones((4, 4)), 1) > 0, 2.0, np.inf))
    assert report.verdict.startswith("No pair is known both ways")
    assert (report.asymmetry, report.gradient_share, report.ratio_quantiles) == (None, None, {})
    assert "asymmetry             no pair is known both ways" in str(report)
    assert "yes, but not both ways" in str(report)


def test_verdict_between_gradient_and_cyclic():
    h = np.array([0.0, 1.0, 2.0])
    for strength, expected in (
        (0.5, "a Randers map of enough dimensions can show up to 88.9 %"),
        (2.0, "only 33.3 % of it"),
    ):
        report = asymmetry_report(10 + (h - h[:, None]) + strength * (CYCLE - CYCLE.T) / 2)
        assert expected in report.verdict


def test_printed_report():
    D = CYCLE + [[0, 1, 20], [0, 0, 1], [0, 0, 0]]
    text = str(asymmetry_report(D, labels=["a", "b", "c"]))
    assert "shorter by a detour   33.3 % of 6 triangles; are these similarities, or flows?" in text
    assert "the worst           a to c: 21, by way of b 8" in text
    assert "most asymmetric       a to c: 21 there, 3 back" in text
    title, *lines = text.split("\n")
    assert title == "Asymmetry of 3 points"
    assert max(map(len, lines)) < 100
    table = [line for line in lines if line.startswith("  ")]
    assert 12 <= len(table) <= 15
    assert all(line[23] == " " and line[24] != " " for line in table)  # Values begin in the same column.
    assert "sampled triangles (seed 4)" in str(asymmetry_report(D, random_state=4, max_triangles=5))
    assert "no triangle is known" in str(asymmetry_report([[0, 1], [2, 0]]))


def test_report_is_a_frozen_record():
    report = asymmetry_report(CYCLE)
    with pytest.raises(FrozenInstanceError):
        report.verdict = "all is well"


@pytest.mark.parametrize("unknown", [0.0, 0.5, 1.0])
def test_to_dict_is_json(unknown):
    D, W = random_data(8, 16, unknown, True)
    D[np.random.default_rng(0).random((8, 8)) < unknown - 0.5] = np.nan
    labels = [np.int64(1), "two", np.str_("three"), (4, "four"), 5.0, None, np.datetime64("2020-01-01"), True]
    report = asymmetry_report(D, W, labels=labels)
    loaded = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert loaded == report.to_dict()
    assert loaded["labels"] == [1, "two", "three", [4, "four"], 5.0, None, "2020-01-01", True]
    np.testing.assert_array_equal(loaded["heights"], report.heights)


def test_dataframe_labels():
    pandas = pytest.importorskip("pandas")
    names = ["Kendal", "York", "Oxford"]
    D = pandas.DataFrame(CYCLE + [[0, 9, 0], [0, 0, 0], [0, 0, 0]], index=names, columns=names)
    report = asymmetry_report(D)
    assert report.labels == names
    assert report.most_asymmetric == {"from": "Kendal", "to": "York", "there": 12.0, "back": 1.0}
    assert report.worst_triangle["via"] == "Oxford"
    assert asymmetry_report(D, labels=["K", "Y", "O"]).most_asymmetric["to"] == "Y"
    W = pandas.DataFrame(np.ones((3, 3)), index=names, columns=names)
    assert asymmetry_report(D, W).to_dict() == report.to_dict()
    with pytest.raises(ValueError, match="weights and D have different row labels"):
        asymmetry_report(D, W.loc[names[::-1], names[::-1]])
    with pytest.raises(ValueError, match=r"D has columns in another order than rows; use D\[D.index\]"):
        asymmetry_report(D[names[::-1]])
    D.loc["York", "Oxford"] = -1
    with pytest.raises(ValueError, match=r"D\[1, 2\] = -1.0, from York to Oxford,"):
        asymmetry_report(D)
    with pytest.raises(TypeError, match="D has '-' from York to Oxford, which is no number"):
        asymmetry_report(D.astype(object).where(D != -1, "-"))


def test_objects_and_masks_that_are_numbers():
    D, _ = random_data(6, 17)
    missing = D.copy()
    missing[1, 2] = np.nan
    objects = D.astype(object)
    objects[1, 2] = None
    masked = np.ma.masked_array(D, mask=np.isnan(missing))
    expected = asymmetry_report(missing).to_dict()
    assert expected["missing"] == 1
    assert asymmetry_report(objects).to_dict() == expected
    assert asymmetry_report(masked).to_dict() == expected
    assert asymmetry_report(missing.tolist()).to_dict() == expected


NEGATIVE = np.ones((3, 3)) - 2 * np.eye(3)[[1, 0, 2]]
ONES = np.ones((3, 3))


@pytest.mark.parametrize("function", [asymmetry_report])
@pytest.mark.parametrize(
    ("D", "weights", "error", "message"),
    [
        (np.ones((3, 4)), None, ValueError, r"D must be a square matrix.* shape \(3, 4\)"),
        ("times.csv", None, TypeError, r"D is the path 'times\.csv'; read the file first"),
        (np.ones(9), None, ValueError, r"D must be a square matrix.* shape \(9,\)"),
        (np.ones((2, 2, 2)), None, ValueError, r"D must be a square matrix.* shape \(2, 2, 2\)"),
        ([[0, 1], [1]], None, ValueError, "D cannot be read as a matrix .* rows of equal length"),
        ([[0]], None, ValueError, "D has 1 points; give at least 2"),
        (np.empty((0, 0)), None, ValueError, "D has 0 points"),
        ([["0", "1"], ["1", "0"]], None, TypeError, "D must hold real numbers, not <U1"),
        (ONES * 1j, None, TypeError, "D must hold real numbers, not complex128"),
        (np.array([[0, 1], ["x", 0]], dtype=object), None, TypeError, r"D has 'x' at \[1, 0\]"),
        (NEGATIVE, None, ValueError, r"D\[0, 1\] = -1.0, from 0 to 1, .*convert similarities"),
        (-np.inf * NEGATIVE, None, ValueError, r"D\[0, 2\] = -inf"),
        (ONES, np.ones((3, 2)), ValueError, "weights must be a square matrix"),
        (ONES, np.ones((2, 2)), ValueError, r"weights has shape \(2, 2\) and D \(3, 3\)"),
        (ONES, NEGATIVE, ValueError, r"weights\[0, 1\] = -1.0, from 0 to 1, .*0 is unknown"),
        (ONES, ONES + [0, 0, np.nan], ValueError, r"weights\[0, 2\] = nan"),
        (ONES, ONES + [[0], [np.inf], [0]], ValueError, r"weights\[1, 0\] = inf"),
        (ONES, ONES.astype(str), TypeError, "weights must hold real numbers"),
    ],
)
def test_bad_input(function, D, weights, error, message):
    with pytest.raises(error, match=message):
        function(D, weights)


def test_the_first_bad_entry_is_named_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(pairs, "BLOCK", 3)
    D = np.ones((30, 30))
    D[5, 2] = D[20, 20] = D[25, 1] = -1
    for n_jobs in (1, 4):
        with pytest.raises(ValueError, match=r"D\[5, 2\]"):
            asymmetry_report(D, n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"labels": ["a"]}, ValueError, "labels has 1 names for 3 points"),
        ({"random_state": -1}, ValueError, "random_state = -1"),
        ({"random_state": 0.5}, TypeError, "random_state must be a whole number, not 0.5"),
        ({"max_triangles": -1}, ValueError, "max_triangles = -1"),
        ({"max_triangles": "all"}, TypeError, "max_triangles must be a whole number"),
        ({"n_jobs": 0}, ValueError, "n_jobs=0"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        asymmetry_report(CYCLE, **options)
