"""`finsler.data.similarities` against plain loops, examples worked by hand, and real counts."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import spearmanr

from finsler.data.matrix import as_dissimilarities
from finsler.data.similarities import dissimilarities_from

from helpers import flows, real_file

TRANSFORMS = ["gravity", "transition", "rank", "linear"]
gravity, transition, rank, linear = (
    partial(dissimilarities_from, transform=name, zeros="keep") for name in TRANSFORMS
)


def random_counts(seed=0, n=7, zero=0.2):
    """Counts with some zeros, ties, and a diagonal that is the largest of its row; two partners at least."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 12, size=(n, n)) * (rng.random((n, n)) > zero)
    i = np.arange(n)
    for shift in (1, 2):
        counts[i, (i + shift) % n] = np.maximum(counts[i, (i + shift) % n], shift)
    counts[i, i] = rng.integers(12, 40, size=n)
    return counts.astype(float)


def slow(counts, transform, **options):
    """One entry at a time, from the formulas."""
    n = len(counts)
    others = {i: [j for j in range(n) if j != i] for i in range(n)}
    total = sum(counts[i][j] for i in range(n) for j in others[i])
    positive = [counts[i][j] for i in range(n) for j in others[i] if counts[i][j] > 0]
    D = np.zeros((n, n))
    for i in range(n):
        out = sum(counts[i][j] for j in others[i])
        for j in others[i]:
            s = counts[i][j]
            if transform == "gravity":
                into = sum(counts[k][j] for k in others[j])
                D[i, j] = (out * into / total / s) ** (1 / options.get("exponent", 2)) if s > 0 else math.inf
            elif transform == "transition":
                whole = counts[i][i] if options.get("diagonal") == "use" else out
                D[i, j] = -math.log(s / whole) if s > 0 else math.inf
            elif transform == "rank":
                more = sum(counts[i][k] > s for k in others[i])
                same = sum(counts[i][k] == s for k in others[i])
                D[i, j] = more + (same + 1) / 2
            elif options.get("diagonal") == "use":
                D[i, j] = 1 - s / counts[i][i]
            else:
                D[i, j] = max(positive) + min(positive) - s
    return D


OPTIONS = [
    ("gravity", {}),
    ("gravity", {"exponent": 0.7}),
    ("transition", {}),
    ("transition", {"diagonal": "use"}),
    ("rank", {}),
    ("linear", {}),
    ("linear", {"diagonal": "use"}),
]


@pytest.mark.parametrize(("transform", "options"), OPTIONS)
def test_against_loops(transform, options):
    for seed in range(5):
        counts = random_counts(seed)
        expected = slow(counts, transform, **options)
        found = dissimilarities_from(counts, transform=transform, zeros="keep", **options)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)

        zero = (counts == 0) & ~np.eye(len(counts), dtype=bool)
        assert zero.any()
        found = dissimilarities_from(counts, transform=transform, **options)
        np.testing.assert_allclose(found, np.where(zero, np.nan, expected), rtol=1e-12, atol=1e-15)

        found = dissimilarities_from(
            counts, transform=transform, zeros="pseudocount", pseudocount=0.25, **options
        )
        np.testing.assert_allclose(found, slow(counts + 0.25, transform, **options), rtol=1e-12, atol=1e-15)


def test_gravity_by_hand():
    # out = (6, 4, 2), in = (3, 6, 3), total 12.
    counts = [[99, 4, 2], [3, 99, 1], [0, 2, 99]]
    expected = [
        [0, 6 * 6 / 12 / 4, 6 * 3 / 12 / 2],
        [4 * 3 / 12 / 3, 0, 4 * 3 / 12 / 1],
        [np.nan, 2 * 6 / 12 / 2, 0],
    ]
    np.testing.assert_allclose(dissimilarities_from(counts), np.sqrt(expected))
    np.testing.assert_allclose(dissimilarities_from(counts, exponent=1), expected)


def test_gravity_gives_the_distances_of_a_gravity_model_back_up_to_scale():
    # Points on a ring are all alike, so the sums of rows and columns are proportional to the masses only.
    n = 12
    angle = 2 * np.pi * np.arange(n) / n
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    distance = np.linalg.norm(X[:, None] - X, axis=2) + 5 * np.eye(n)
    found = gravity(7 / distance**2)
    off = ~np.eye(n, dtype=bool)
    ratio = found[off] / distance[off]
    np.testing.assert_allclose(ratio, ratio[0])


def test_transition_by_hand():
    counts = [[8, 1, 3], [2, 8, 2], [0.0, 0.0, 8]]
    counts[2][:2] = [4, 1]
    found = transition(counts)
    np.testing.assert_allclose(found[0], [0, math.log(4), math.log(4 / 3)])
    np.testing.assert_allclose(found[2], [math.log(5 / 4), math.log(5), 0])
    np.testing.assert_allclose(transition(counts, diagonal="use")[0], [0, math.log(8), math.log(8 / 3)])


