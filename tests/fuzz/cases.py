"""Random cases from a seed, cheap enough for hundreds of thousands: each ends as "result" or "refused", or fails.

A check takes the number of a case. Whatever it finds wrong is an AssertionError that tells the numbers; any other error
than those of `finsler.errors` goes through.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from finsler import (
    Embedding,
    FinslerMDS,
    asymmetry_report,
    compare_models,
    embed_graph,
    embed_matrix,
    embed_pairs,
    embed_points,
)  # fmt: skip
from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.errors import InputError
from finsler.geometry import normalized_stress, randers_distances, raw_stress
from finsler.solvers.placement import place
from finsler.solvers.smacof import smacof
from fuzz.public import ANYTHING, ENTRIES, hostile, outcome

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 5e-324, 1e-300, 1e300, 1e-12, 1e12, 1.7e308, 2.0**-1022]
FACTORS = [1e-12, 1e-6, 1e6, 1e12, 2.0**-40, 2.0**40, 2.0**-3, 8.0, 1e-30, 1e30]
OPTIONS = {"max_iter": 6, "n_jobs": 1, "verbose": False, "random_state": 0}


def random_entries(rng: np.random.Generator, n: int) -> Any:
    """Dissimilarities of about one unit, with or without zeros, ties and what does not belong there."""
    kind = rng.integers(6)
    if kind == 0:
        D = rng.uniform(0.1, 2, (n, n))
    elif kind == 1:  # exact
        D = randers_distances(rng.normal(size=(n, 2)), drift=0.3) if n else np.zeros((0, 0))
    elif kind == 2:  # ties
        D = rng.integers(0, 3, (n, n)).astype(float)
    elif kind == 3:  # many magnitudes
        D = 10.0 ** rng.uniform(-18, 18, (n, n))
    elif kind == 4:  # points on one spot
        D = (
            randers_distances(rng.normal(size=(n, 2))[rng.integers(0, max(n, 1), n)], drift=0.2)
            if n
            else np.zeros((0, 0))
        )
    else:
        D = np.ones((n, n))
    np.fill_diagonal(D, 0)
    return D


def spoiled(rng: np.random.Generator, D: Any) -> Any:
    """The same with some special values."""
    D = D.copy()
    for _ in range(int(rng.integers(0, 4))):
        if D.size:
            D[tuple(rng.integers(0, size) for size in D.shape)] = SPECIAL[rng.integers(len(SPECIAL))]
    return D


def contained(rng: np.random.Generator, D: Any) -> Any:
    """The same numbers in one of many containers; not all of them can hold all."""
    kind = int(rng.integers(16))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind < 5:
            return D
        made: list[Callable[[], Any]] = [
            lambda: D.astype(np.float32),
            lambda: D.astype(np.float16),
            lambda: np.nan_to_num(D).astype(int),
            lambda: D > 1,
            lambda: D.astype(object),
            lambda: D.astype(str),
            lambda: np.ma.masked_invalid(D),
            lambda: csr_array(D),
            lambda: pd.DataFrame(D),
            lambda: D.tolist(),
            lambda: np.asfortranarray(D),
        ]
        return made[kind - 5]()


def frozen(values: Any) -> Any:
    """A view with strange strides, or one that cannot be written to."""
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.size:
        wide = np.zeros((2 * len(values), 2 * values.shape[1]), dtype=values.dtype)
        wide[::2, ::2] = values
        values = wide[::2, ::2]
        values.flags.writeable = False
    return values


def copied(values: Any) -> Any:
    return values.copy() if hasattr(values, "copy") else list(values)


def same(a: Any, b: Any) -> bool:
    if hasattr(a, "toarray"):
        a, b = a.toarray(), b.toarray()
    if np.ma.isMaskedArray(a):
        a, b = a.filled(0), b.filled(0)
    a, b = np.asarray(a), np.asarray(b)
    return a.tobytes() == b.tobytes() if a.dtype != object else repr(a.tolist()) == repr(b.tolist())


def finite(found: Embedding) -> None:
    assert np.isfinite(found.coordinates).all(), "coordinates"
    assert found.stress is not None
    assert np.isfinite(found.stress), "stress"
    assert 0 <= found.alpha < 1, "alpha"
    assert np.isfinite(found.stress_per_point).all(), "stress_per_point"


def refused_or(action: Callable[[], Any]) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)  # overflows and 0 / 0 are no way to an answer
        try:
            action()
        except (InputError, MemoryError):
            return "refused"
    return "result"


def hostile_matrix(seed: int) -> str:
    """Any array for a map, a report or a comparison: a finite result or a refusal, the input as it was."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([0, 1, 2, 3, 4, 6, 8]))
    D = contained(rng, spoiled(rng, random_entries(rng, n)))
    D = frozen(D) if rng.random() < 0.3 else D
    W = contained(rng, spoiled(rng, rng.uniform(0, 2, (n, n)))) if rng.random() < 0.4 else None
    kept = copied(D), None if W is None else copied(W)
    missing = str(rng.choice(["raise", "mask", "hinge"]))
    alpha: Any = "auto" if rng.random() < 0.2 else float(rng.choice([0.0, 0.4]))
    m = int(rng.integers(1, 4))

    def action() -> None:
        which = rng.integers(8)
        if which == 0:
            asymmetry_report(D, W, n_jobs=1)
        elif which == 1 and n <= 4:
            compare_models(D, m, weights=W, missing=missing, models=["symmetric", "randers"], n_init=1, max_iter=3,
                           n_jobs=1, verbose=False)  # fmt: skip
        elif which == 2:
            mds = FinslerMDS(m, alpha=alpha, missing=missing, **OPTIONS).fit(D, weights=W)
            finite(mds.result_)
        else:
            init = str(rng.choice(["classical", "isomap", "random"]))
            finite(
                embed_matrix(D, n_components=m, alpha=alpha, weights=W, missing=missing, init=init, **OPTIONS)
            )

    end = refused_or(action)
    assert same(D, kept[0]), "D was modified"
    assert W is None or same(W, kept[1]), "weights were modified"
    return end


