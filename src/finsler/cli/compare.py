"""``finsler compare``: the older models beside ours, on the user's own data."""

from __future__ import annotations

import json as json_text
from typing import Annotated

from finsler.cli import options as shared
from finsler.cli.errors import Mistake, say
from finsler.cli.options import examples, option

EXAMPLES = examples(
    "finsler compare times.csv",
    "finsler compare morse.csv --diagonal ignore --starts 20",
    "finsler compare moves.csv --similarity gravity --out table.md --out table.json",
    "finsler compare times.csv --dims 3 --json | jq '.models[].normalized_stress'",
)


def compare(
    file: shared.Input,
    kind: shared.Kind = "auto",
    columns: shared.Columns = None,
    dims: Annotated[
        int, option(shared.MAP, "--dims", "--dim", min=1, metavar="N", help="Dimension of every map.")
    ] = 2,
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
    starts: Annotated[
        int,
        option(shared.MAP, min=1, metavar="N", help="Starts of every model; all but the first are random."),
    ] = 4,
    seed: Annotated[
        int, option(shared.MAP, min=0, max=2**31 - 1, metavar="N", help="Seed of random starts.")
    ] = 0,
    max_iter: Annotated[
        int, option(shared.MAP, min=1, metavar="N", help="Iterations from each start, at most.")
    ] = 2000,
    jobs: shared.Jobs = None,
    out: Annotated[
        list[str] | None,
        option(
            shared.OUTPUT, "--out", "-o", metavar="PATH", help="Write the table: .json .md .txt. Repeatable."
        ),
    ] = None,
    force: shared.Force = False,
    encoding: shared.Encoding = None,
    quiet: shared.Quiet = False,
    json: shared.Json = False,
) -> None:
    """Compare our map with older models of asymmetric data: how well each fits, and with how many numbers.

    Stress is sqrt(sum w (d - D)^2 / sum w D^2) over ordered pairs; sign is the share of asymmetric pairs whose dearer
    way the model gets right, by size the same weighted by the difference; shown is the share of the squared asymmetry.
    """
    from finsler.cli import data as cli_data
    from finsler.cli import output as cli_output
    from finsler.models import compare_models

    if "-" in (out or []):
        raise Mistake("--out - is not needed: the table goes to stdout anyway, and with --json as JSON.")
    reads = [file, *([] if weights in cli_data.WEIGHTINGS else [weights])]
    targets = cli_output.plan(out or [], force=force, inputs=reads, known=(".json", ".md", ".txt"))
    if "hinge" in (missing, unreachable):
        raise Mistake("the older models know no bounds: instead of hinge, use mask to leave such pairs out.")
    reading = cli_data.Reading(
        kind=kind, columns=columns, encoding=encoding, similarity=similarity, zeros=zeros, diagonal=diagonal,
        missing=missing, unreachable=unreachable, connection=connection, hops=hops, neighbors=neighbors, weights=weights,
        jobs=jobs, quiet=quiet,
    )  # fmt: skip
    table = cli_data.read_input(file, reading)
    data, _ = cli_data.prepare(table, reading)
    found = compare_models(
        data, dims, n_init=starts, max_iter=max_iter, random_state=seed, n_jobs=jobs, verbose=reading.verbose
    )
    plain = {"input": table.name, "kind": table.kind, "seed": seed, **found.to_dict()}
    if not quiet:
        for sentence in data.provenance.sentences():
            say(sentence)
    for path, suffix in targets:
        text = json_text.dumps(plain, indent=1) if suffix == ".json" else str(found)
        cli_output.write_text(path, (found.to_markdown() if suffix == ".md" else text) + "\n")
    if json:
        cli_output.print_json(plain)
    else:
        print(found)
