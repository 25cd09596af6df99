"""Graphs too large for all pairs, as the options of the command line say."""

from __future__ import annotations

from finsler.cli.data import Fitting, Reading
from finsler.cli.errors import Mistake
from finsler.data.tables import Table
from finsler.embedding import Embedding
from finsler.graphs.distances import WEIGHTINGS
from finsler.graphs.sampled import (
    SampledAsymmetry,
    SampledScores,
    sample_rows,
    sampled_asymmetry,
    sampled_scores,
)
from finsler.recipes import DENSE_NODES, sparse_map

HELD_OUT = 20  # rows that a map is scored on
ROWS = 50  # rows that a report looks at


def is_sparse(table: Table, method: str, pivots: int | None) -> bool:
    """Whether the map is to be a sparse one."""
    if method == "sparse" and table.graph is None:
        raise Mistake(f"--method sparse goes with edges; {table.name} is read as {table.kind}.")
    large = table.graph is not None and table.graph.n_nodes > DENSE_NODES
    sparse = method == "sparse" or (method == "auto" and large)
    if pivots is not None and not sparse:
        raise Mistake(
            f"--pivots goes with --method sparse, and with graphs of more than {DENSE_NODES:,} nodes."
        )
    return sparse


def refuse(solver: str, init: str, starts: int) -> None:
    """Refuse options of the dense solvers."""
    for name, value, usual in (
        ("solver", solver, "smacof"),
        ("init", init, "classical"),
        ("starts", starts, 1),
    ):
        if value != usual:
            raise Mistake(f"--{name} {value} goes with --method dense.")


def solve(
    table: Table, reading: Reading, fitting: Fitting, method: str, pivots: int
) -> tuple[Embedding, SampledScores]:
    """Find a sparse map and score it on rows that it was not made from."""
    if reading.weights not in WEIGHTINGS:
        raise Mistake(f"--weights {reading.weights}: a sparse map takes {', '.join(WEIGHTINGS)}.")
    assert table.graph is not None
    found = sparse_map(
        table.graph,
        fitting.dim,
        fitting.alpha,
        hops=reading.hops,
        unreachable=reading.unreachable or "mask",
        connection=reading.connection or "strong",
        weighting=reading.weights,
        pivots=pivots,
        why=f"{table.graph.n_nodes:,} nodes are many, so it is a sparse map" if method == "auto" else "",
        time_limit=fitting.time_limit,
        random_state=fitting.seed,
        n_jobs=fitting.jobs,
        verbose=fitting.verbose,
        **fitting.chosen("max_iter", "tol"),
    )
    exclude = [] if found.pivots.n_pivots == found.graph.n_nodes else found.pivots.pivots.tolist()
    rows = sample_rows(
        found.graph,
        HELD_OUT,
        hops=reading.hops,
        exclude=exclude,
        random_state=fitting.seed,
        n_jobs=fitting.jobs,
        verbose=fitting.verbose,
    )
    return found.embedding, sampled_scores(
        found.embedding.coordinates, found.embedding.drift, rows, weighting=reading.weights
    )


def report(table: Table, reading: Reading, sample: int | None) -> SampledAsymmetry | None:
    """Report from some rows of a large graph; None if all pairs can be looked at."""
    if table.graph is None or (sample is None and table.graph.n_nodes <= DENSE_NODES):
        if sample is not None:
            raise Mistake(f"--sample goes with edges; {table.name} is read as {table.kind}.")
        return None
    if reading.unreachable:
        raise Mistake(
            "--unreachable does not go with a report of edges, which counts the pairs without a path."
        )
    rows = sample_rows(
        table.graph, sample or ROWS, hops=reading.hops, n_jobs=reading.jobs, verbose=reading.verbose
    )
    return sampled_asymmetry(rows)