def solvable(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Data of ordinary magnitude, and weights or None; known enough to hang together."""
    D = np.abs(random_entries(rng, n)) if rng.random() < 0.5 else rng.uniform(0.1, 2, (n, n))
    if (
        not 1e-6 < D.max() < 1e6
        or (np.delete(D, range(0, n * n, n + 1)).reshape(n, n - 1).max(axis=1) == 0).any()
    ):
        D = rng.uniform(0.1, 2, (n, n))
    np.fill_diagonal(D, 0)
    kind = rng.integers(4)
    W = None if kind == 0 else rng.uniform(0.1, 2, (n, n))
    if kind == 2:
        W = (W + W.T) / 2
    if kind == 3:
        W[rng.random((n, n)) < 0.2] = 0
        ring = np.arange(n)
        W[ring, (ring + 1) % n] = W[(ring + 1) % n, ring] = 1.0
    return D, W


def solution_of(seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    D, W = solvable(rng, n)
    alpha: Any = (
        "auto" if rng.random() < 0.1 else float(rng.choice([0.0, 0.3, 0.9]))
    )  # which takes ten times as long
    start: Any = ["classical", "isomap", "random", rng.normal(size=(n, m)), np.zeros((n, m))][rng.integers(5)]
    return rng, D, W, m, alpha, start


def solve(D: Any, W: Any, m: int, alpha: Any, start: Any, **options: Any) -> Any:
    return smacof(Dissimilarities(D, W), m, alpha, init=start, **{**OPTIONS, "tol": 0.0, **options})


def stress(seed: int) -> str:
    """The stress never rises, is that of the coordinates, and all is finite."""
    rng, D, W, m, alpha, start = solution_of(seed)
    found = solve(D, W, m, alpha, start, max_iter=12, accelerate=bool(rng.integers(2)))
    assert (np.diff(found.history) <= 0).all(), found.history
    recomputed = raw_stress(found.coordinates, D, W, drift=found.drift)
    assert abs(recomputed - found.stress) <= 1e-9 * found.total, (recomputed, found.stress)
    assert abs(normalized_stress(found.coordinates, D, W, drift=found.drift) - found.normalized_stress) < 1e-6
    assert found.stress <= found.history[-1] + 1e-9 * found.total
    assert np.isfinite(found.coordinates).all()
    assert np.isclose(found.per_point.sum(), 1) or found.stress == 0
    return "result"


def close(a: Any, b: Any, tolerance: float = 1e-6) -> None:
    size = np.abs(b).max(initial=0.0)
    worst = np.abs(np.asarray(a) - b).max(initial=0.0)
    assert worst <= tolerance * size, f"off by {worst / size:.2g}"


def factor_for(rng: np.random.Generator, D: Any) -> float:
    """Change of units. Ties between eigenvalues are broken by rounding, which only powers of two do not change."""
    factors = [c for c in FACTORS if np.frexp(c)[0] == 0.5] if len(np.unique(D)) < D.size / 2 else FACTORS
    return factors[rng.integers(len(factors))]


def scale_of_data(seed: int) -> str:
    """Data in another unit: the map in that unit, the same alpha and normalized stress; exact for powers of two.

    From a single start: cut short after a few iterations, rounding may decide which of several is ahead.
    """
    rng, D, W, m, alpha, start = solution_of(seed)
    factor = factor_for(rng, D)
    plain = solve(D, W, m, alpha, start, max_iter=4, n_init=1)
    scaled = solve(
        D * factor, W, m, alpha, start if isinstance(start, str) else start * factor, max_iter=4, n_init=1
    )
    _compare_scaled(plain, scaled, factor, factor, factor**2)
    return "result"


def scale_of_weights(seed: int) -> str:
    """Weights in another unit: the same map, alpha and normalized stress; exact for powers of two.

    From a single start: cut short after a few iterations, rounding may decide which of several is ahead.
    """
    rng, D, W, m, alpha, start = solution_of(seed)
    W = np.ones(D.shape) if W is None else W
    factor = factor_for(rng, D)
    plain, scaled = (solve(D, W * c, m, alpha, start, max_iter=4, n_init=1) for c in (1.0, factor))
    _compare_scaled(plain, scaled, factor, 1.0, factor)
    return "result"


def _compare_scaled(plain: Any, scaled: Any, factor: float, length: float, square: float) -> None:
    if np.frexp(factor)[0] == 0.5:
        assert (scaled.coordinates == plain.coordinates * length).all(), "not the same bits"
        assert scaled.alpha == plain.alpha
        assert scaled.stress == plain.stress * square
        return
    # A few iterations do not carry rounding far, but where a start or a drift is not determined nothing is kept.
    assert abs(scaled.normalized_stress - plain.normalized_stress) < 1e-5 + 1e-3 * plain.normalized_stress
    if plain.alpha_source != "unclear":
        assert abs(scaled.alpha - plain.alpha) < 1e-3


def permutation(seed: int) -> str:
    """Points in another order: the same map, from the same start."""
    rng, D, W, m, alpha, _ = solution_of(seed)
    n = len(D)
    start, order = rng.normal(size=(n, m)), rng.permutation(n)
    plain = solve(D, W, m, alpha, start, max_iter=3)
    W_mixed = None if W is None else W[np.ix_(order, order)]
    mixed = solve(D[np.ix_(order, order)], W_mixed, m, alpha, start[order], max_iter=3)
    assert abs(mixed.stress - plain.stress) <= 1e-6 * plain.total
    close(randers_distances(mixed.coordinates, drift=mixed.drift),
          randers_distances(plain.coordinates, drift=plain.drift)[np.ix_(order, order)], 1e-5)  # fmt: skip
    return "result"


def transposition(seed: int) -> str:
    """The ways back in place of the ways there: the map upside down."""
    rng, D, W, m, alpha, _ = solution_of(seed)
    start, mirror = rng.normal(size=(len(D), m)), np.append(np.ones(m - 1), -1.0)
    plain = solve(D, W, m, alpha, start, max_iter=3)
    turned = solve(D.T.copy(), None if W is None else W.T.copy(), m, alpha, start * mirror, max_iter=3)
    assert abs(turned.stress - plain.stress) <= 1e-6 * plain.total
    close(randers_distances(turned.coordinates, drift=turned.drift),
          randers_distances(plain.coordinates, drift=plain.drift).T, 1e-5)  # fmt: skip
    return "result"


def threads(seed: int) -> str:
    """Any number of threads: the same bits."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.choice([5, 40, 330])), int(rng.integers(1, 4))
    D, W = solvable(rng, n)
    alpha: Any = [0.3, "auto"][rng.integers(2)]
    one, many = (
        solve(D, W, m, alpha, "random", max_iter=1, n_jobs=jobs).coordinates
        for jobs in (1, int(rng.integers(2, 9)))
    )
    assert (one == many).all(), "not the same bits"
    return "result"


def placement(seed: int) -> str:
    """New points: finite or refused, inputs as they were, in any unit."""
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(1, 7)), int(rng.integers(1, 4)), int(rng.integers(1, 3))
    X, drift = rng.normal(size=(n, m)), float(rng.choice([0.0, 0.5]))
    rows = randers_distances(rng.normal(size=(k, m)), X, drift=drift)
    if rng.random() < 0.5:
        rows = contained(rng, spoiled(rng, rows))
        kept = copied(rows)

        def action() -> None:
            found = place(X, drift, to_fitted=rows, n_jobs=1, max_iter=20)
            assert np.isfinite(found.coordinates).all()
            assert np.isfinite(found.misfit).all()

        end = refused_or(action)
        assert same(rows, kept), "modified"
        return end
    factor = FACTORS[rng.integers(len(FACTORS))]
    rows = rows * rng.uniform(0.8, 1.2, rows.shape)
    plain = place(X, drift, to_fitted=rows, n_jobs=1)
    scaled = place(X * factor, drift, to_fitted=rows * factor, n_jobs=1)
    if np.frexp(factor)[0] == 0.5:
        assert (scaled.coordinates == factor * plain.coordinates).all(), "not the same bits"
    if plain.converged and scaled.converged and n > m + 1:  # fewer points leave the place open
        assert np.allclose(scaled.misfit, plain.misfit, atol=1e-4), (scaled.misfit, plain.misfit)
    return "result"


