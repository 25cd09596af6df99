"""``finsler test``, ``dims``, ``confidence`` and ``align``: chance, dimensions, how sure is a map, do two maps agree?"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from finsler.cli import options as opt
from finsler.cli.output import say
from finsler.errors import InputError

TEST_EXAMPLES = opt.examples(
    "finsler test times.csv",
    "finsler test times.csv --n-components 3 --out test.png",
    "finsler test moves.csv --counts",
    "finsler test times.csv --json | jq .asymmetry.heights.p_value",
)
DIMS_EXAMPLES = opt.examples("finsler dims times.csv --max-dim 3 --out dims.png")
CONFIDENCE_EXAMPLES = opt.examples(
    "finsler confidence map.npz --out sure.png --out sure.html",
    "finsler confidence map.npz --level 0.99 --json | jq .confidence.alpha_se",
)
ALIGN_EXAMPLES = opt.examples(
    "finsler align map.npz other.npz",
    "finsler align map.npz other.npz --out overlay.png --out moved.npz",
)
TESTS = "The test"
_PICTURES = "Draw it: .png .svg .pdf. Repeatable."
_SURE = "Draw it: .png .svg .pdf; or .html, the page to explore the map, with the ellipses. Repeatable."
_ALIGNED = "Draw both maps: .png .svg .pdf; or write the second one, moved: .npz .csv. Repeatable."
_COUNTS = "FILE holds whole numbers that were counted, from row to column: test those."
_DRIFT = (
    "Turn the second map about its height only, or any way; auto keeps up where it is if both have a drift."
)
Counted = Annotated[bool, opt.option(TESTS, _COUNTS, False, "--counts")]
Dims = Annotated[int | None, opt.number(TESTS, "Dimension of the maps.", "2", "--n-components", "--dim")]
Draws = Annotated[int, opt.number(TESTS, "Random tables of the test of fit; 0 for none.", "99", min=0)]
Seed = Annotated[int, opt.number(TESTS, "Seed of random numbers.", "0", min=0, max=2**32 - 1)]
Most = Annotated[int, opt.number(TESTS, "Largest dimension.", "4")]
Folds = Annotated[int | None, opt.number(TESTS, "Parts of the pairs, held out in turn.", "10", min=2)]
Tables = Annotated[
    int, opt.number(TESTS, "Tables with the values in random places; 0 for none.", "10", min=0)
]
Exchanges = Annotated[
    int | None, opt.number(TESTS, "Random exchanges of points; 0 for no test.", "999", min=0)
]
Level = Annotated[float, opt.option("The ellipses", "Coverage of each ellipse.", "0.95", metavar="SHARE")]
Drift = Annotated[str | None, opt.choice(TESTS, "auto|kept|free", _DRIFT, "auto")]
Pictures = Annotated[
    list[str] | None, opt.option(opt.OUTPUT, _PICTURES, False, "--out", "-o", metavar="PATH")
]
Sure = Annotated[list[str] | None, opt.option(opt.OUTPUT, _SURE, False, "--out", "-o", metavar="PATH")]
Aligned = Annotated[list[str] | None, opt.option(opt.OUTPUT, _ALIGNED, False, "--out", "-o", metavar="PATH")]
Second = Annotated[
    str, typer.Argument(metavar="OTHER.npz", help="The map to lay over it.", show_default=False)
]


def run_tests(
    context: typer.Context,
    file: opt.Input,
    kind: opt.Kind = "auto",
    source: opt.Source = None,
    target: opt.Target = None,
    value: opt.Value = None,
    where: opt.Where = None,
    aggregate: opt.Aggregate = None,
    similarity: opt.Similarity = None,
    zeros: opt.Zeros = None,
    diagonal: opt.Diagonal = None,
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    variable: opt.Variable = None,
    orientation: opt.Orientation = None,
    counts: Counted = False,
    n_components: Dims = None,
    n_permutations: Draws = 99,
    random_state: Seed = 0,
    out: Pictures = None,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Test whether asymmetry and fit are more than chance: heights, circles, the drift of a map, its stress.

    Signs of the asymmetry are flipped at random, and pairs change places. Lengths of paths are refused: they share edges, so
    their errors are not independent. The exit code does not depend on the answer.
    """
    from finsler.cli import inputs, output
    from finsler.inference import asymmetry_test, fit_test

    targets = output.plan(out, force=force, inputs=[file], known=output.PICTURES, json=True) if out else []
    options = opt.given(context)
    table = inputs.read(options, paths=counts)
    found: dict[str, Any] = {}
    if counts:
        if table.kind != "matrix":
            raise InputError(f"goes with matrix; {table.name} is read as {table.kind}.", argument="counts")
        found["asymmetry"] = asymmetry_test(counts=table.values)
    else:
        data = inputs.measure(table, {**options, "missing": "mask"})
        given: dict[str, Any] = {"n_components": n_components or 2, "random_state": random_state}
        asked: dict[str, Any] = {"asymmetry": partial(asymmetry_test, data, **given)}
        if n_permutations:
            asked["fit"] = partial(fit_test, data, n_permutations=n_permutations, **given)
        found = _answers(asked)
    _say(found, json, targets, quiet)


