"""From a digraph to a sparse map: pivots, arcs, and lengths in units that single precision serves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from finsler.data.matrix import LARGEST
from finsler.data.provenance import Provenance
from finsler.errors import InputError, check_choice, check_count
from finsler.geometry.estimates import SampledScores
from finsler.graphs.digraph import Digraph, largest_component
from finsler.graphs.distances import (
    POLICIES,
    WEIGHTINGS,
    path_provenance,
    require_one_piece,
    sample_rows,
    sampled_scores,
)
from finsler.graphs.pivots import PivotDistances, pivot_distances
from finsler.solvers.smacof import check_options
from finsler.solvers.solution import Solution
from finsler.solvers.sparse.problem import ArcPairs
from finsler.solvers.sparse.solver import sparse_smacof

HELD_OUT = 20  # rows that a map is scored on


class SparseMap(NamedTuple):
    """A sparse map with what it was made from, and its scores on other pairs."""

    solution: Solution
    graph: Digraph  #: The part of the graph that it shows.
    pivots: PivotDistances
    provenance: Provenance
    held_out: SampledScores


def map_graph(
    graph: Digraph,
    n_components: int = 2,
    alpha: float | str = "auto",
    *,
    n_pivots: int = 100,
    hops: bool = False,
    unreachable: str = "mask",
    connection: str = "strong",
    far: float | None = None,
    weighting: str = "uniform",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
    **options: Any,
) -> SparseMap:
    """Map a digraph by its arcs and the distances from and to some pivots, and score it on rows of other nodes.

    The parameters are those of :func:`~finsler.recipes.embed_graph`, and further ones of
    :func:`~finsler.solvers.sparse.solver.sparse_smacof`.

    Examples
    --------
    >>> from finsler.datasets import make_city
    >>> from finsler.graphs.digraph import as_digraph
    >>> found = map_graph(as_digraph(make_city(400).graph), n_pivots=20, random_state=0)
    >>> found.pivots.n_pivots, len(found.solution.coordinates) == found.graph.n_nodes
    (20, True)
    """
    # Before the distances, which may take long.
    check_choice("unreachable", unreachable, POLICIES)
    check_choice("connection", connection, ("strong", "weak"))
    check_choice("weighting", weighting, WEIGHTINGS)
    check_count("n_pivots", n_pivots, 2)
    n_init, max_iter, tol = (
        options.get(name, usual) for name, usual in (("n_init", 1), ("max_iter", 1), ("tol", 0))
    )
    check_options(n_components, n_init, max_iter, tol or 0, None)
    if far is not None and not (unreachable == "hinge" and 0 < far < float("inf")):
        raise InputError(f"far must be a positive number and goes with unreachable='hinge', got {far!r}.")
    if unreachable == "largest":
        graph = largest_component(graph, connection)
    facts = path_provenance(graph, hops)
    if graph.n_nodes < 2:
        raise InputError(" ".join(["There is only one node to map.", *facts.sentences()]))
    require_one_piece(graph)
    hops = hops or not graph.weighted
    unit = 1.0 if hops else _mean_length(graph)
    scaled = graph if unit == 1 else graph.scaled(1 / unit)
    shared: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs, "verbose": verbose}
    pivots = pivot_distances(scaled, n_pivots, hops=hops, **shared)
    n_lost = pivots.n_unreachable
    if n_lost and unreachable == "raise":
        raise InputError(
            f"{n_lost / (2 * pivots.out_of.size):.1%} of the pairs of nodes and pivots have no path. Pass "
            "unreachable='mask' to leave such pairs out, 'hinge' to keep them far apart, or 'largest' to keep the largest "
            "connected part."
        )
    bound = 0.0 if unreachable != "hinge" or not n_lost else pivots.largest if far is None else far / unit
    solution = sparse_smacof(
        pivots, n_components, alpha, arcs=ArcPairs.of(scaled, hops), weighting=weighting, bound=bound, **shared,
        **options,
    )  # fmt: skip
    solution = _in_units(solution, unit, WEIGHTINGS[weighting])
    facts = facts.having(
        n_unreachable=n_lost, policy=unreachable if n_lost else "", method="sparse", n_pivots=pivots.n_pivots
    )
    exclude: Any = [] if pivots.n_pivots == graph.n_nodes else pivots.pivots
    rows = sample_rows(graph, HELD_OUT, hops=hops, exclude=exclude, **shared)
    scores = sampled_scores(solution.coordinates, solution.drift, rows, weighting=weighting)
    return SparseMap(solution, graph, pivots, facts, scores)


def _mean_length(graph: Digraph) -> float:
    """Unit of the lengths: in units of the mean arc, single precision serves lengths of any size."""
    mean = float(graph.matrix.data.mean())
    if not 1 / LARGEST < mean < LARGEST:
        raise InputError(f"The mean length of an arc is {mean:g}; rescale to ordinary magnitudes.")
    return mean


def _in_units(solution: Solution, unit: float, power: float) -> Solution:
    """The map in other units of length; a pair at distance d weighs ``1/d^power``."""
    square = unit ** (2 - power)
    return replace(
        solution,
        coordinates=solution.coordinates * unit,
        stress=solution.stress * square,
        history=solution.history * square,
        total=solution.total * square,
    )