def test_shepard_is_the_mean_of_both_ways():
    P = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7]])
    D = transition(P, diagonal="use")
    assert (D[0, 1] + D[1, 0]) / 2 == pytest.approx(-math.log(math.sqrt(0.2 * 0.3 / (0.7 * 0.6))))


def test_ranks_by_hand():
    counts = [[50, 8, 3, 3, 0], [1, 0, 2, 3, 4], [5, 5, 0, 5, 5], [0, 0, 1, 0, 0], [4, 3, 2, 1, 0]]
    expected = [
        [0, 1, 2.5, 2.5, 4],
        [4, 0, 3, 2, 1],
        [2.5, 2.5, 0, 2.5, 2.5],
        [3, 3, 1, 0, 3],
        [1, 2, 3, 4, 0],
    ]
    np.testing.assert_array_equal(rank(counts), expected)
    missing = dissimilarities_from(counts, transform="rank")
    assert np.isnan(missing[0, 4])
    np.testing.assert_array_equal(missing[3], [np.nan, np.nan, 1, 0, np.nan])


@settings(max_examples=80)
@given(
    seed=st.integers(0, 10**6),
    zero=st.floats(0, 0.6),
    zeros=st.sampled_from(["missing", "pseudocount", "keep"]),
    which=st.sampled_from(OPTIONS),
)
def test_the_result_is_accepted_as_dissimilarities(seed, zero, zeros, which):
    counts = random_counts(seed, zero=zero)
    before = counts.copy()
    transform, options = which
    D = dissimilarities_from(counts, transform=transform, zeros=zeros, **options)
    np.testing.assert_array_equal(counts, before)
    assert not np.diagonal(D).any()
    assert not (D < 0).any()
    assert np.isnan(D).sum() == (np.count_nonzero(counts == 0) if zeros == "missing" else 0)
    assert as_dissimilarities(D, missing="mask").n_points == len(counts)
    if transform in ("gravity", "rank") or options == {}:
        assert np.nanmin(D[~np.eye(len(D), dtype=bool)]) > 0


@pytest.mark.parametrize("factor", [1e-3, 7.0, 1e6])
def test_scale(factor):
    counts = random_counts()
    for transform in ("gravity", "transition", "rank"):
        D = dissimilarities_from(counts, transform=transform)
        np.testing.assert_allclose(dissimilarities_from(factor * counts, transform=transform), D, rtol=1e-12)
    np.testing.assert_allclose(linear(factor * counts), factor * linear(counts))
    rows = np.linspace(1, factor, len(counts))[:, None]
    np.testing.assert_allclose(transition(rows * counts), transition(counts), atol=1e-12)
    np.testing.assert_allclose(
        transition(rows * counts, diagonal="use"), transition(counts, diagonal="use"), atol=1e-12
    )


def test_more_is_nearer_and_directions_are_kept():
    counts = np.array([[0.0, 10.0, 1.0], [2.0, 0.0, 6.0], [5.0, 5.0, 0.0]])
    for transform in TRANSFORMS:
        D = dissimilarities_from(counts, transform=transform)
        more = counts.copy()
        more[0, 2] += 1
        assert dissimilarities_from(more, transform=transform)[0, 2] <= D[0, 2]
        assert D[0, 1] < D[0, 2]  # the row decides, not the column
    np.testing.assert_allclose(gravity(counts.T), gravity(counts).T)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_the_diagonal_is_ignored(transform):
    counts = random_counts()
    other = counts.copy()
    np.fill_diagonal(other, 0)
    np.testing.assert_array_equal(
        dissimilarities_from(counts, transform=transform), dissimilarities_from(other, transform=transform)
    )


@pytest.mark.parametrize(("transform", "options"), OPTIONS)
def test_labels_survive(transform, options):
    names = list("abcdefg")
    frame = pd.DataFrame(random_counts().astype(int), index=names, columns=names)
    found = dissimilarities_from(frame, transform=transform, **options)
    assert isinstance(found, pd.DataFrame)
    assert list(found.index) == list(found.columns) == names
    np.testing.assert_array_equal(
        found, dissimilarities_from(frame.to_numpy(), transform=transform, **options)
    )
    assert as_dissimilarities(found, missing="mask").labels == names


def test_sparse_counts():
    counts = random_counts()
    np.testing.assert_array_equal(dissimilarities_from(csr_array(counts)), dissimilarities_from(counts))


def labeled(values):
    return pd.DataFrame(values, index=list("abc"), columns=list("abc"))


