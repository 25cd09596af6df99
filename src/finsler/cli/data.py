"""From a file to a map, as the options of the command line say."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.cli.errors import Mistake, say
from finsler.data.labels import LabelIndex
from finsler.data.matrix import (
    DIAGONAL_TOLERANCE,
    Dissimilarities,
    as_dissimilarities,
)
from finsler.data.similarities import dissimilarities_from
from finsler.data.tables import LABELS, Table, attribute, check_labels, is_number, read_table, read_text
from finsler.embedding import Embedding
from finsler.estimators.mds import FinslerMDS
from finsler.geometry.asymmetry import asymmetry_report
from finsler.geometry.randers import randers_distances
from finsler.graphs.distances import WEIGHTINGS, graph_distances, weigh
from finsler.graphs.neighbors import geodesic_distances
from finsler.graphs.paths import shortest_paths
from finsler.models.compare import asymmetry_shown
from finsler.models.fits import Observations
from finsler.solvers.classical import classical
from finsler.solvers.smacof import smacof

Array = NDArray[Any]

SHOWN_UP_TO = 1000  # points, up to which it takes no time to tell how much of the asymmetry a map shows


@dataclass(frozen=True)
class Reading:
    """Options that say what a file holds and how to measure in it; None is "as usual for its kind"."""

    kind: str = "auto"
    columns: str | None = None
    encoding: str | None = None
    similarity: str | None = None
    zeros: str | None = None
    diagonal: str | None = None
    missing: str | None = None
    unreachable: str | None = None
    connection: str | None = None
    hops: bool = False
    neighbors: int | None = None
    weights: str = "uniform"
    jobs: int | None = None
    quiet: bool = False

    @property
    def verbose(self) -> bool | str:
        """When to show the library's progress line."""
        return False if self.quiet else "auto"


# Which options go with which kinds of tables.
_GOES_WITH = {
    "similarity": ("matrix",),
    "zeros": ("matrix",),
    "diagonal": ("matrix",),
    "missing": ("matrix",),
    "unreachable": ("edges", "points"),
    "connection": ("edges",),
    "hops": ("edges",),
    "neighbors": ("points",),
}


def read_input(file: str, reading: Reading) -> Table:
    """Read the file (``-`` is stdin), say what it is, and refuse options that do not go with it."""
    columns = None if reading.columns is None else [name.strip() for name in reading.columns.split(",")]
    source: Any = sys.stdin.buffer if file == "-" else file
    table = read_table(source, reading.kind, columns=columns, encoding=reading.encoding)
    if not reading.quiet:
        say(table.describe())
    for option, kinds in _GOES_WITH.items():
        if getattr(reading, option) and table.kind not in kinds:
            raise Mistake(
                f"--{option} goes with {' and '.join(kinds)}; {table.name} is read as {table.kind}."
            )
    if reading.zeros and not reading.similarity:
        raise Mistake("--zeros goes with --similarity: it says what a count of zero means.")
    return table


def plain_distances(table: Table, reading: Reading) -> tuple[Array, list[Any] | None]:
    """All distances with their labels, for a look at them: NaN where missing, inf where there is no way."""
    if table.graph is not None:
        if reading.unreachable:
            raise Mistake(
                "--unreachable does not go with a report of edges, which counts the pairs without a path."
            )
        method: Any = "bfs" if reading.hops else "auto"
        D = shortest_paths(table.graph.matrix, method=method, n_jobs=reading.jobs, verbose=reading.verbose)
        return D, table.graph.nodes
    if table.kind == "points":
        data = _point_distances(table, reading)
        return data.matrix, data.labels
    assert table.values is not None
    return _from_counts(table, reading) if reading.similarity else table.values, table.labels


