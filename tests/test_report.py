"""`finsler.report` against plain loops; and whether it takes what a map takes."""

import itertools
import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from finsler import report as module
from finsler.data.matrix import as_dissimilarities
from finsler.datasets import make_city
from finsler.errors import InputError
from finsler.geometry import heights, pairs
from finsler.graphs.digraph import as_digraph
from finsler.graphs.distances import graph_distances
from finsler.graphs.neighbors import geodesic_distances
from finsler.models import compare_models
from finsler.recipes import embed_matrix
from finsler.report import asymmetry_report

from helpers import known_pairs, random_dissimilarities

CYCLE = np.array([[0.0, 3.0, 1.0], [1.0, 0.0, 3.0], [3.0, 1.0, 0.0]])  # A = 1 all the way round.


@pytest.fixture(params=["default", "dense", "sparse"])
def path(request, monkeypatch):
    """Each way through the code that depends on size."""
    if request.param != "default":
        monkeypatch.setattr(pairs, "BLOCK", 7)
        monkeypatch.setattr(pairs, "CELLS", 50)
        monkeypatch.setattr(heights, "DENSE", 0.0 if request.param == "dense" else 1.0)


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
    assert "A Randers map of enough dimensions can show up to 100 % of its squares" in report.verdict
    assert report.p_values == {"gradient_share": 0.001}  # nothing is left that could run in circles


def test_pure_cycle():
    report = asymmetry_report(CYCLE)
    assert report.asymmetry == pytest.approx(6 / 30)
    assert (report.gradient_share, report.cyclic_share) == (0.0, 1.0)
    np.testing.assert_array_equal(report.heights, 0)
    assert "What follows heights, 0 % of its squares, may be noise" in report.verdict


@pytest.mark.parametrize("weighted", [False, True])
def test_asymmetry_is_the_least_loss_of_a_symmetric_map(weighted):
    D, W = random_dissimilarities(12, 6, 0.3, weighted)
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
    D, W = random_dissimilarities(n, 7, unknown, weighted)
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
    np.fill_diagonal(D, 0)
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
    D, _ = random_dissimilarities(60, 8)
    full = asymmetry_report(D, max_triangles=60**3)
    part = asymmetry_report(D, max_triangles=20_000, random_state=3)
    assert full.triangles_checked == 60 * 59 * 58
    assert not full.triangles_sampled
    assert part.triangles_sampled
    assert (part.triangles_checked, part.random_state) == (20_000, 3)
    # Five standard deviations of a sample of 20,000.
    assert part.triangle_violations == pytest.approx(full.triangle_violations, abs=5 * 0.5 / np.sqrt(20_000))
    assert part.triangle_violations != full.triangle_violations
    again = asymmetry_report(D, max_triangles=20_000, random_state=3)
    assert again.triangle_violations == part.triangle_violations
    fresh = asymmetry_report(D, max_triangles=2_000, random_state=None)
    told = asymmetry_report(D, max_triangles=2_000, random_state=fresh.random_state)
    assert told.to_dict() == fresh.to_dict()


def test_triangles_in_chunks():
    D, _ = random_dissimilarities(110, 9)  # 1,294,920 triples: more than one chunk.
    S = D[:, :, None] + D[None]  # S[i, j, k] = D_ij + D_jk
    i, j, k = np.ogrid[:110, :110, :110]
    distinct = (i != j) & (j != k) & (i != k)
    excess = np.where(distinct, D[:, None, :] - S, -np.inf)
    report = asymmetry_report(D, max_triangles=10**7)
    assert report.triangle_violations == pytest.approx((excess > 1e-9).sum() / distinct.sum(), rel=1e-14)
    worst = report.worst_triangle
    assert (worst["from"], worst["via"], worst["to"]) == np.unravel_index(excess.argmax(), excess.shape)


