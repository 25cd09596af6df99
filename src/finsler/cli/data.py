"""From a file to a map, as the options of the command line say."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.cli.errors import say
from finsler.cli.options import given, stdin_or
from finsler.data.labels import LabelIndex
from finsler.data.matrix import (
    Dissimilarities,
    as_dissimilarities,
)
from finsler.data.pairs import pairs_to_dissimilarities, place_codes
from finsler.data.point_tables import read_attributes
from finsler.data.similarities import from_similarities
from finsler.data.tables import Table, read_table
from finsler.embedding import Embedding
from finsler.errors import InputError
from finsler.estimators.mds import FinslerMDS
from finsler.geometry.randers import randers_distances
from finsler.graphs.digraph import Digraph
from finsler.graphs.distances import WEIGHTINGS, graph_distances, weigh
from finsler.graphs.neighbors import geodesic_distances
from finsler.graphs.readers import open_file

Array = NDArray[Any]


@dataclass(frozen=True)
class Reading:
    """Options that say what a file holds and how to measure in it; None is "as usual for its kind"."""

    kind: str = "auto"
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    encoding: str | None = None
    similarity: str | None = None
    zeros: str | None = None
    diagonal: str | None = None
    missing: str | None = None
    unreachable: str | None = None
    connection: str | None = None
    hops: bool = False
    n_neighbors: int | None = None
    weighting: str = "uniform"
    weights: str | None = None
    n_jobs: int | None = None
    quiet: bool = False

    @classmethod
    def of(cls, context: Any, **fixed: Any) -> Reading:
        """Options of a command."""
        return cls(**{**given(context, *(field.name for field in fields(cls))), **fixed})

    def chosen(self, *names: str) -> dict[str, Any]:
        """Those of the named options that the user gave."""
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    @property
    def verbose(self) -> bool | str:
        """When to show the library's progress line."""
        return False if self.quiet else "auto"


# Which options go with which kinds of tables.
_GOES_WITH = {
    "similarity": ("matrix", "pairs"),
    "zeros": ("matrix", "pairs"),
    "diagonal": ("matrix", "pairs"),
    "missing": ("matrix", "pairs"),
    "unreachable": ("edges", "points"),
    "connection": ("edges",),
    "hops": ("edges",),
    "n_neighbors": ("points",),
    "source": ("edges", "pairs"),
    "target": ("edges", "pairs"),
    "weight": ("edges", "pairs"),
}


def read_input(file: str, reading: Reading) -> Table:
    """Read the file (``-`` is stdin), say what it is, and refuse options that do not go with it."""
    chosen = reading.chosen("source", "target", "similarity", "encoding")
    table = open_file(stdin_or(file), reading.kind, value=reading.weight or "auto", **chosen)
    if not reading.quiet:
        say(table.describe())
    for option, kinds in _GOES_WITH.items():
        if getattr(reading, option) and table.kind not in kinds:
            raise InputError(
                f"goes with {' and '.join(kinds)}; {table.name} is read as {table.kind}.", argument=option
            )
    if reading.zeros and not reading.similarity:
        raise InputError("goes with --similarity: it says what a count of zero means.", argument="zeros")
    return table


def report_data(table: Table, reading: Reading) -> Digraph | Dissimilarities:
    """What a report looks at: gaps are counted, not refused."""
    if table.graph is not None:
        if reading.unreachable:
            raise InputError(
                "does not go with a report of edges, which counts the pairs without a path.",
                argument="unreachable",
            )
        return table.graph
    if table.kind == "points":
        return _point_distances(table, reading)
    if table.kind == "pairs":
        return _pair_distances(table, replace(reading, missing="mask"))
    return _matrix_distances(table, replace(reading, missing="mask"))