def prepare(table: Table, reading: Reading) -> tuple[Dissimilarities, dict[str, Array]]:
    """Dissimilarities with their weights, ready for a solver, and the attributes of their points."""
    attributes: dict[str, Array] = {}
    if table.kind == "matrix":
        data = _matrix_distances(table, reading)
    elif table.kind == "points":
        data = _point_distances(table, reading)
        assert table.values is not None
        points = LabelIndex(table.labels, len(table.values))
        kept = points.positions(_names(data.labels, data.n_points))
        attributes = {name: values[kept] for name, values in table.attributes.items()}
    else:
        data = graph_distances(
            table.graph,
            hops=reading.hops,
            unreachable=reading.unreachable or "mask",
            connection=reading.connection or "strong",
            n_jobs=reading.jobs,
            verbose=reading.verbose,
        )
    if reading.weights in WEIGHTINGS:
        data = replace(data, weights=weigh(data, WEIGHTINGS[reading.weights]))
    elif table.kind != "matrix":
        W = _read_weights(reading, data)
        known = np.ones(W.shape) if data.weights is None else data.weights
        data = replace(data, weights=np.where(known > 0, W, 0.0))
    return data, attributes


def _matrix_distances(table: Table, reading: Reading) -> Dissimilarities:
    assert table.values is not None
    D = _from_counts(table, reading) if reading.similarity else _without_diagonal(table, reading)
    missing = reading.missing or ("mask" if reading.similarity else "raise")
    plain = Dissimilarities(D, None, table.labels)
    W = None if reading.weights in WEIGHTINGS else _read_weights(reading, plain)
    data = as_dissimilarities(D, W, labels=table.labels, missing=missing, name=table.name)
    facts = data.provenance.having(kind="matrix", similarity=reading.similarity or "")
    return replace(data, provenance=facts)


def _without_diagonal(table: Table, reading: Reading) -> Array:
    """The matrix with a zero diagonal; where it holds anything else, the user must say that it means nothing."""
    assert table.values is not None
    if reading.diagonal == "use":
        raise Mistake("--diagonal use goes with --similarity transition or linear.")
    D = table.values.copy()
    diagonal = np.diagonal(D).copy()
    np.fill_diagonal(D, 0)
    largest = np.max(np.abs(D), where=np.isfinite(D), initial=0)
    wrong = np.flatnonzero(np.abs(np.nan_to_num(diagonal, nan=0.0)) > DIAGONAL_TOLERANCE * largest)
    if wrong.size and reading.diagonal != "ignore":
        i = int(wrong[0])
        point = f"point {i + 1}" if table.labels is None else repr(table.labels[i])
        raise Mistake(
            f"{table.name}: the diagonal is not zero: from {point} to itself it is {diagonal[i]:g}. If it means nothing, "
            "--diagonal ignore; if these are counts or similarities, --similarity gravity (or transition, rank, linear)."
        )
    return D


class _Frame:
    """As much of a DataFrame as it takes for labels to appear in messages."""

    def __init__(self, values: Any, index: list[Any], columns: list[Any]):
        self.values, self.index, self.columns = values, index, columns

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self.values, dtype=dtype)


def _from_counts(table: Table, reading: Reading) -> Array:
    options: dict[str, Any] = {"zeros": reading.zeros or "missing"}
    if reading.diagonal == "use":
        if reading.similarity not in ("transition", "linear"):
            raise Mistake("--diagonal use goes with --similarity transition or linear.")
        options["diagonal"] = "use"
    assert table.values is not None
    names = _names(table.labels, len(table.values))
    counts = _Frame(np.array(table.values), names, names)
    np.fill_diagonal(counts.values, np.nan_to_num(np.diagonal(counts.values), nan=0.0))
    return np.asarray(dissimilarities_from(counts, transform=reading.similarity or "", **options))