def test_sampled_ratios(monkeypatch):
    D, _ = random_dissimilarities(150, 10)
    full = asymmetry_report(D).ratio_quantiles
    monkeypatch.setattr(pairs, "RATIOS", 4_000)
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
    np.fill_diagonal(D, 0)
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
    D, W = random_dissimilarities(60, 13, 0.3, True)
    one = asymmetry_report(D, W, n_jobs=1, max_triangles=1000).to_dict()
    for n_jobs in (2, 5):
        assert asymmetry_report(D, W, n_jobs=n_jobs, max_triangles=1000).to_dict() == one


def test_inputs_are_not_modified_and_the_diagonal_can_be_ignored():
    D, W = random_dissimilarities(10, 14, 0.2, True)
    expected = asymmetry_report(D, W).to_dict()
    np.fill_diagonal(D, [np.nan, np.inf, -1, 1e100, 0] * 2)
    np.fill_diagonal(W, [np.nan, np.inf, 1, 1e300, 0] * 2)
    D0, W0 = D.copy(), W.copy()
    assert asymmetry_report(D, W, diagonal="ignore").to_dict() == expected
    np.testing.assert_array_equal(D, D0)
    np.testing.assert_array_equal(W, W0)
    with pytest.raises(ValueError, match="diagonal of D"):
        asymmetry_report(D, W)


NUMBERS = ["asymmetry", "gradient_share", "cyclic_share", "triangle_violations"]
COUNTS = ["n_pairs", "missing", "unreachable", "one_way", "component_sizes", "strongly_connected"]
COUNTS += ["triangles_checked", "paths"]


def assert_same_report(a, b, scale=1.0):
    for name in COUNTS:
        assert getattr(a, name) == getattr(b, name)
    for name in NUMBERS:
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None)
        assert x is None or x == pytest.approx(y, rel=1e-9, abs=1e-12)
    assert a.noise == pytest.approx(b.noise, rel=1e-9)
    assert list(a.ratio_quantiles.values()) == pytest.approx(list(b.ratio_quantiles.values()))
    for name, key in (("worst_triangle", "excess"), ("most_asymmetric", "there")):
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None)
        assert x is None or x[key] * scale == pytest.approx(y[key])


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 12),
    unknown=st.sampled_from([0.0, 0.3, 0.8]),
    w=st.booleans(),
)
def test_permutation_and_transpose(seed, n, unknown, w):
    D, W = random_dissimilarities(n, seed, unknown, w)
    report = asymmetry_report(D, W)
    order = np.random.default_rng(seed).permutation(n)
    shuffled = asymmetry_report(D[order][:, order], None if W is None else W[order][:, order])
    assert_same_report(report, shuffled)
    np.testing.assert_allclose(shuffled.heights, report.heights[order], atol=1e-12)
    turned = asymmetry_report(D.T, None if W is None else W.T)
    assert_same_report(report, turned)
    np.testing.assert_allclose(turned.heights, -report.heights, atol=1e-12)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    scale=st.floats(1e-100, 1e100),
    w_scale=st.floats(1e-290, 1e290),
    unknown=st.sampled_from([0.0, 0.4]),
)
def test_scale(seed, scale, w_scale, unknown):
    D, W = random_dissimilarities(9, seed, unknown, True)
    report, scaled = asymmetry_report(D, W), asymmetry_report(D * scale, W * w_scale)
    assert_same_report(report, scaled, scale)
    assert (report.p_values, report.verdict) == (scaled.p_values, scaled.verdict)
    np.testing.assert_allclose(scaled.heights / scale, report.heights, atol=1e-12)


def test_verdict_symmetric():
    S = np.random.default_rng(15).uniform(1, 2, (8, 8))
    S += S.T
    np.fill_diagonal(S, 0)
    report = asymmetry_report(S)
    assert report.verdict == "The data is symmetric: use ordinary MDS, or alpha = 0."
    assert (report.asymmetry, report.gradient_share, report.cyclic_share) == (0, None, None)
    assert report.most_asymmetric is None
    assert row(report, "asymmetry").text == "none"
    nearly = asymmetry_report(S * (1 + 1e-4 * np.triu(np.ones((8, 8)))))
    assert nearly.verdict == report.verdict
    assert 0 < nearly.asymmetry < module.SYMMETRIC
    assert nearly.gradient_share + nearly.cyclic_share == 1
    rounded = asymmetry_report(S * (1 + 2e-16 * np.random.default_rng(0).integers(0, 3, S.shape)))
    assert rounded.asymmetry > 0
    assert rounded.gradient_share is None  # Shares of rounding would be noise.
    S[0, 1] = np.nan
    assert "pairs known one way only (1) say nothing" in asymmetry_report(S).verdict


