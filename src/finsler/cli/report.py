"""``finsler report`` and ``finsler compare``: how asymmetric the data are, and which model shows it best."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from finsler.cli import options as opt
from finsler.cli.output import say
from finsler.errors import InputError

if TYPE_CHECKING:
    from finsler.cli.output import Target
    from finsler.models import Comparison

EXAMPLES = opt.examples(
    "finsler report times.csv",
    "finsler report roads.csv --kind edges",
    "finsler report times.csv --json | jq .verdict",
    "finsler report web.csv --kind edges --sample 100",
)
Sample = Annotated[
    int | None, opt.number(opt.DATA, "Look at the ways from and to N points only.", "50 beyond 5,000 nodes")
]


def report(
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
    unreachable: opt.Unreachable = None,
    hops: opt.Hops = False,
    n_neighbors: opt.Neighbors = None,
    speed: opt.Speed = None,
    coordinates: opt.Coordinates = None,
    sample: Sample = None,
    n_jobs: opt.Jobs = None,
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    variable: opt.Variable = None,
    orientation: opt.Orientation = None,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Report how asymmetric the data are, and how much of that a map can show. No map is made."""
    from finsler.cli import inputs, output
    from finsler.report import asymmetry_report

    options = opt.given(context)
    rows = options.pop("sample", None)  # here a number of rows, not of a grid
    table = inputs.read(options)
    if table.graph is not None and unreachable:
        raise InputError(
            "does not go with a report of edges: it counts pairs without a path.", argument="unreachable"
        )
    data = inputs.measure(table, {**options, "missing": "mask"}) if table.graph is None else table.graph
    found = asymmetry_report(data, sample=rows, **inputs.chosen(options, "hops", "n_jobs"))
    if json:
        output.print_json(found.to_dict())
    else:
        print(found)


COMPARE_EXAMPLES = opt.examples(
    "finsler compare times.csv",
    "finsler compare morse.csv --diagonal ignore --n-init 20",
    "finsler compare moves.csv --similarity gravity --out table.md --out table.json",
    "finsler compare times.csv --out models.png",
    "finsler compare times.csv --n-components 3 --json | jq '.models[].normalized_stress'",
)
Size = Annotated[int | None, opt.number(opt.MAP, "Dimension of every map.", "2", "--n-components", "--dim")]
Starts = Annotated[
    int | None, opt.number(opt.MAP, "Starts of every model; all but the first are random.", "4")
]
MaxIter = Annotated[int | None, opt.number(opt.MAP, "Iterations from each start, at most.", "2000")]
_LIMIT = "Take the models there are after so long. Not counted: starting up, reading the file, the rest of a step at work."
TimeLimit = Annotated[float | None, opt.number(opt.MAP, _LIMIT, min=0, metavar="SECONDS")]
_OUT = "Write the table: .json .md .txt; or draw drift vectors and Gower's plane: .png .svg .pdf. Repeatable."
Outs = Annotated[list[str] | None, opt.option(opt.OUTPUT, _OUT, False, "--out", "-o", metavar="PATH")]


def compare(
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
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    variable: opt.Variable = None,
    orientation: opt.Orientation = None,
    n_components: Size = None,
    weighting: opt.Weighting = None,
    weights: opt.Weights = None,
    n_init: Starts = None,
    random_state: opt.RandomState = 0,
    max_iter: MaxIter = None,
    time_limit: TimeLimit = None,
    n_jobs: opt.Jobs = None,
    out: Outs = None,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Compare our map with older models of asymmetric data: how well each fits, and with how many numbers.

    Stress is sqrt(sum w (d - D)^2 / sum w D^2) over ordered pairs; sign is the share of asymmetric pairs whose costlier
    way the model gets right, by size the same weighted by the difference; shown is the share of the squared asymmetry.

    Ctrl-C ends the comparison and still prints and writes the models that are there.
    """
    from finsler.cli import inputs, output
    from finsler.models import compare_models

    if "-" in (out or []):
        raise InputError(
            "- is not needed: the table goes to stdout anyway, and with --json as JSON.", argument="out"
        )
    known = (".json", ".md", ".txt", *output.PICTURES)
    targets = output.plan(out, force=force, inputs=[file, weights], known=known) if out else []
    for name, value in (("missing", missing), ("unreachable", unreachable)):
        if value == "hinge":
            raise InputError("the older models know no bounds: instead of hinge, use mask.", argument=name)
    options = opt.given(context)
    table = inputs.read(options)
    data = inputs.measure(table, options)
    names = ("n_components", "n_init", "max_iter", "time_limit", "random_state")
    callback = (
        None if quiet else output.say_when_piped(lambda record: f"{record.model}: {record.seconds:.1f} s")
    )
    found = compare_models(data, callback=callback, **inputs.chosen(options, *names, *inputs.RUNNING))
    plain = {"input": table.name, "kind": table.kind, "random_state": random_state, **found.to_dict()}
    if not quiet:
        for sentence in data.provenance.sentences():
            if sentence not in table.provenance.remarks:  # said when it was read
                say(sentence)
    not_drawn = _write(targets, found, plain)
    if json:
        output.print_json(plain)
    else:
        print(found)
    if not_drawn:
        problem = (
            f"{', '.join(not_drawn)}: not drawn, for drift vectors and Gower's plane were not both reached."
        )
        if found.status != "interrupted":
            raise InputError(problem, argument="time_limit")
        say(f"finsler: {problem}")
    output.end_as(found.status)


def _write(targets: list[Target], found: Comparison, plain: dict[str, Any]) -> list[str]:
    """Write the table and draw its pictures; give the names of those whose models were left out."""
    from finsler.cli import output
    from finsler.plotting.models import plot_models

    not_drawn = []
    for path, suffix in targets:
        if suffix not in output.PICTURES:
            text = json_text.dumps(plain, indent=1) if suffix == ".json" else str(found)
            output.write_text(path, (found.to_markdown() if suffix == ".md" else text) + "\n")
        elif {"drift", "gower"} & {*found.not_run}:
            not_drawn.append(str(path))
        else:
            output.draw(cast(Path, path), lambda: output.figure_of(plot_models(found)))
    return not_drawn