def _point_distances(table: Table, reading: Reading) -> Dissimilarities:
    assert table.values is not None
    n = len(table.values)
    if n < 2:
        raise Mistake(f"{table.name}: points need neighbors; there is only one.")
    unreachable = reading.unreachable or "raise"
    if unreachable not in ("raise", "largest"):
        raise Mistake(
            f"--unreachable {unreachable} goes with edges; for points in several pieces it is raise or largest, or take "
            "more --neighbors."
        )
    data = geodesic_distances(
        table.values,
        **({table.vector_kind: table.vectors} if table.vector_kind else {}),  # type: ignore[arg-type]
        n_neighbors=reading.neighbors or min(10, n - 1),
        unreachable=unreachable,
        n_jobs=reading.jobs,
        verbose=reading.verbose,
    )
    rows = range(n) if data.labels is None else data.labels  # of the points kept
    labels = None if table.labels is None and data.labels is None else _names(table.labels, n)
    return replace(data, labels=None if labels is None else [labels[i] for i in rows])


def _names(labels: Sequence[Any] | None, n: int) -> list[Any]:
    return list(range(n)) if labels is None else list(labels)


def _read_weights(reading: Reading, data: Dissimilarities) -> Array:
    """Matrix of weights from a file, in the order of the data."""
    if not Path(reading.weights).exists():
        raise Mistake(
            f"--weights {reading.weights}: there is no such file; or choose {', '.join(WEIGHTINGS)}."
        )
    table = read_table(reading.weights, "matrix", encoding=reading.encoding)
    assert table.values is not None
    W = table.values.copy()
    np.fill_diagonal(W, 0)  # where it means nothing
    if table.labels is not None and data.labels is not None:
        rows = LabelIndex(table.labels, len(table.labels), "row")
        order = [rows.from_text(str(label), table.name) for label in data.labels]
        W = W[np.ix_(order, order)]
    if len(W) != data.n_points:
        raise Mistake(f"{table.name}: weights for {len(W)} points, where the data have {data.n_points}.")
    if not (np.isfinite(W) & (W >= 0)).all():
        i, j = np.argwhere(~(np.isfinite(W) & (W >= 0)))[0]
        raise Mistake(
            f"{table.name}: weights must be finite and not negative; from {data.name(i)} to {data.name(j)} it is {W[i, j]}."
        )
    return W


@dataclass(frozen=True)
class Fitting:
    """Options of the solvers."""

    dim: int = 2
    alpha: float | str = "auto"
    solver: str = "smacof"
    init: str = "classical"
    starts: int = 1
    seed: int = 0
    max_iter: int | None = None  # None: what the solver thinks best
    tol: float | None = None
    time_limit: float | None = None
    jobs: int | None = None
    verbose: bool | str = "auto"

    def chosen(self, *names: str) -> dict[str, Any]:
        """Those of the named options that the user gave."""
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


def settle(dim: int | None, alpha: str | None, table: Table) -> tuple[int, float | str]:
    """Dimension and alpha, by default those of the recipes: sheets of points hardly determine alpha."""
    if table.kind == "points" and table.values is not None:
        dim = dim or min(table.values.shape[1], 2) + 1  # a sheet, and an axis in which it is tilted
        alpha = alpha or "0.5"
    return dim or 2, "auto" if alpha in (None, "auto") else float(alpha or 0)