def test_verdict_disconnected():
    D = np.full((5, 5), np.nan)
    D[0, 1] = D[1, 0] = D[2, 3] = D[3, 4] = 1.0
    report = asymmetry_report(D)
    assert report.verdict.startswith("The points fall into 2 groups with no known pair between them")
    assert "no: 2 groups, of 3, 2 points" in str(report)
    alone = str(asymmetry_report(np.ones((8, 8)) - np.eye(8), np.eye(8)))
    assert "no: 8 groups, of 1, 1, 1, 1, 1, … points" in alone


def test_verdict_one_way():
    D = np.where(np.triu(np.ones((4, 4)), 1) > 0, 2.0, np.inf)
    np.fill_diagonal(D, 0)
    report = asymmetry_report(D)
    assert report.verdict.startswith("No pair is known both ways")
    assert (report.asymmetry, report.gradient_share, report.ratio_quantiles) == (None, None, {})
    assert row(report, "asymmetry").text == "no pair is known both ways"
    assert "yes, but not both ways" in str(report)


def test_verdict_between_gradient_and_cyclic():
    h = np.array([0.0, 1.0, 2.0])
    for strength, expected in (
        (0.5, "A Randers map of enough dimensions can show up to 88.9 %"),
        (2.0, "Only 33.3 % of its squares follow heights"),
    ):
        D = 10 * (1 - np.eye(3)) + (h - h[:, None]) + strength * (CYCLE - CYCLE.T) / 2
        report = asymmetry_report(D)
        assert expected in report.verdict


def row(report, name):
    """The only row of that name."""
    (found,) = [row for row in report.rows() if row.name == name]
    return found


def test_rows_and_the_printed_report():
    D = CYCLE + [[0, 1, 20], [0, 0, 1], [0, 0, 0]]
    report = asymmetry_report(D, labels=["a", "b", "c"])
    detour = row(report, "shorter by a detour")
    assert detour.value == report.triangle_violations == pytest.approx(1 / 3)
    assert detour.text == "33.3 % of 6 triangles; are these similarities, or flows?"
    assert row(report, "worst detour").text == "a to c: 21, by way of b 8"
    assert row(report, "worst detour").value == report.worst_triangle
    assert row(report, "most asymmetric").text == "a to c: 21 there, 3 back"
    assert row(report, "of it follows heights").value == report.gradient_share
    assert row(report, "of it runs in circles").value == report.cyclic_share
    title, *lines = str(report).split("\n")
    assert title == "Asymmetry of 3 points"
    assert max(map(len, lines)) < 100
    table = [line for line in lines if line.startswith("  ")]
    assert table == [f"  {row.name:<24}{row.text}" for row in report.rows()]
    assert all(len(row.name) < 24 for row in report.rows())
    sampled = asymmetry_report(D, random_state=4, max_triangles=5)
    assert "sampled triangles (random_state 4)" in row(sampled, "shorter by a detour").text
    assert row(asymmetry_report([[0, 1], [2, 0]]), "shorter by a detour").text == "no triangle is known"


def test_report_is_a_frozen_record():
    report = asymmetry_report(CYCLE)
    with pytest.raises(FrozenInstanceError):
        report.verdict = "all is well"


@pytest.mark.parametrize("unknown", [0.0, 0.5, 1.0])
def test_to_dict_is_json(unknown):
    D, W = random_dissimilarities(8, 16, unknown, True)
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
    assert asymmetry_report(as_dissimilarities(D)).to_dict() == report.to_dict()