def graphs(seed: int) -> str:
    """Random arcs, dense and sparse maps: finite or refused; lengths in another unit give the map in that unit."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    A = rng.uniform(0.5, 2, (n, n)) * (rng.random((n, n)) < 0.7)
    bad = rng.random() < 0.3
    A = spoiled(rng, A) if bad else A
    method: Any = ["dense", "sparse"][rng.integers(2)]
    options: Any = {
        "method": method,
        "n_pivots": int(rng.integers(1, 9)),
        "alpha": [0.3, "auto"][rng.integers(2)],
    }
    if rng.random() < 0.3:
        options["unreachable"] = str(rng.choice(["mask", "largest", "hinge", "raise"]))
    factor = 1.0 if bad else [2.0**-40, 2.0**30, 1e-6, 1e6][rng.integers(4)]
    found = []

    def action() -> None:
        with np.errstate(invalid="ignore"):
            arcs = [csr_array(A), csr_array(A * factor)]
        for graph in arcs:
            kept = copied(graph)
            found.append(embed_graph(graph, **options, **OPTIONS))
            finite(found[-1])
            assert same(graph, kept), "modified"

    end = refused_or(action)
    if end == "result" and not bad:
        a, b = (item.normalized_stress for item in found)
        assert abs(a - b) < 1e-3 + 1e-2 * a, (a, b)
    else:
        assert len(found) in (0, 2), "one unit is refused, another is not"
    return end


def points(seed: int) -> str:
    """Random points and fields: finite or refused, inputs as they were."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([1, 2, 3, 6, 8])), int(rng.integers(1, 4))
    X = contained(rng, spoiled(rng, rng.normal(size=(n, d)) * 10.0 ** rng.integers(-9, 9)))
    field = str(rng.choice(["drift", "current"]))
    values = spoiled(rng, rng.uniform(-0.5, 0.5, (n, d)) / np.sqrt(d))
    kept = copied(X), values.copy()

    def action() -> None:
        options: Any = {field: values} if rng.random() < 0.8 else {}
        n_neighbors = int(rng.integers(1, 6))
        finite(
            embed_points(
                X, n_components=int(rng.integers(1, 4)), n_neighbors=n_neighbors, **options, **OPTIONS
            )
        )

    end = refused_or(action)
    assert same(X, kept[0]), "modified"
    assert same(values, kept[1]), "modified"
    return end


