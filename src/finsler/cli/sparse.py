"""Graphs too large for all pairs, as the options of the command line say."""

from __future__ import annotations

from finsler.cli.data import Fitting, Reading
from finsler.data.tables import Table
from finsler.embedding import Embedding
from finsler.errors import InputError
from finsler.recipes import DENSE_NODES, embed_graph

SHARED = ("init", "n_init", "random_state", "max_iter", "tol", "time_limit", "n_jobs", "verbose")


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
    if fitting.solver != "smacof":
        raise InputError("goes with --method dense.", argument="solver")


def solve(table: Table, reading: Reading, fitting: Fitting, method: str, n_pivots: int) -> Embedding:
    """Find a sparse map."""
    if reading.weights is not None:
        raise InputError("goes with --method dense; a sparse map takes --weighting.", argument="weights")
    assert table.graph is not None
    return embed_graph(
        table.graph,
        n_components=fitting.n_components or 2,
        alpha="auto" if fitting.alpha is None else fitting.alpha,
        hops=reading.hops,
        unreachable=reading.unreachable or "mask",
        connection=reading.connection or "strong",
        weighting=reading.weighting,
        method=method,
        n_pivots=n_pivots,
        **fitting.chosen(*SHARED),
    )