def solve(data: Dissimilarities, fitting: Fitting) -> Embedding:
    """Find the map. After Ctrl-C it is the best so far, with status "interrupted"."""
    if fitting.solver == "classical":
        if data.weights is not None:
            raise Mistake("--solver classical needs all pairs and equal weights; use --solver smacof.")
        if fitting.dim > data.n_points:
            raise Mistake(f"--dim {fitting.dim} needs at least as many points; there are {data.n_points}.")
        alpha = fitting.alpha
        if isinstance(alpha, str):  # the one that the closed form itself asks for
            alpha = smacof(data, fitting.dim, alpha, max_iter=0, n_jobs=fitting.jobs, verbose=False).alpha
        return Embedding.from_solution(classical(data, fitting.dim, alpha, n_jobs=fitting.jobs), data)
    mds = FinslerMDS(
        fitting.dim,
        alpha=fitting.alpha,
        init=fitting.init,
        n_init=fitting.starts,
        time_limit=fitting.time_limit,
        n_jobs=fitting.jobs,
        random_state=fitting.seed,
        verbose=fitting.verbose,
        **fitting.chosen("max_iter", "tol"),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the message of the map says it all
        return mds.fit(data).result_


def asymmetry_line(data: Dissimilarities, result: Embedding, jobs: int | None) -> str | None:
    """How much of the asymmetry the map shows, beside what heights could; None if that is undefined, or long to find out."""
    if data.n_points > SHOWN_UP_TO or (data.matrix < 0).any():  # bounds
        return None
    shown = asymmetry_shown(Observations.of(data), result.distances())
    report = asymmetry_report(data.matrix, data.weights, max_triangles=1, n_jobs=jobs)
    if shown is None or report.gradient_share is None:
        return None
    shown = max(shown, 0.0)
    line = f"  shows {100 * shown:.3g} % of the asymmetry; up to {100 * report.gradient_share:.3g} % can be shown"
    if report.gradient_share - shown > 0.2:
        line += f": try --dim {result.n_components + 1}"
    return line


def read_attributes(
    file: str, labels: list[Any] | None, n: int, encoding: str | None = None
) -> dict[str, Array]:
    """Columns of a table with one row per point, found by its label or, without labels, in the order of the map."""
    text = read_text(file, encoding)
    header = text.head[0][1]
    rows = list(text.body(header=True))
    lower = [name.lower() for name in header]
    key = next((lower.index(name) for name in LABELS if name in lower), 0)
    if labels is not None:
        index = LabelIndex([cells[key] for _, cells in rows], len(rows), "row")
        where = f'{text.name}, column "{header[key]}"'
        rows = [rows[index.from_text(str(label), where)] for label in labels]
    elif len(rows) != n:
        raise Mistake(f"{text.name}: {len(rows)} rows for {n} points.")
    return {
        header[k] or f"column {k + 1}": attribute(text, [(row, cells[k]) for row, cells in rows], k)
        for k in range(text.width)
        if labels is None or k != key
    }


def read_new_points(
    file: str, embedding: Embedding, encoding: str | None = None
) -> tuple[list[str] | None, Array]:
    """Rows of new points: their labels, if any, and their values by the points of the map, NaN where not given."""
    text = read_text(sys.stdin.buffer if file == "-" else file, encoding)
    names = [str(label) for label in _names(embedding.labels, embedding.n_points)]
    top = text.head[0][1]
    header = top == names or not all(map(is_number, top[1:] or top))
    header |= set(top[1:]) <= set(names) and not is_number(top[0], blank=False)
    side = top[0] not in names if header else text.width == len(names) + 1
    if header:
        check_labels(top[side:], text.name)
        points = LabelIndex(embedding.labels, embedding.n_points)
        columns = [points.from_text(name, f"{text.name}, header") for name in top[side:]]
    elif text.width - side != len(names):
        raise Mistake(
            f"{text.name}: {text.width} columns without names, where the map has {len(names)} points; name the columns by "
            "the labels of the map."
        )
    else:
        columns = list(range(len(names)))
    labels, values = [], []
    for row, cells in text.body(header):
        line = np.full(len(names), np.nan)
        line[columns] = text.numbers(cells[side:], row, int(side), top if header else None)
        values.append(line)
        labels.append(cells[0])
    if not values:
        raise Mistake(f"{text.name} holds no points.")
    if side:
        check_labels(labels, text.name)
    return (labels if side else None), np.array(values)


def both_ways(embedding: Embedding, i: int, j: int) -> list[tuple[float, float | None]]:
    """From i to j and back: the distance on the map, and the dissimilarity if it is known and was kept."""
    pair = randers_distances(embedding.coordinates[[i, j]], drift=embedding.drift)
    ways: list[tuple[float, float | None]] = []
    for (a, b), value in (((i, j), pair[0, 1]), ((j, i), pair[1, 0])):
        datum, data = None, embedding.data
        if data is not None and i != j and (data.weights is None or data.weights[a, b] > 0):
            datum = float(data.matrix[a, b])
        ways.append(
            (float(value), None if datum is None or datum < 0 else datum)
        )  # a bound is no dissimilarity
    return ways
