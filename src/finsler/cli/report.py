"""``finsler report``: how asymmetric the data are."""

from __future__ import annotations

from typing import Annotated

import typer

from finsler.cli import options as opt
from finsler.errors import InputError

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
    sample: Sample = None,
    n_jobs: opt.Jobs = None,
    encoding: opt.Encoding = None,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Report how asymmetric the data are, and how much of that a map can show. No map is made."""
    from finsler.cli import inputs, output
    from finsler.report import asymmetry_report

    options = opt.given(context)
    table = inputs.read(options)
    if table.graph is not None and unreachable:
        raise InputError(
            "does not go with a report of edges: it counts pairs without a path.", argument="unreachable"
        )
    data = inputs.measure(table, {**options, "missing": "mask"}) if table.graph is None else table.graph
    found = asymmetry_report(data, **inputs.chosen(options, "hops", "sample", "n_jobs"))
    if json:
        output.print_json(found.to_dict())
    else:
        print(found)