def test_objects_and_masks_that_are_numbers():
    D, _ = random_dissimilarities(6, 17)
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


def test_bounds_count_as_unreachable():
    D, _ = random_dissimilarities(8, 3, 0.5)
    plain, kept_far = asymmetry_report(D), asymmetry_report(as_dissimilarities(D, missing="hinge"))
    assert plain.unreachable > 0
    assert plain.to_dict() == kept_far.to_dict()


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"labels": ["a"]}, "labels"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": 0.5}, "random_state"),
        ({"max_triangles": -1}, "max_triangles"),
        ({"max_triangles": "all"}, "max_triangles"),
        ({"sample": 3}, "sample"),
        ({"sample": 7.5}, "sample"),
        ({"diagonal": "use"}, "diagonal"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_options(options, argument):
    with pytest.raises(InputError, match=argument):
        asymmetry_report(CYCLE, **options)


def message(function, *args, **options):
    """Message with which a function refuses its arguments; nothing if it takes them."""
    try:
        function(*args, **options)
    except InputError as error:
        return str(error)
    return ""


GOOD = np.array([[0.0, 1.0, 2.0, 1.0], [1.5, 0.0, 1.0, 2.0], [2.5, 1.2, 0.0, 1.0], [1.0, 1.0, 2.0, 0.0]])
NAMES = list("abcd")


def changed(i, j, value, dtype=float):
    D = GOOD.astype(dtype)
    D[i, j] = value
    return D


def frame(values=GOOD, index=NAMES, columns=NAMES):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(values, index=index, columns=columns)


INPUTS = {
    "good": lambda: (GOOD, None),
    "integers": lambda: ((10 * GOOD).astype(int), None),
    "list": lambda: (GOOD.tolist(), None),
    "text of numbers": lambda: (GOOD.astype(str), None),
    "rounding on the diagonal": lambda: (changed(1, 1, 1e-12), None),
    "DataFrame": lambda: (frame(), None),
    "index only": lambda: (frame(columns=range(4)), None),
    "weights": lambda: (GOOD, np.ones((4, 4))),
    "not square": lambda: (np.ones((3, 4)), None),
    "vector": lambda: (np.ones(9), None),
    "cube": lambda: (np.ones((2, 2, 2)), None),
    "ragged": lambda: ([[0, 1], [1]], None),
    "empty": lambda: (np.empty((0, 0)), None),
    "negative": lambda: (changed(0, 2, -1.0), None),
    "minus infinity": lambda: (changed(0, 2, -np.inf), None),
    "diagonal": lambda: (changed(2, 2, 0.5), None),
    "zero row": lambda: (GOOD * [[1.0], [0.0], [1.0], [1.0]], None),
    "huge": lambda: (GOOD * 1e200, None),
    "tiny": lambda: (GOOD * 1e-200, None),
    "complex": lambda: (GOOD + 1j, None),
    "words": lambda: (changed(1, 0, "x", object), None),
    "dates": lambda: (np.full((4, 4), "2020-01-01", dtype="datetime64[D]"), None),
    "sparse": lambda: (csr_array(GOOD), None),
    "columns in another order": lambda: (frame()[NAMES[::-1]], None),
    "other columns": lambda: (frame(columns=list("abce")), None),
    "words in a DataFrame": lambda: (frame(changed(1, 0, "n/a", object)), None),
    "weights of another shape": lambda: (GOOD, np.ones((3, 3))),
    "negative weights": lambda: (GOOD, changed(0, 1, -1.0)),
    "missing weights": lambda: (GOOD, changed(0, 1, np.nan)),
    "weights with other labels": lambda: (frame(), frame(np.ones((4, 4)), NAMES[::-1], NAMES[::-1])),
    "words for weights": lambda: (GOOD, np.full((4, 4), "heavy")),
}
TAKEN = list(INPUTS)[:8]


@pytest.mark.parametrize("name", INPUTS)
def test_report_map_and_comparison_take_and_refuse_the_same(name):
    # The report took negative dissimilarities, any diagonal and other labels of columns, which a map refuses.
    D, weights = INPUTS[name]()
    reported = message(asymmetry_report, D, weights)
    assert reported == message(embed_matrix, D, weights=weights, alpha=0.1)
    assert reported == message(compare_models, D, weights=weights, models=["symmetric"], max_iter=2)
    assert (reported == "") == (name in TAKEN)


def town(n=300, slope=0.2):
    return as_digraph(make_city(n, slope=slope).graph)


def test_a_graph_is_its_shortest_paths():
    graph = town()
    expected = asymmetry_report(graph_distances(graph))
    assert asymmetry_report(graph).to_dict() == expected.to_dict()
    assert asymmetry_report(graph, sample=graph.n_nodes).to_dict() == expected.to_dict()
    hops = asymmetry_report(graph, hops=True)
    assert hops.to_dict() == asymmetry_report(graph_distances(graph, hops=True)).to_dict()
    networkx = pytest.importorskip("networkx")
    assert asymmetry_report(networkx.DiGraph([(0, 1), (1, 2), (2, 0)])).n_pairs == 6
    with pytest.raises(InputError, match="labels"):
        asymmetry_report(graph, labels=["a"])


def test_some_rows_stand_for_all(monkeypatch):
    graph = town(900, 0.3)
    full, part = asymmetry_report(graph), asymmetry_report(graph, sample=40, random_state=1)
    assert (full.n_rows, full.errors, part.n_rows) == (None, {}, 40)
    assert part.n_looked_at == 2 * 40 * 899 - 40 * 39
    for name in ("asymmetry", "gradient_share"):
        assert getattr(part, name) == pytest.approx(getattr(full, name), abs=3 * part.errors[name])
        assert part.is_significant(name)
    assert (part.components, part.strongly_connected) == (1, True)
    assert part.ratio_quantiles[0.5] == pytest.approx(full.ratio_quantiles[0.5], rel=0.1)
    assert np.corrcoef(part.heights, full.heights)[0, 1] > 0.99
    assert "±" in row(part, "of it follows heights").text
    assert "from and to 40 points" in row(part, "pairs known").text
    assert not [line for line in part.rows() if line.name == "shorter by a detour"]
    assert json.loads(json.dumps(part.to_dict(), allow_nan=False))["n_rows"] == 40
    monkeypatch.setattr(module, "DENSE_NODES", 100)
    assert asymmetry_report(graph).n_rows == 50
    pairs = graph_distances(graph).matrix
    some = asymmetry_report(pairs, sample=40, random_state=1)  # a matrix, too
    assert some.asymmetry == pytest.approx(full.asymmetry, abs=3 * some.errors["asymmetry"])


def test_a_share_that_is_not_significant_is_said_to_be_so():
    # Printed "of it, gradient -0.0305", and "only 0 % of it follows heights".
    D = np.random.default_rng(1).uniform(1, 2, (200, 200))
    np.fill_diagonal(D, 0)
    report = asymmetry_report(D, sample=20)
    assert report.gradient_share < 0
    assert not report.is_significant("gradient_share")
    assert row(report, "of it follows heights").value == report.gradient_share
    text = row(report, "of it follows heights").text
    assert text.startswith("0 ± ")
    assert text.endswith("not significantly above 0; noise alone: 0 %")
    assert row(report, "of it runs in circles").text.startswith("100 ± ")
    assert "What follows heights, 0 ± " in report.verdict
    assert "can show" not in report.verdict.split(";")[0]
    assert not [line for line in report.rows() if "to reach" in line.name]


def test_one_way_pairs_of_some_rows():
    graph = as_digraph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (5, 0)])
    full, part = asymmetry_report(graph), asymmetry_report(graph, sample=5)
    assert full.one_way == 12
    assert part.n_pairs + part.unreachable == part.n_looked_at
    assert not part.strongly_connected
    chain = asymmetry_report(as_digraph([(i, i + 1) for i in range(8)]), sample=5)
    assert "nothing tells" in chain.verdict
    assert chain.asymmetry is None