def prepare(table: Table, reading: Reading) -> Dissimilarities:
    """Dissimilarities with their weights, ready for a solver."""
    if reading.weights is not None and reading.weighting != "uniform":
        raise InputError("goes without --weights FILE.", argument="weighting")
    if table.kind == "matrix":
        data = _matrix_distances(table, reading)
    elif table.kind == "points":
        data = _point_distances(table, reading)
    elif table.kind == "pairs":
        data = _pair_distances(table, reading)
    else:
        data = graph_distances(
            table.graph,
            hops=reading.hops,
            unreachable=reading.unreachable or "mask",
            connection=reading.connection or "strong",
            n_jobs=reading.n_jobs,
            verbose=reading.verbose,
        )
    if reading.weights is None:
        data = replace(data, weights=weigh(data, WEIGHTINGS[reading.weighting]))
    elif table.kind != "matrix":
        W = _read_weights(reading.weights, reading.encoding, data)
        known = np.ones(W.shape) if data.weights is None else data.weights
        data = replace(data, weights=np.where(known > 0, W, 0.0))
    return data


def _pair_distances(table: Table, reading: Reading) -> Dissimilarities:
    diagonal = "use" if reading.diagonal == "use" else "ignore"
    return pairs_to_dissimilarities(
        table, diagonal=diagonal, **reading.chosen("similarity", "zeros", "missing")
    )


def _matrix_distances(table: Table, reading: Reading) -> Dissimilarities:
    assert table.values is not None
    if reading.diagonal == "use" and not reading.similarity:
        raise InputError("use goes with --similarity transition or linear.", argument="diagonal")
    D = _from_counts(table, reading) if reading.similarity else table.values
    missing = reading.missing or ("mask" if reading.similarity else "raise")
    plain = Dissimilarities(D, None, table.labels)
    W = None if reading.weights is None else _read_weights(reading.weights, reading.encoding, plain)
    diagonal = "ignore" if reading.diagonal == "ignore" else "check"
    data = as_dissimilarities(D, W, labels=table.labels, missing=missing, diagonal=diagonal, name=table.name)
    facts = data.provenance.having(kind="matrix", similarity=reading.similarity or "")
    return replace(data, provenance=facts)


def _from_counts(table: Table, reading: Reading) -> Array:
    return from_similarities(
        np.asarray(table.values),
        str(reading.similarity),
        labels=_names(table.labels, len(np.asarray(table.values))),
        diagonal="use" if reading.diagonal == "use" else "ignore",
        **reading.chosen("zeros"),
    ).matrix


def _point_distances(table: Table, reading: Reading) -> Dissimilarities:
    assert table.values is not None
    n = len(table.values)
    if n < 2:
        raise InputError(f"{table.name}: points need neighbors; there is only one.")
    unreachable = reading.unreachable or "raise"
    if unreachable not in ("raise", "largest"):
        raise InputError(
            f"{unreachable} goes with edges; for points in several pieces it is raise or largest, or take more "
            "--n-neighbors.",
            argument="unreachable",
        )
    data = geodesic_distances(
        table.values,
        **({table.vector_kind: table.vectors} if table.vector_kind else {}),  # type: ignore[arg-type]
        n_neighbors=reading.n_neighbors or min(10, n - 1),
        unreachable=unreachable,
        n_jobs=reading.n_jobs,
        verbose=reading.verbose,
    )
    rows = range(n) if data.labels is None else data.labels  # of the points kept
    labels = None if table.labels is None and data.labels is None else _names(table.labels, n)
    return replace(data, labels=None if labels is None else [labels[i] for i in rows])


def _names(labels: Sequence[Any] | None, n: int) -> list[Any]:
    return list(range(n)) if labels is None else list(labels)


