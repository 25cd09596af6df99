"""The commands of ``finsler``: what they take and what they say. The work is in `cli_data` and `cli_output`.

Heavy modules are imported by the commands, so that ``--help`` is there at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import finsler
from finsler.cli import compare as cli_compare
from finsler.cli import learning as cli_learning
from finsler.cli import options as shared
from finsler.cli.errors import Mistake, explain, one_line, say, warnings_in_lines
from finsler.cli.options import check_alpha, choice, examples, option

# click's own exceptions; newer typers carry their own copy of click, so they are found from here.
ClickException: Any = typer.BadParameter.__mro__[2]


class Commands(TyperGroup):
    """Commands whose errors are one line, with the exit codes 2 (user) and 130 (Ctrl-C); bugs raise."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            with warnings_in_lines():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            say("finsler: stopped by Ctrl-C; nothing more was written.")
            raise typer.Exit(130) from None
        except BrokenPipeError:  # whoever read our output has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (ClickException, typer.Exit, typer.Abort):
            raise
        except Exception as error:
            line = explain(error)
            if line is None:
                raise
            say(f"finsler: {line}")
            raise typer.Exit(2) from None

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Parse the arguments and run."""
        extra["standalone_mode"] = False
        try:
            code = super().main(*args, **extra)
        except ClickException as error:
            context = getattr(error, "ctx", None)
            path = "finsler" if context is None else context.command_path
            say(f"finsler: {one_line(error.format_message())} Try '{path} --help'.")
            code = 2
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    code = typer.main.get_command(app).main(list(arguments), prog_name="finsler", standalone_mode=False)
    return code if isinstance(code, int) else 0


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
datasets = typer.Typer(help="Example data: what there is, and where it is.", rich_markup_mode="rich")
app.add_typer(datasets, name="datasets")


@app.callback(
    invoke_without_command=True,
    epilog=examples(
        "finsler demo",
        "finsler report times.csv",
        "finsler embed times.csv --out map.html --out map.npz",
        "finsler distance map.npz JFK LAX",
    ),
)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Maps of asymmetric data, on which going up costs more than coming down."""
    if version:
        print(f"finsler {finsler.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        text = context.get_help()
        if text:  # rich prints it itself
            print(text)


@app.command(
    epilog=examples(
        "finsler embed times.csv --out map.html --out map.npz",
        "finsler embed roads.csv --kind edges --columns from,to,minutes --unreachable largest --out roads.png",
        "finsler embed sea.csv --out sea.html --color depth --out sea.png",
        "finsler embed moves.csv --similarity gravity --out moves.html",
        "finsler embed web.csv --kind edges --method sparse --pivots 100 --out web.npz",
        "finsler embed morse.csv --diagonal ignore --out morse.png",
        "cat times.csv | finsler embed - --out - > coordinates.csv",
    )
)
def embed(
    file: shared.Input,
    kind: shared.Kind = "auto",
    columns: shared.Columns = None,
    dim: Annotated[
        int | None,
        option(
            shared.MAP,
            min=1,
            metavar="N",
            help="Its dimension, the height included.",
            show_default="2; 3 for points",
        ),
    ] = None,
    alpha: Annotated[
        str | None,
        option(
            shared.MAP,
            metavar="auto|NUMBER",
            callback=check_alpha,
            help="Drift, from 0 to less than 1; auto fits it to the data.",
            show_default="auto; 0.5 for points",
        ),
    ] = None,
    weights: Annotated[
        str,
        option(
            shared.MAP,
            metavar="uniform|inverse|inverse-square|FILE",
            help="Weight of each pair by its dissimilarity, or a matrix of weights.",
        ),
    ] = "uniform",
    missing: shared.Missing = None,
    similarity: shared.Similarity = None,
    zeros: shared.Zeros = None,
    diagonal: shared.Diagonal = None,
    unreachable: shared.Unreachable = None,
    connection: shared.Connection = None,
    hops: shared.Hops = False,
    neighbors: shared.Neighbors = None,
    method: Annotated[
        str,
        choice(
            shared.MAP,
            "--method",
            "auto|dense|sparse",
            "All pairs of a graph, or its edges and some pivots; auto is dense up to 5,000 nodes.",
        ),
    ] = "auto",
    pivots: Annotated[
        int | None,
        option(shared.MAP, min=1, metavar="N", help="Pivots of --method sparse.", show_default="100"),
    ] = None,
    solver: Annotated[
        str, choice(shared.MAP, "--solver", "smacof|classical", "Least stress, or the closed form.")
    ] = "smacof",
    init: Annotated[
        str, choice(shared.MAP, "--init", "classical|isomap|random", "Where smacof starts.")
    ] = "classical",
    starts: Annotated[
        int, option(shared.MAP, min=1, metavar="N", help="Starts; those after the first are random.")
    ] = 1,
    seed: Annotated[
        int, option(shared.MAP, min=0, max=2**32 - 1, metavar="N", help="Seed of random starts.")
    ] = 0,
    max_iter: Annotated[
        int | None,
        option(shared.MAP, min=0, metavar="N", help="Iterations at most.", show_default="500; sparse: 200"),
    ] = None,
    tol: Annotated[
        float | None,
        option(
            shared.MAP,
            min=0,
            metavar="NUMBER",
            help="Relative tolerance on the stress.",
            show_default="1e-7; sparse: 3e-4",
        ),
    ] = None,
    time_limit: Annotated[
        float | None, option(shared.MAP, min=0, metavar="SECONDS", help="Take the best map after so long.")
    ] = None,
    jobs: shared.Jobs = None,
    out: shared.Outs = None,
    force: shared.Force = False,
    attributes: shared.Attributes = None,
    color: shared.Color = None,
    title: shared.Title = None,
    encoding: shared.Encoding = None,
    quiet: shared.Quiet = False,
    json: shared.Json = False,
) -> None:
    """Embed a matrix, a graph or points: find the map and write it.

    Matrix: dissimilarities from row to column; labels may stand in the
    first row and the first column.

    Edges: columns source, target and possibly length. Graphs as .mtx,
    .graphml and .npz are read too.

    Points: columns x, y, ... and a current at each point, current_x,
    current_y, ... or u, v, w (going along it is cheap), or a drift, drift_x,
    drift_y, ... or dx, dy, dz (going along it is dear). A column label, name
    or id names the points; further columns are attributes to color by.

    Ctrl-C ends the search and still writes the best map so far.
    """
    from finsler.cli import data as cli_data
    from finsler.cli import output as cli_output
    from finsler.cli import sparse as cli_sparse

    if not out and not json:
        raise Mistake(f"say where to write the map: --out map.html ({' '.join(cli_output.KNOWN)}, or -).")
    if json and "-" in (out or []):
        raise Mistake("--json and --out - both write to stdout; give one of them.")
    reads = [file, *filter(None, [attributes]), *([] if weights in cli_data.WEIGHTINGS else [weights])]
    targets = cli_output.plan(out or [], force=force, inputs=reads)
    reading = cli_data.Reading(
        kind=kind, columns=columns, encoding=encoding, similarity=similarity, zeros=zeros, diagonal=diagonal,
        missing=missing, unreachable=unreachable, connection=connection, hops=hops, neighbors=neighbors, weights=weights,
        jobs=jobs, quiet=quiet,
    )  # fmt: skip
    table = cli_data.read_input(file, reading)
    size, drift = cli_data.settle(dim, alpha, table)
    sparse = cli_sparse.is_sparse(table, method, pivots)
    fitting = cli_data.Fitting(
        dim=size, alpha=drift, solver=solver, init=init, starts=starts, seed=seed, max_iter=max_iter, tol=tol,
        time_limit=time_limit, jobs=jobs, verbose=reading.verbose,
    )  # fmt: skip
    held_out: dict[str, Any] = {}
    if sparse:
        cli_sparse.refuse(solver, init, starts)
        result, scores = cli_sparse.solve(table, reading, fitting, method, pivots or 100)
        held_out = {"held_out": scores.to_dict()}
        more: dict[str, Any] = {}
        labels, n_points = result.labels, result.n_points
    else:
        data, more = cli_data.prepare(table, reading)
        labels, n_points = data.labels, data.n_points
    if attributes is not None:
        more |= cli_data.read_attributes(attributes, labels, n_points, encoding)
    _check_color(color, set(more))
    if not sparse:
        result = cli_data.solve(data, fitting)
    if not quiet:
        say(result.summary())
        if sparse:
            say(str(scores))
        elif line := cli_data.asymmetry_line(data, result, jobs):
            say(line)
    elif result.status not in ("converged", "closed_form"):
        say(f"finsler: warning: {one_line(result.message)}")
    cli_output.write(targets, result, attributes=more, color=color, title=title, quiet=quiet)
    if json:
        cli_output.print_json(
            {
                "input": table.name,
                "kind": table.kind,
                "points": result.n_points,
                "dimension": result.n_components,
                "alpha": result.alpha,
                "normalized_stress": result.normalized_stress,
                "stress": result.stress,
                "iterations": result.n_iter,
                "status": result.status,
                "message": result.message,
                **held_out,
                "outputs": [str(target.path) for target in targets],
            }
        )
    if result.status == "interrupted":
        say("finsler: stopped by Ctrl-C; what was found so far was written.")
        raise typer.Exit(130)


@app.command(
    epilog=examples(
        "finsler report times.csv",
        "finsler report roads.csv --kind edges",
        "finsler report times.csv --json | jq .verdict",
        "finsler report web.csv --kind edges --sample 100",
    )
)
def report(
    file: shared.Input,
    kind: shared.Kind = "auto",
    columns: shared.Columns = None,
    similarity: shared.Similarity = None,
    zeros: shared.Zeros = None,
    diagonal: shared.Diagonal = None,
    unreachable: shared.Unreachable = None,
    hops: shared.Hops = False,
    neighbors: shared.Neighbors = None,
    sample: Annotated[
        int | None,
        option(
            shared.DATA,
            min=1,
            metavar="N",
            help="Look at the ways from and to N nodes of a graph only.",
            show_default="50 beyond 5,000 nodes",
        ),
    ] = None,
    jobs: shared.Jobs = None,
    encoding: shared.Encoding = None,
    quiet: shared.Quiet = False,
    json: shared.Json = False,
) -> None:
    """Report how asymmetric the data are, and how much of that a map can show. No map is made."""
    from finsler.cli import data as cli_data
    from finsler.cli import output as cli_output
    from finsler.cli import sparse as cli_sparse
    from finsler.geometry.asymmetry import asymmetry_report

    reading = cli_data.Reading(
        kind=kind, columns=columns, encoding=encoding, similarity=similarity, zeros=zeros, diagonal=diagonal,
        unreachable=unreachable, hops=hops, neighbors=neighbors, jobs=jobs, quiet=quiet,
    )  # fmt: skip
    table = cli_data.read_input(file, reading)
    found: Any = cli_sparse.report(table, reading, sample)
    if found is None:
        D, labels = cli_data.plain_distances(table, reading)
        found = asymmetry_report(D, labels=labels, n_jobs=jobs)
    if json:
        cli_output.print_json(found.to_dict())
    else:
        print(found)


app.command(epilog=cli_compare.EXAMPLES)(cli_compare.compare)
app.command(epilog=cli_learning.LEARN_EXAMPLES)(cli_learning.learn)
app.command(epilog=cli_learning.PREDICT_EXAMPLES)(cli_learning.predict)


@app.command(
    epilog=examples(
        "finsler place map.npz new.csv --out new_places.csv      a row per new point: its values to the points of the map",
        "finsler place map.npz new.csv --from back.csv --out both.html      and from the points of the map to it",
        "finsler place map.npz new.csv --out larger.npz --out -",
    )
)
def place(
    map_file: shared.MapFile,
    new: Annotated[
        str | None,
        typer.Argument(
            metavar="[NEW.csv]",
            help="A row per new point, a column per point of the map: values from row to column.",
        ),
    ] = None,
    back: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FILE", help="The same for the other direction: values from column to row."
        ),
    ] = None,
    out: shared.Outs = None,
    force: shared.Force = False,
    title: shared.Title = None,
    encoding: shared.Encoding = None,
    quiet: shared.Quiet = False,
) -> None:
    """Place new points into a saved map.

    CSV gets the new points: label, x1, ..., height, misfit (0 is perfect). All other files get the whole map with them.
    """
    from finsler.cli import data as cli_data
    from finsler.cli import output as cli_output
    from finsler.cli.place import place_points

    if new is None and back is None:
        raise Mistake("give NEW.csv, --from FILE or both: new points need values to be placed by.")
    targets = cli_output.plan(
        out or ["-"], force=force, inputs=[f for f in (map_file, new, back) if f is not None]
    )
    embedding = finsler.Embedding.load(map_file)
    there, here = (
        None if f is None else cli_data.read_new_points(f, embedding, encoding) for f in (new, back)
    )
    placed = place_points(embedding, there, here)
    if not quiet:
        points = "new point" if len(placed.labels) == 1 else "new points"
        say(f"{len(placed.labels)} {points} among {embedding.n_points}: {', '.join(placed.labels[:8])}")
    cli_output.write(
        targets, placed.whole, attributes={"placed": placed.groups}, color="placed", title=title, table=placed.table,
        quiet=quiet,
    )  # fmt: skip