def noisy(n=16, slope=0.0, circle=0.0, seed=0):
    """Dissimilarities whose skew part is noise, a slope and a circle that all points run round."""
    rng = np.random.default_rng(seed)
    A, turn, h = rng.normal(size=(n, n)), 2 * np.pi * np.arange(n) / n, np.arange(n)
    A = np.triu(A, 1) - np.triu(A, 1).T + slope * (h - h[:, None]) + circle * np.sin(turn - turn[:, None])
    return np.where(np.eye(n), 0.0, 20 + A)


def test_beside_every_share_stands_what_noise_alone_gives():
    # Printed "only 9.7 % of it follows heights", of noise.
    report = asymmetry_report(noisy())
    heights, circles = row(report, "of it follows heights"), row(report, "of it runs in circles")
    assert (heights.noise, circles.noise) == (pytest.approx(2 / 16), pytest.approx(14 / 16))
    assert report.noise == {"gradient_share": heights.noise, "cyclic_share": circles.noise}
    assert report.p_values == {"gradient_share": heights.p, "circle": circles.p}
    assert "noise alone: 12.5 %, p = " in heights.text
    assert "noise alone: 87.5 %; none stands out" in circles.text
    assert not report.is_significant("gradient_share")
    assert "may be noise" in report.verdict
    assert not [line for line in report.rows() if "to reach" in line.name]