def pairs(seed: int) -> str:
    """Random long tables: finite or refused."""
    rng = np.random.default_rng(seed)
    names: list[Any] = ["a", "b", 3, 4.5, True, "é", "", None, ("x", 1), "L" * 5000]
    names = [names[k] for k in rng.permutation(len(names))[: rng.integers(2, 7)]]
    rows = [
        (names[rng.integers(len(names))], names[rng.integers(len(names))],
         float(rng.choice([1.0, 2.0, 0.5, *SPECIAL])) if rng.random() < 0.3 else float(rng.uniform(0.5, 2)))
        for _ in range(rng.integers(1, 40))
    ]  # fmt: skip
    table: Any = rows if rng.random() < 0.5 else pd.DataFrame(rows, columns=["from", "to", "cost"])
    options = {"aggregate": str(rng.choice(["mean", "sum", "min", "max", "median", "first", "last"]))}
    if rng.random() < 0.3:
        options["similarity"] = str(rng.choice(["gravity", "transition", "rank", "linear"]))
    kept = copied(table)
    end = refused_or(lambda: finite(embed_pairs(table, **options, **OPTIONS)))
    assert repr(table) == repr(kept), "modified"
    return end


def answers(*actions: Callable[[], Any]) -> list[Any]:
    """What the same data give in several units; nothing if a row that counts is all zero, which is refused in each."""
    found, refused = [], 0
    for action in actions:
        try:
            found.append(action())
        except InputError as error:
            if "all zero" not in str(error):
                raise
            refused += 1
    assert not (found and refused), "one unit is refused, another is not"
    return found


