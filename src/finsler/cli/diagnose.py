"""``finsler diagnose``: pictures of how well a saved map shows its data, in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from finsler.cli import options as opt
from finsler.cli.output import PICTURES
from finsler.errors import InputError

if TYPE_CHECKING:
    from finsler.embedding import Embedding

EXAMPLES = opt.examples(
    "finsler diagnose map.npz --out folder",
    "finsler diagnose map.npz --out folder --format pdf --scree",
    "finsler diagnose map.npz --worst worst.csv",
)
SCREE = 300  # points up to which maps of other dimensions are fitted unless asked for
WORST = "worst_pairs.csv"
Folder = Annotated[
    str | None,
    opt.option(opt.OUTPUT, "Where to; it is made if there is none.", False, "--out", "-o", metavar="FOLDER"),
]
Format = Annotated[str, opt.choice(opt.OUTPUT, "png|svg|pdf", "Of the pictures.", "png")]
Scree = Annotated[
    bool | None,
    opt.option(
        opt.OUTPUT, "Fit maps of 1 to 4 dimensions, too.", f"up to {SCREE} points", "--scree/--no-scree"
    ),
]


def diagnose(
    map_file: opt.MapFile,
    out: Folder = None,
    worst: opt.Worst = None,
    format: Format = "png",
    scree: Scree = None,
    force: opt.Force = False,
    quiet: opt.Quiet = False,
) -> None:
    """Draw how well a saved map shows its data.

    shepard: dissimilarities against distances. asymmetry: what is costlier
    in the data against the climb on the map. residuals: the worst pairs as
    arrows on the map. heatmaps: data, map, and their difference.
    stress_per_point: which points fit worst. scree: the stress over the
    dimensions. worst_pairs.csv: the pairs with the largest part in the
    stress. What needs data that the map does not hold is left out, and said.
    """
    from finsler.cli import output
    from finsler.embedding import Embedding

    if out is None and worst is None:
        raise InputError("say where to write: a folder for pictures, or --worst WORST.csv.", argument="out")
    if f".{format}" not in PICTURES:
        raise InputError(f"must be png, svg or pdf, got {format}.", argument="format")
    pairs = output.plan_worst(worst, force=force, inputs=[map_file])
    folder = None if out is None else _folder(out, format, force)
    embedding = Embedding.load(map_file)
    if pairs is not None:
        output.write_text(pairs, output.worst_csv(embedding))
    written, left_out = [] if pairs is None else [str(pairs)], {}
    if folder is not None:
        folder.mkdir(exist_ok=True)
        for name, make in _pictures(embedding, scree).items():
            path = folder / f"{name}.{format}"
            try:
                _draw(path, make)
                written.append(str(path))
            except InputError as error:
                left_out[name] = output.explain(error)
        if embedding.fitted_to is not None:
            output.write_text(folder / WORST, output.worst_csv(embedding))
            written.append(str(folder / WORST))
    if not quiet:
        output.say(f"Written: {', '.join(written)}")
        for name, why in left_out.items():
            output.say(f"Left out: {name}. {why}")


def _pictures(embedding: Embedding, scree: bool | None) -> dict[str, Callable[[], Any] | str]:
    """What to draw, by the name of its file; or why it is not drawn."""
    from finsler import plotting

    made: dict[str, Callable[[], Any] | str] = {
        "shepard": lambda: plotting.plot_shepard(embedding),
        "asymmetry": lambda: plotting.plot_asymmetry(embedding),
        "residuals": lambda: plotting.plot_residuals(embedding),
        "heatmaps": lambda: plotting.plot_heatmaps(embedding),
        "stress_per_point": lambda: plotting.plot_stress_per_point(embedding),
    }
    if embedding.stress is None:
        made["stress_per_point"] = "The map was fitted to something else than distances."
    data, n = embedding.data, embedding.n_points
    if data is None:
        made["scree"] = "It is fitted to the data, and this map carries none."
    elif embedding.scaled is not None:
        made["scree"] = f"Maps with the scaling {embedding.scaling} are compared by finsler dims."
    elif scree is None and n > SCREE:
        made["scree"] = f"Four maps of {n:,} points take long; --scree fits them."
    elif scree is not False:
        dimensions = range(1, min(4, n) + 1)
        made["scree"] = lambda: plotting.plot_scree(data, dimensions=dimensions, alpha="auto", random_state=0)
    return made


def _draw(path: Path, make: Callable[[], Any] | str) -> None:
    from finsler.cli import output

    if isinstance(make, str):
        raise InputError(make)
    output.draw(path, lambda: output.figure_of(make()))


def _folder(out: str, format: str, force: bool) -> Path:
    """Folder to write to, checked before anything is drawn."""
    folder = Path(out)
    names = ("shepard", "asymmetry", "residuals", "heatmaps", "stress_per_point", "scree")
    files = [folder / WORST, *(folder / f"{name}.{format}" for name in names)]
    there = next((path for path in files if os.path.lexists(path)), None)
    checks = {
        "it is a file; name a folder.": folder.exists() and not folder.is_dir(),
        f"there is no folder {folder.parent}; make it first.": not folder.parent.is_dir(),
        "it cannot be written to.": folder.is_dir() and not os.access(folder, os.W_OK),
        f"{there} exists already; --force replaces it.": there is not None and not force,
    }
    for problem, wrong in checks.items():
        if wrong:
            raise InputError(f"{out}: {problem}", argument="out")
    return folder