def test_the_verdict_uses_the_test():
    slope = asymmetry_report(noisy(slope=0.3))
    assert slope.is_significant("gradient_share")
    assert "can show up to" in slope.verdict
    circle = asymmetry_report(noisy(slope=0.3, circle=3.0))
    assert circle.p_values["circle"] == 0.005
    assert "one stands out" in row(circle, "of it runs in circles").text
    assert "the rest runs in circles, which no such map can show" in circle.verdict
    weak = asymmetry_report(noisy(slope=0.12))
    assert weak.is_significant("gradient_share")
    assert "the rest may be noise" in weak.verdict


def test_the_asymmetry_is_a_root():
    report = asymmetry_report([[0, 2], [1, 0]])
    assert report.symmetric_stress == row(report, "asymmetry").value == pytest.approx(0.1**0.5)
    D, _ = random_dissimilarities(9, 3)
    assert embed_matrix(D, alpha=0, n_components=8).normalized_stress >= asymmetry_report(D).symmetric_stress
    D[0, 1] = np.nan
    assert "on pairs known both ways" in row(asymmetry_report(D), "asymmetry").text


@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_pairs_cannot_be_told_from_noise(n):
    h = np.arange(n)
    report = asymmetry_report(np.where(np.eye(n), 0.0, 10 + h - h[:, None]))
    assert report.noise["gradient_share"] == pytest.approx(2 / n)
    told = n > 3
    assert ("gradient_share" in report.p_values) == told
    assert ("too few pairs to tell" in report.verdict) != told
    assert "can show up to 100 %" in report.verdict


def test_no_test_of_noise_applies_to_lengths_of_paths():
    report = asymmetry_report(town(60))
    assert report.paths
    assert (report.noise, report.p_values) == ({}, {})
    assert "to which no test of noise applies" in row(report, "of it follows heights").text
    assert "to which no test of noise applies" in report.verdict
    points = geodesic_distances(np.random.default_rng(0).normal(size=(40, 2)), drift=[0.3, 0.0])
    assert asymmetry_report(points).paths
    assert not asymmetry_report(points.matrix).paths  # nothing tells where a plain matrix comes from


def test_what_turns_round_a_center_is_told():
    from finsler.datasets import make_gyre

    report = asymmetry_report(make_gyre(40).times)
    plane, space = report.turning
    assert plane.share > 0.8
    assert row(report, "turns round a center").value == plane.share
    assert row(report, "turns round an axis").p == space.p
    assert "swirl=True" in report.verdict
    assert report.to_dict()["turning"][0]["most"] >= plane.share
    json.dumps(report.to_dict())
    assert asymmetry_report(make_gyre(40).times, sample=10).turning == ()