def choose_dims(
    context: typer.Context,
    file: opt.Input,
    kind: opt.Kind = "auto",
    source: opt.Source = None,
    target: opt.Target = None,
    value: opt.Value = None,
    where: opt.Where = None,
    aggregate: opt.Aggregate = None,
    similarity: opt.Similarity = None,
    zeros: opt.Zeros = None,
    diagonal: opt.Diagonal = None,
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    variable: opt.Variable = None,
    orientation: opt.Orientation = None,
    max_dim: Most = 4,
    n_folds: Folds = None,
    n_permutations: Tables = 10,
    random_state: Seed = 0,
    out: Pictures = None,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Choose the dimension of a map, and whether it needs a drift, by pairs that are held out.

    Beside it the stress of each dimension, and what it would be with the same values in random places.
    """
    from finsler.cli import inputs, output
    from finsler.inference import cross_validate, scree

    targets = output.plan(out, force=force, inputs=[file], known=output.PICTURES, json=True) if out else []
    options = opt.given(context)
    table = inputs.read(options, paths=False)
    data = inputs.measure(table, {**options, "missing": "mask"})
    tried = range(1, max_dim + 1)
    chosen = cross_validate(data, dims=tried, random_state=random_state, **inputs.chosen(options, "n_folds"))
    found = scree(
        data, dims=tried, n_permutations=n_permutations, cross_validated=chosen, random_state=random_state
    )
    _say({"dims": found}, json, targets, quiet)


def find_confidence(
    map_file: opt.MapFile,
    level: Level = 0.95,
    out: Sure = None,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Say how sure a saved map is: an ellipse around each point, errors of alpha and of the direction of the drift.

    The map must have been saved with its data. Lengths of paths and scalings but ratio are refused.
    """
    from finsler.cli import output
    from finsler.embedding import Embedding
    from finsler.inference import confidence

    known = (*output.PICTURES, ".html")
    targets = output.plan(out, force=force, inputs=[map_file], known=known, json=True) if out else []
    embedding = Embedding.load(map_file)
    found = confidence(embedding, level=level)
    _say({"confidence": found}, json, [target for target in targets if target.suffix != ".html"], quiet)
    for path in (target.path for target in targets if target.suffix == ".html" and target.path is not None):
        embedding.explore(path, confidence=found)
        if not quiet:
            say(f"Written: {path}")


def align_maps(
    map_file: opt.MapFile,
    other: Second,
    drift: Drift = None,
    n_permutations: Exchanges = None,
    random_state: Seed = 0,
    out: Aligned = None,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Compare two saved maps of the same points: lay the second over the first, and test the agreement."""
    from finsler.cli import output
    from finsler.embedding import Embedding
    from finsler.inference import compare_maps

    known = (*output.PICTURES, ".npz", ".csv")
    targets = output.plan(out, force=force, inputs=[map_file, other], known=known, json=True) if out else []
    first, second = Embedding.load(map_file), Embedding.load(other)
    given: dict[str, Any] = {"drift": drift, "n_permutations": n_permutations}
    found = compare_maps(
        first, second, random_state=random_state, **{k: v for k, v in given.items() if v is not None}
    )
    drawn = [target for target in targets if target.suffix in output.PICTURES]
    _say({"alignment": found}, json, drawn, quiet)
    kept = [target for target in targets if target.suffix not in output.PICTURES]
    if kept:
        output.write(kept, second.align(first), quiet=quiet)


def _answers(asked: dict[str, Any]) -> dict[str, Any]:
    """Results by name, or in their place why a test was refused; if all were, the first refusal is raised."""
    found: dict[str, Any] = {}
    refused = []
    for name, ask in asked.items():
        try:
            found[name] = ask()
        except InputError as error:
            refused.append(error)
            found[name] = f"Not tested, {name}: {error}"
    if len(refused) == len(asked):
        raise refused[0]
    return found


def _say(found: dict[str, Any], json: bool, targets: list[Any], quiet: bool) -> None:
    """Print results, or give them as JSON, and draw those that can be drawn."""
    from finsler.cli import output

    if json:
        output.print_json(
            {name: one if isinstance(one, str) else one.to_dict() for name, one in found.items()}
        )
    else:
        print("\n".join(str(one) for one in found.values()))
    for path, _ in targets:
        output.draw(path, lambda: _picture([one for one in found.values() if not isinstance(one, str)]))
        if not quiet:
            say(f"Written: {path}")


def _picture(found: list[Any]) -> Any:
    """Figure of a result, or of all tests in a row."""
    from finsler.plotting.inference import plot_nulls

    tests = [test for one in found for test in getattr(one, "tests", [one]) if hasattr(test, "null")]
    drawn = plot_nulls([test for test in tests if len(test.null)]) if tests else found[0].plot()
    return (drawn[0] if hasattr(drawn, "__len__") else drawn).figure
