"""Graphs too large for all pairs, as the options of the command line say."""

from __future__ import annotations

from finsler.cli.data import Fitting, Reading
from finsler.data.tables import Table
from finsler.embedding import Embedding
from finsler.errors import InputError
from finsler.graphs.sampled import SampledScores, sample_rows, sampled_scores
from finsler.recipes import DENSE_NODES, sparse_map

HELD_OUT = 20  # rows that a map is scored on


def is_sparse(table: Table, method: str, n_pivots: int | None) -> bool:
    """Whether the map is to be a sparse one."""
    if method == "sparse" and table.graph is None:
        raise InputError(f"sparse goes with edges; {table.name} is read as {table.kind}.", argument="method")
    large = table.graph is not None and table.graph.n_nodes > DENSE_NODES
    sparse = method == "sparse" or (method == "auto" and large)
    if n_pivots is not None and not sparse:
        raise InputError(
            f"goes with --method sparse, and with graphs of more than {DENSE_NODES:,} nodes.",
            argument="n_pivots",
        )
    return sparse


def refuse(fitting: Fitting) -> None:
    """Refuse options of the dense solvers."""
    for name, usual in (("solver", "smacof"), ("init", None), ("n_init", None)):
        if getattr(fitting, name) != usual:
            raise InputError("goes with --method dense.", argument=name)


def solve(
    table: Table, reading: Reading, fitting: Fitting, method: str, n_pivots: int
) -> tuple[Embedding, SampledScores]:
    """Find a sparse map and score it on rows that it was not made from."""
    if reading.weights is not None:
        raise InputError("goes with --method dense; a sparse map takes --weighting.", argument="weights")
    assert table.graph is not None
    found = sparse_map(
        table.graph,
        fitting.n_components or 2,
        "auto" if fitting.alpha is None else fitting.alpha,
        hops=reading.hops,
        unreachable=reading.unreachable or "mask",
        connection=reading.connection or "strong",
        weighting=reading.weighting,
        pivots=n_pivots,
        why=f"{table.graph.n_nodes:,} nodes are many, so it is a sparse map" if method == "auto" else "",
        time_limit=fitting.time_limit,
        random_state=fitting.random_state,
        n_jobs=fitting.n_jobs,
        verbose=fitting.verbose,
        **fitting.chosen("max_iter", "tol"),
    )
    exclude = [] if found.pivots.n_pivots == found.graph.n_nodes else found.pivots.pivots.tolist()
    rows = sample_rows(
        found.graph,
        HELD_OUT,
        hops=reading.hops,
        exclude=exclude,
        random_state=fitting.random_state,
        n_jobs=fitting.n_jobs,
        verbose=fitting.verbose,
    )
    return found.embedding, sampled_scores(
        found.embedding.coordinates, found.embedding.drift, rows, weighting=reading.weighting
    )