@app.command(epilog=examples("finsler distance map.npz JFK LAX", "finsler distance map.npz JFK LAX --json"))
def distance(
    map_file: shared.MapFile,
    a: Annotated[str, typer.Argument(metavar="A", help="A point, by its label.", show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.", show_default=False)],
    json: shared.Json = False,
) -> None:
    """Measure the distance between two points both ways, on the map and in the data if they were saved with it."""
    from finsler.cli import data as cli_data
    from finsler.cli import output as cli_output
    from finsler.data.labels import LabelIndex

    embedding = finsler.Embedding.load(map_file)
    points = LabelIndex(embedding.labels, embedding.n_points)
    i, j = points.from_text(a), points.from_text(b)
    there, back = cli_data.both_ways(embedding, i, j)
    if json:
        names = ("on_map", "in_data")
        ways = {"there": dict(zip(names, there, strict=True)), "back": dict(zip(names, back, strict=True))}
        cli_output.print_json({"from": a, "to": b, **ways})
        return
    for start, end, (value, datum) in ((a, b, there), (b, a, back)):
        print(f"{start} -> {end}  {value:.6g}" + ("" if datum is None else f"  ({datum:.6g} in the data)"))


@app.command(
    epilog=examples(
        "finsler plot map.npz --out map.png",
        "finsler plot map.npz --attributes towns.csv --color region --out map.html",
    )
)
def plot(
    map_file: shared.MapFile,
    out: shared.Outs = None,
    force: shared.Force = False,
    attributes: shared.Attributes = None,
    color: shared.Color = None,
    title: shared.Title = None,
    encoding: shared.Encoding = None,
    quiet: shared.Quiet = False,
) -> None:
    """Draw a saved map, as a picture or as a page to explore."""
    from finsler.cli import data as cli_data
    from finsler.cli import output as cli_output

    if not out:
        raise Mistake(f"say where to draw it: --out map.png ({' '.join(cli_output.KNOWN)}).")
    reads = [map_file, *filter(None, [attributes])]
    targets = cli_output.plan(out, force=force, inputs=reads)
    embedding = finsler.Embedding.load(map_file)
    more = {}
    if attributes is not None:
        more = cli_data.read_attributes(attributes, embedding.labels, embedding.n_points, encoding)
    _check_color(color, set(more))
    cli_output.write(targets, embedding, attributes=more, color=color, title=title, quiet=quiet)


@app.command(epilog=examples("finsler demo", "finsler demo flights --force"))
def demo(
    folder: Annotated[str, typer.Argument(metavar="[FOLDER]", help="Where to write.")] = "finsler-demo",
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    """Map the flight hours between 64 airports, where a westerly jet makes the way west the longer one."""
    from finsler.cli.demo import write_demo

    write_demo(Path(folder), force=force, quiet=quiet)


@datasets.command("list", epilog=examples("finsler datasets list"))
def list_datasets(json: shared.Json = False) -> None:
    """List the example data."""
    from finsler.cli import demo as cli_demo
    from finsler.cli import output as cli_output

    known = cli_demo.descriptions()
    if json:
        cli_output.print_json(known)
        return
    width = max(map(len, known))
    for name, text in known.items():
        print(f"{name:<{width}}  {text}")


@datasets.command(
    "fetch",
    epilog=examples(
        "finsler datasets fetch cora                     prints where the files are",
        "finsler datasets fetch cora --out cora.csv      writes edges that finsler embed reads",
        "finsler datasets fetch flight-hours --out times.csv",
    ),
)
def fetch_dataset(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name from the list.", show_default=False)],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE.csv", help="Write it as CSV; - is stdout.")
    ] = None,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    """Get example data: downloaded once, checked, and kept in the user's cache."""
    from finsler.cli import demo as cli_demo

    cli_demo.fetch(name, out, force=force, quiet=quiet)


def _check_color(color: str | None, known: set[str]) -> None:
    if color is not None and color not in known:
        there = (
            f"there are {', '.join(sorted(known))}" if known else "there are no attributes; see --attributes"
        )
        raise Mistake(f"--color {color} is not an attribute of the points; {there}.")