def _read_weights(file: str, encoding: str | None, data: Dissimilarities) -> Array:
    """Matrix of weights from a file, in the order of the data."""
    table = read_table(file, "matrix", encoding=encoding)
    assert table.values is not None
    W = table.values.copy()
    np.fill_diagonal(W, 0)  # where it means nothing
    if table.labels is not None and data.labels is not None:
        rows = LabelIndex(table.labels, len(table.labels), "row")
        order = [rows.from_text(str(label), table.name) for label in data.labels]
        W = W[np.ix_(order, order)]
    if len(W) != data.n_points:
        raise InputError(f"{table.name}: weights for {len(W)} points, where the data have {data.n_points}.")
    if not (np.isfinite(W) & (W >= 0)).all():
        i, j = np.argwhere(~(np.isfinite(W) & (W >= 0)))[0]
        raise InputError(
            f"{table.name}: weights must be finite and not negative; from {data.name(i)} to {data.name(j)} it is {W[i, j]}."
        )
    return W


@dataclass(frozen=True)
class Fitting:
    """Options of the solvers; None is "as usual"."""

    n_components: int | None = None
    alpha: float | str | None = None
    solver: str = "smacof"
    init: str | None = None
    n_init: int | None = None
    random_state: int = 0
    max_iter: int | None = None
    tol: float | None = None
    time_limit: float | None = None
    n_jobs: int | None = None
    verbose: bool | str = "auto"

    @classmethod
    def of(cls, context: Any) -> Fitting:
        """Options of a command."""
        verbose = False if context.params["quiet"] else "auto"
        return cls(**given(context, *(field.name for field in fields(cls))), verbose=verbose)

    def chosen(self, *names: str) -> dict[str, Any]:
        """Those of the named options that the user gave."""
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def settled(self, table: Table) -> Fitting:
        """Dimension and alpha, by default those of the recipes: sheets of points hardly determine alpha."""
        size, alpha = self.n_components, self.alpha
        if table.kind == "points" and table.values is not None:
            size = size or min(table.values.shape[1], 2) + 1  # a sheet, and an axis in which it is tilted
            alpha = 0.5 if alpha is None else alpha
        return replace(self, n_components=size or 2, alpha="auto" if alpha is None else alpha)


def embed_table(
    table: Table, reading: Reading, fitting: Fitting, method: str | None, n_pivots: int | None
) -> Embedding:
    """Find the map of a table."""
    from finsler.cli import sparse

    fitting = fitting.settled(table)
    if sparse.is_sparse(table, method or "auto", n_pivots):
        sparse.refuse(fitting)
        return sparse.solve(table, reading, fitting, method or "auto", n_pivots or 100)
    return solve(prepare(table, reading), fitting)


def solve(data: Dissimilarities, fitting: Fitting) -> Embedding:
    """Find the map. After Ctrl-C it is the best so far, with status "interrupted"."""
    size, alpha = fitting.n_components or 2, "auto" if fitting.alpha is None else fitting.alpha
    names = ("solver", "init", "n_init", "random_state", "max_iter", "tol", "time_limit", "n_jobs", "verbose")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the message of the map says it all
        return FinslerMDS(size, alpha=alpha, **fitting.chosen(*names)).fit(data).result_


def table_labels(table: Table) -> tuple[list[Any] | None, int]:
    """Labels of the points of a table, and how many there are."""
    if table.graph is not None:
        return table.graph.labels, table.graph.n_nodes
    if table.kind == "pairs":
        labels = place_codes(np.asarray(table.source), np.asarray(table.target))[1]
        return labels, len(labels)
    assert table.values is not None
    return table.labels, len(table.values)


def attributes_of(table: Table, file: str | None, encoding: str | None) -> dict[str, Array]:
    """Attributes of the points of a table: its own, and those in a file."""
    if file is None:
        return table.attributes
    return {**table.attributes, **read_attributes(file, *table_labels(table), encoding=encoding)}


def on_map(attributes: dict[str, Array], table: Table, embedding: Embedding) -> dict[str, Array]:
    """Attributes of those points of a table that are on its map."""
    labels, n = table_labels(table)
    if embedding.n_points == n:
        return attributes
    kept = LabelIndex(labels, n).positions(_names(embedding.labels, embedding.n_points))
    return {name: values[kept] for name, values in attributes.items()}


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
