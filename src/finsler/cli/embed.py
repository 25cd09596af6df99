"""``finsler embed``: from a file to a map."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from finsler.cli import options as opt

if TYPE_CHECKING:
    from finsler.cli import output
    from finsler.data.tables import Table
    from finsler.embedding import Embedding

EXAMPLES = opt.examples(
    "finsler embed times.csv --out map.html --out map.npz",
    "finsler embed roads.csv --source from --target to --weight minutes --unreachable largest --out roads.png",
    "finsler embed sea.csv --out sea.html --color depth --out sea.png",
    "finsler embed moves.csv --similarity gravity --out moves.html",
    "finsler embed trade.csv --kind pairs --similarity gravity --where year=2020 --out trade.html",
    "finsler embed web.csv --kind edges --method sparse --n-pivots 100 --out web.npz",
    "finsler embed morse.csv --diagonal ignore --scaling ordinal --out morse.png",
    "finsler embed roads.graphml --out roads.gexf --out roads.geojson",
    "finsler embed currents.nc --speed 2 --out currents.html --out currents.npz",
    "finsler embed times.csv --like map.npz --out again.html",
    "finsler embed osrm.json --out map.html --worst worst.csv",
    "cat times.csv | finsler embed - --out - > coordinates.csv",
)


def embed(
    context: typer.Context,
    file: opt.Input,
    kind: opt.Kind = "auto",
    source: opt.Source = None,
    target: opt.Target = None,
    value: opt.Value = None,
    weight: opt.Weight = None,
    where: opt.Where = None,
    aggregate: opt.Aggregate = None,
    similarity: opt.Similarity = None,
    zeros: opt.Zeros = None,
    diagonal: opt.Diagonal = None,
    missing: opt.Missing = None,
    unreachable: opt.Unreachable = None,
    connection: opt.Connection = None,
    hops: opt.Hops = False,
    n_neighbors: opt.Neighbors = None,
    speed: opt.Speed = None,
    coordinates: opt.Coordinates = None,
    u: opt.FieldEast = None,
    v: opt.FieldNorth = None,
    at: opt.At = None,
    sample: opt.Sample = None,
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    variable: opt.Variable = None,
    orientation: opt.Orientation = None,
    n_components: opt.Components = None,
    alpha: opt.Alpha = None,
    swirl: opt.Swirl = None,
    weighting: opt.Weighting = None,
    weights: opt.Weights = None,
    method: opt.Method = None,
    n_pivots: opt.Pivots = None,
    scaling: opt.Scaling = None,
    ties: opt.Ties = None,
    conditional: opt.Conditional = None,
    spline_degree: opt.SplineDegree = None,
    spline_knots: opt.SplineKnots = None,
    solver: opt.Solver = None,
    init: opt.Init = None,
    n_init: opt.Starts = None,
    random_state: opt.RandomState = 0,
    max_iter: opt.MaxIter = None,
    tol: opt.Tol = None,
    time_limit: opt.TimeLimit = None,
    n_jobs: opt.Jobs = None,
    like: opt.Like = None,
    out: opt.Outs = None,
    force: opt.Force = False,
    worst: opt.Worst = None,
    keep_data: opt.KeepData = None,
    attributes: opt.Attributes = None,
    color: opt.Color = None,
    arcs: opt.Arcs = None,
    title: opt.Title = None,
    unit: opt.Unit = None,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Embed a matrix, measured pairs, a graph, points or a field: find the map and write it.

    Matrix: dissimilarities from row to column; labels may stand in the
    first row and the first column.

    Pairs: columns source, target and value, one measured pair a row; pairs
    that are not there are missing.

    Edges: columns source, target and possibly length, one edge of a graph a
    row; ways lead along edges. Graphs as .graphml, .gexf, .gml, .net (Pajek),
    .json (nodes and links), .mtx and .npz are read too; attributes of nodes
    can be colored by. Cells in .h5ad (AnnData) are joined to those near them,
    and go down with their velocities.

    Tables may be text (.csv, .tsv, .txt), .xlsx, .parquet, .feather, .npy,
    .npz, .mat, .atsp (TSPLIB), or .json of OSRM, openrouteservice, Valhalla.

    Points: columns x, y, ... and a current at each point, current_x,
    current_y, ... or u, v, w (going along it is cheap), or a drift, drift_x,
    drift_y, ... or dx, dy, dz (going along it is costly). PC1, ... with V1,
    ..., x1, ... with v1, ..., and lon, lat with u, v are known, too; points
    that lack a number are left out. A column label, name
    or id names the points; further columns are attributes to color by.

    Field: a current or wind on rows and columns, in a netCDF file (.nc);
    cells without one are land. --speed is that of the boat.

    Ctrl-C ends the search and still writes the best map so far.
    """
    from finsler.cli import inputs, output

    targets = output.plan(out, force=force, inputs=[file, attributes, weights, like], json=json)
    pairs = output.plan_worst(worst, force=force, inputs=[file, attributes, weights, like, *(out or [])])
    other = inputs.load_like(like)
    options = opt.given(context)
    table = inputs.read(options)
    about = inputs.attributes_of(table, options)
    output.check_color(color, [*about, *table.columns])
    output.check_places(targets, inputs.with_coordinates(about, table))
    result = inputs.find_map(table, options)
    result = result if other is None else result.align(other)
    result = replace(
        result.with_attributes(inputs.on_map(about, table, result)),
        unit=unit or result.provenance.columns.get("unit", ""),
    )
    output.say_map(result, quiet=quiet, said=table.provenance.remarks)
    agreement = None if other is None else inputs.agreement(other, result)
    if agreement is not None and not quiet:
        output.say(f"  laid over {like}: {agreement.summary().splitlines()[0]}")
    drawn: dict[str, Any] = {"color": color, "title": title, "arcs": arcs}
    output.write(targets, result, **drawn, quiet=quiet, keep_data=keep_data, worst=pairs)
    if json:
        output.print_json(
            _record(table, result, targets) | ({} if agreement is None else {"r_like": agreement.r})
        )
    output.end_as(result.status)


def _record(table: Table, result: Embedding, targets: list[output.Target]) -> dict[str, Any]:
    shown, scores = result.asymmetry_shown(), result.held_out
    return {
        "input": table.name,
        "kind": table.kind,
        "points": result.n_points,
        "dimension": result.n_components,
        **({"unit": result.unit} if result.unit else {}),
        "alpha": result.alpha,
        **({} if result.kappa is None else {"kappa": result.kappa, "geodesic": result.geodesic}),
        "normalized_stress": result.normalized_stress,
        **({} if result.scaled is None else {"scaled": result.scaled.to_dict()}),
        "stress": result.stress,
        "iterations": result.n_iter,
        "starts": result.n_starts,
        "starts_at_this_map": result.n_same,
        "status": result.status,
        "message": " ".join(result.sentences()),
        "provenance": result.provenance.to_dict(),
        "asymmetry_shown": None if shown is None else shown._asdict(),
        **({} if scores is None else {"held_out": scores.to_dict()}),
        "outputs": [str(path) for path, _ in targets],
    }