def report(seed: int) -> str:
    """The report in another unit is the same."""
    rng = np.random.default_rng(seed)
    D, W = solvable(rng, int(rng.integers(3, 9)))
    factor, heavier = FACTORS[rng.integers(len(FACTORS))], FACTORS[rng.integers(len(FACTORS))]
    found = answers(
        lambda: asymmetry_report(D, W, n_jobs=1),
        lambda: asymmetry_report(D * factor, None if W is None else W * heavier, n_jobs=1),
    )
    if not found:
        return "refused"
    plain, scaled = found
    for name in ("asymmetry", "gradient_share", "cyclic_share"):
        a, b = getattr(plain, name), getattr(scaled, name)
        assert (a is None) == (b is None), name
        assert a is None or abs(a - b) < 1e-6, (name, a, b)
    return "result"


def comparison(seed: int) -> str:
    """Older models, too, know no unit, of the data or of the weights."""
    rng = np.random.default_rng(seed)
    D, W = solvable(rng, int(rng.integers(4, 7)))
    W = np.ones(D.shape) if W is None else W
    factor, heavier = factor_for(rng, D), factor_for(rng, D)
    options: Any = {"n_init": 1, "max_iter": 3, "n_jobs": 1, "verbose": False, "random_state": 0}
    found = answers(
        lambda: compare_models(D, weights=W, **options),
        lambda: compare_models(D * factor, weights=W * heavier, **options),
    )
    if not found:
        return "refused"
    plain, scaled = found
    for record in plain:
        other = scaled[record.name].normalized_stress
        assert abs(record.normalized_stress - other) < 1e-4 + 1e-2 * other, (
            record.name,
            record.normalized_stress,
            other,
        )
    return "result"


def two_arguments(seed: int) -> str:
    """Two hostile values at once, for anything public."""
    rng = np.random.default_rng(seed)
    entry = ENTRIES[rng.integers(len(ENTRIES))]
    names = [name for name in entry.parameters if name not in ANYTHING]
    if not names or entry.name.startswith(
        ("LinkPredictor", "plot_", "explore", "Embedding.explore", "Embedding.plot")
    ):
        return "not asked"  # seconds each; tests/fuzz/test_arguments.py asks them once
    values = hostile()
    words = list(values)
    chosen = {names[rng.integers(len(names))]: values[words[rng.integers(len(words))]] for _ in range(2)}
    found = outcome(entry, chosen)
    assert found.kind in ("result", "refused"), f"{entry.name}: {found.kind}: {found.text}"
    return found.kind


def checked_matrix(seed: int) -> str:
    """What the check of a matrix lets pass is what it says: finite where it counts, square, labeled."""
    rng = np.random.default_rng(seed)
    D = contained(rng, spoiled(rng, random_entries(rng, int(rng.integers(0, 7)))))
    missing, found = str(rng.choice(["raise", "mask", "hinge"])), []
    end = refused_or(lambda: found.append(as_dissimilarities(D, missing=missing)))
    for data in found:
        counts = ~np.eye(data.n_points, dtype=bool) if data.weights is None else data.weights > 0
        assert np.isfinite(data.matrix[counts]).all()
        assert missing == "hinge" or (data.matrix[counts] >= 0).all()
    return end


CHECKS: dict[str, Callable[[int], str]] = {
    check.__name__: check
    for check in (
        hostile_matrix, checked_matrix, stress, scale_of_data, scale_of_weights, permutation, transposition, threads,
        placement, graphs, points, pairs, report, comparison, two_arguments,
    )
}  # fmt: skip
COSTLY = {
    "threads": 0.02,
    "comparison": 0.1,
    "graphs": 0.3,
    "points": 0.3,
    "two_arguments": 1.0,
}  # cases beside others