EMPTY = [[5, 1, 2], [0, 9, 0], [1, 1, 4]]
SINGLE = [[5, 1, 2], [3, 9, 0], [1, 1, 4]]
BAD = [
    (np.ones((2, 3)), {}, r"square matrix.*\(2, 3\)"),
    (np.ones(3), {}, r"square matrix.*\(3,\)"),
    ([[0, 1], [-2, 0]], {}, r"non-negative; from 1 to 0 it is -2"),
    ([[0, np.nan], [2, 0]], {}, r"finite.*from 0 to 1 it is nan"),
    ([[0, np.inf], [2, 0]], {}, r"finite.*from 0 to 1 it is inf"),
    (labeled([[5.0, 1, 2], [3, 9, -1], [1, 1, 4]]), {}, r"from 1 \('b'\) to 2 \('c'\) it is -1"),
    (pd.DataFrame(SINGLE, index=list("abc"), columns=list("acb")), {}, "different orders"),
    *[
        (labeled(EMPTY), {"transform": t}, r"Nothing goes from 1 \('b'\) to another.*1 of 3")
        for t in TRANSFORMS
    ],
    (EMPTY, {"zeros": "keep", "transform": "linear", "diagonal": "use"}, r"Nothing goes from 1 to another"),
    ([[3]], {}, "Nothing goes from 0"),
    (labeled(SINGLE), {"transform": "transition"}, r"Row 1 \('b'\) of counts has a single partner"),
    (
        labeled([[5, 6, 1], [3, 9, 1], [1, 1, 4]]),
        {"transform": "transition", "diagonal": "use"},
        r"from 0 \('a'\) to 1 \('b'\) it is 6, to itself 5",
    ),
    ([[0, 6, 1], [3, 9, 1], [1, 1, 4]], {"transform": "linear", "diagonal": "use"}, "to itself 0"),
    (SINGLE, {"transform": "log"}, "transform must be .*'gravity'.*got 'log'"),
    (SINGLE, {"zeros": "drop"}, "zeros must be"),
    (SINGLE, {"zeros": "pseudocount", "pseudocount": 0}, "pseudocount must be positive"),
    (SINGLE, {"exponent": 0}, "exponent must be positive"),
    (SINGLE, {"transform": "linear", "diagonal": "skip"}, "diagonal must be 'ignore' or 'use', got 'skip'"),
]


@pytest.mark.parametrize(("counts", "options", "match"), BAD)
def test_bad_input_is_named(counts, options, match):
    with pytest.raises(ValueError, match=match):
        dissimilarities_from(counts, **options)


def test_an_option_of_another_transform_is_refused():
    with pytest.raises(TypeError, match=r"exponent.*rank"):
        dissimilarities_from(SINGLE, transform="rank", exponent=1)


def test_pseudocounts_cure_empty_rows():
    D = dissimilarities_from(EMPTY, transform="transition", zeros="pseudocount", pseudocount=1)
    np.testing.assert_allclose(D[1], [math.log(2), 0, math.log(2)])


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(
    ("name", "n", "zeros"),
    [
        ("generated", 33, 121),
        ("generated", 17, 0),
        ("generated", 47, 743),
        ("erasmus_2012", 33, 121),
        ("korea_migration_2020", 17, 0),
        ("stat_journals_2010", 47, 743),
    ],
)
def test_counts_with_zeros(name, n, zeros, transform):
    if name == "generated":
        counts = pd.DataFrame(flows(n, zeros)[0], [f"c{k}" for k in range(n)], [f"c{k}" for k in range(n)])
    else:
        counts = pd.read_csv(real_file(f"proximities/{name}.csv"), index_col=0)
    D = dissimilarities_from(counts, transform=transform)
    assert D.shape == (n, n)
    assert int(D.isna().sum().sum()) == zeros
    data = as_dissimilarities(D, missing="mask")
    data.require_connected()
    assert data.labels == list(counts.index)


def test_places_with_much_traffic_for_their_size_are_near():
    counts, X = flows(17)
    D = dissimilarities_from(counts)
    far = np.linalg.norm(X[:, None] - X, axis=2)
    both = [spearmanr(np.delete(D[i] + D[:, i], i), np.delete(far[i], i)).statistic for i in range(17)]
    assert min(both) > 0.8


def test_korean_provinces_that_touch_are_near():
    file = real_file("proximities/korea_migration_2020.csv")
    D = dissimilarities_from(pd.read_csv(file, index_col=0))
    nearest = D.mask(np.eye(len(D), dtype=bool)).idxmin(axis=1)
    # Each of these cities was cut out of the province around it.
    for city, province in (
        ("Busan", "Gyeongsangnam-do"),
        ("Daegu", "Gyeongsangbuk-do"),
        ("Gwangju", "Jeollanam-do"),
    ):
        assert nearest[city] == province
