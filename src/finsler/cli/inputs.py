"""A file, read once, and the functions of the library that go with what it holds.

``options`` are the options of a command by name, those that were given; see `finsler.cli.options.given`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from finsler.cli.options import stdin_or
from finsler.cli.output import say
from finsler.data.labels import LabelIndex
from finsler.data.located import located
from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.data.pairs import pairs_to_dissimilarities, place_codes
from finsler.data.pieces import UNREACHABLE, placeable
from finsler.data.point_tables import read_attributes, read_weights
from finsler.data.readers.gridded import read_field
from finsler.data.similarities import from_similarities, with_facts
from finsler.data.tables import Table
from finsler.embedding import Embedding
from finsler.errors import InputError, check_choice
from finsler.estimators.mds import FinslerMDS
from finsler.fields import embed_field
from finsler.graphs.distances import WEIGHTINGS, graph_distances, weigh
from finsler.graphs.gridded import field_graph, require_one_sea
from finsler.graphs.neighbors import geodesic_distances
from finsler.graphs.readers import open_file
from finsler.recipes import embed_graph, embed_matrix, embed_points
from finsler.solvers.options import MapOptions, ScalingOptions, scaling_of

if TYPE_CHECKING:
    from finsler.inference.alignment import Alignment

Options = Mapping[str, Any]
About = dict[str, NDArray[Any]]

READING = ("source", "target", "similarity", "where", "encoding", "sheet", "variable", "orientation")
COUNTS = ("similarity", "zeros", "diagonal", "missing")
PATHS = ("hops", "unreachable", "connection")
SCALING = tuple(ScalingOptions.__annotations__)
SOLVING = ("n_components", "alpha", *MapOptions.__annotations__, *SCALING)
RUNNING = ("n_jobs", "verbose")
FIELD = ("u", "v", "at", "sample")
# Which options go with which kinds.
GOES_WITH = {
    **dict.fromkeys(("source", "target", "where"), ("pairs", "edges")),
    **dict.fromkeys((*COUNTS, *SCALING), ("matrix", "pairs")),
    **dict.fromkeys(("value", "aggregate"), ("pairs",)),
    **dict.fromkeys(("weight", "hops", "connection"), ("edges",)),
    **dict.fromkeys(("method", "n_pivots"), ("edges", "points", "field")),
    "unreachable": ("matrix", "pairs", "edges", "points", "field"),
    "orientation": ("matrix",),
    "n_neighbors": ("points",),
    **dict.fromkeys(("speed", "coordinates"), ("points", "field")),
    **dict.fromkeys(FIELD, ("field",)),
}


def chosen(options: Options, *names: str) -> dict[str, Any]:
    """Those of the named options that were given."""
    return {name: options[name] for name in names if name in options}


def read(options: Options, *, paths: bool = True) -> Table:
    """Read the file (``-`` is stdin), say what it is, and refuse options that do not go with it.

    Without `paths`, refuse also what is measured by shortest paths.
    """
    kind = options["kind"]
    for column, of in (
        ("value", "pairs"),
        ("weight", "edges"),
    ):  # who names one of these says what the rows are
        kind = of if kind == "auto" and column in options else kind
    value = options.get("value", options.get("weight", "auto"))
    table = open_file(stdin_or(options["file"]), kind, value=value, **chosen(options, *READING))
    if not paths and table.kind in ("edges", "points", "field"):
        raise InputError(
            f"{table.name} is read as {table.kind}: it gives lengths of shortest paths, which share arcs, so that their "
            "errors are not independent. finsler report says how asymmetric they are."
        )
    if table.kind == "field":
        table = _with_ways(table, options)
    if "quiet" not in options:
        say(table.describe())
    for name, kinds in GOES_WITH.items():
        if name in options and table.kind not in kinds:
            raise InputError(
                f"goes with {' and '.join(kinds)}; {table.name} is read as {table.kind}.", argument=name
            )
    if "zeros" in options and "similarity" not in options:
        raise InputError("goes with --similarity: it says what a count of zero means.", argument="zeros")
    return table


def _with_ways(table: Table, options: Options) -> Table:
    """A gridded field with the digraph of its travel times."""
    if "speed" not in options:
        raise InputError(
            "is needed for a gridded field: that of the boat, in the units of the current, or auto. finsler embed and "
            "finsler report take it.",
            argument="speed",
        )
    field = read_field(table.content.path, options.get("u"), options.get("v"), _at(options.get("at", [])))
    sample = options.get("sample", "auto")
    graph = field_graph(field, speed=options["speed"], sample=sample, **chosen(options, "coordinates"))
    return replace(
        table,
        graph=graph,
        attributes=graph.attributes,
        columns=[*field.names[2:]],
        provenance=graph.provenance,
    )


def _at(words: list[str]) -> dict[str, str]:
    """Steps along dimensions, written NAME=VALUE."""
    pairs = [word.partition("=") for word in words]
    for name, sign, value in pairs:
        if not (name and sign and value):
            raise InputError(f"takes NAME=VALUE, as in depth=0; got {name + sign + value!r}.", argument="at")
    return {name: value for name, _, value in pairs}


def measure(table: Table, options: Options) -> Dissimilarities:
    """All dissimilarities between the points of a table, weighted as ``--weighting`` or ``--weights`` asks."""
    if "weights" in options and "weighting" in options:
        raise InputError("goes without --weights FILE.", argument="weighting")
    if table.kind == "matrix":
        data = _matrix_distances(table, options)
    elif table.kind == "points":
        data = _point_distances(table, options)
    elif table.kind == "pairs":
        given = chosen(options, *COUNTS, "aggregate", "unreachable")
        data = pairs_to_dissimilarities(table, negative=scaling_of(options).negative, **given)
    else:
        given = _of_field(table, options) if table.kind == "field" else {}
        data = graph_distances(table.graph, **{**chosen(options, *PATHS, *RUNNING), **given})
    if "weights" not in options:
        return replace(data, weights=weigh(data, WEIGHTINGS[options.get("weighting", "uniform")]))
    if table.kind == "matrix":
        return data
    W = read_weights(options["weights"], data.labels, data.n_points, **chosen(options, "encoding"))
    known = True if data.weights is None else data.weights > 0
    return replace(data, weights=np.where(known, W, 0.0))


def _matrix_distances(table: Table, options: Options) -> Dissimilarities:
    values, W = np.asarray(table.values), None
    if "weights" in options:
        W = read_weights(options["weights"], table.labels, len(values), **chosen(options, "encoding"))
        W = W.T if options.get("orientation") == "to-from" else W
    if "similarity" in options:
        given = chosen(options, *COUNTS, "unreachable")
        return from_similarities(values, weights=W, labels=table.labels, facts=table.provenance, **given)
    unreachable = options.get("unreachable", "raise")
    check_choice("unreachable", unreachable, UNREACHABLE)
    given = {"negative": scaling_of(options).negative, **chosen(options, "missing", "diagonal")}
    if unreachable == "largest":
        given.setdefault("missing", "mask")
    data = as_dissimilarities(values, W, labels=table.labels, name=table.name, **given)
    return placeable(with_facts(data, table.provenance), unreachable)


def _point_distances(table: Table, options: Options) -> Dissimilarities:
    if table.vector_kind == "drift" and "speed" in options:
        raise InputError(f"goes with a current; {table.name} holds a drift.", argument="speed")
    place = located(
        np.asarray(table.values),
        table.vectors,
        names=table.columns,
        **chosen(options, "speed", "coordinates"),
    )
    field: dict[str, Any] = {table.vector_kind: place.vectors} if table.vector_kind else {}
    given = chosen(options, "n_neighbors", "unreachable", *RUNNING)
    check_choice(
        "unreachable", given.get("unreachable", "raise"), ("raise", "largest")
    )  # pieces have no common frame
    data = geodesic_distances(place.points, **field, **given)
    facts, own = data.provenance, table.provenance
    left = facts.left_out if table.labels is None else [table.labels[i] for i in facts.left_out]
    facts = replace(facts, left_out=(*own.left_out, *left))
    data = replace(data, provenance=facts.having(n_comments=own.n_comments, remarks=place.remarks))
    if table.labels is None:
        return data
    kept = range(len(table.labels)) if data.labels is None else data.labels
    return replace(data, labels=[table.labels[i] for i in kept])


def find_map(table: Table, options: Options) -> Embedding:
    """Find the map of a table. After Ctrl-C it is the best so far, with status "interrupted"."""
    solving = chosen(options, *SOLVING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the summary of the map says it all
        if table.kind in ("points", "field"):  # sheets hardly determine alpha
            usual = signature(embed_points if table.kind == "points" else embed_field).parameters
            solving = {**{name: usual[name].default for name in ("n_components", "alpha")}, **solving}
        if table.graph is not None and "weights" not in options:
            given = chosen(options, *PATHS, "weighting", "method", "n_pivots")
            if table.kind == "field":
                given |= _of_field(table, options)
            return embed_graph(table.graph, **given, **solving)
        if table.kind == "points" and not {"weights", "weighting"} & {*options}:
            given = chosen(
                options, "n_neighbors", "unreachable", "speed", "coordinates", "method", "n_pivots"
            )
            return embed_points(table, **given, **solving)
        if options.get("method") == "sparse":
            raise InputError("goes with --method dense; a sparse map takes --weighting.", argument="weights")
        if "n_pivots" in options:
            raise InputError("goes without weights: all pairs count.", argument="n_pivots")
        if isinstance(table.values, np.memmap) and not (
            {"weights", "weighting", "unreachable", *COUNTS} & {*options} - {"missing"}
        ):
            found = embed_matrix(
                table.values, **chosen(options, "missing"), **solving
            )  # in memory only if it fits
            return replace(found, provenance=found.provenance.having(source=table.name, kind="matrix"))
        return FinslerMDS(**solving).fit(measure(table, options)).result_


def _of_field(table: Table, options: Options) -> dict[str, Any]:
    """What to do where land parts a sea: as `embed_field` has it."""
    unreachable = options.get("unreachable", signature(embed_field).parameters["unreachable"].default)
    check_choice("unreachable", unreachable, ("largest", "raise"))
    if unreachable == "raise":
        require_one_sea(table.graph)
    return {"unreachable": unreachable}


def load_like(path: str | None) -> Embedding | None:
    """Load the map of ``--like``, before anything is computed."""
    return None if path is None else Embedding.load(path)


def agreement(other: Embedding, result: Embedding) -> Alignment:
    """How well a map agrees with the one of ``--like``."""
    from finsler.inference.alignment import compare_maps

    return compare_maps(other, result, n_permutations=0)


def attributes_of(table: Table, options: Options) -> About:
    """About of the points of a table: its own, and those in the file of ``--attributes``."""
    if "attributes" not in options:
        return table.attributes
    points = _points(table)
    more = read_attributes(options["attributes"], points.labels, len(points), **chosen(options, "encoding"))
    return {**table.attributes, **more}


def with_coordinates(about: About, table: Table) -> About:
    """About of the points of a table with their coordinates, if that is what it holds."""
    if table.kind != "points":
        return about
    own = dict(zip(table.columns, np.asarray(table.values).T, strict=False))
    return {**own, **about}


def on_map(attributes: About, table: Table, embedding: Embedding) -> About:
    """About of those points of a table that are on its map."""
    points = _points(table)
    if embedding.n_points == len(points) or embedding.labels is None:
        return attributes
    kept = points.positions(embedding.labels)
    return {name: values[kept] for name, values in attributes.items()}


def _points(table: Table) -> LabelIndex:
    """Points of a table, in its order."""
    if table.graph is not None:
        return LabelIndex(table.graph.labels, table.graph.n_nodes)
    if table.kind == "pairs":
        labels = place_codes(np.asarray(table.source), np.asarray(table.target))[1]
        return LabelIndex(labels, len(labels))
    return LabelIndex(table.labels, len(np.asarray(table.values)))
