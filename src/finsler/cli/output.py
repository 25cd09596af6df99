"""What the command line writes: files, checked before anything is computed and whole or not at all; lines and errors."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from finsler._io import utf8, write_atomically
from finsler.errors import InputError, MissingExtraError, one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from finsler.embedding import Embedding


PICTURES = (".png", ".svg", ".pdf")
WORST, WORST_PAIRS = "worst pairs", 100
EXPORTS = (".gexf", ".graphml", ".json", ".geojson")  # those of finsler.exports.WRITERS
KNOWN = (".html", *PICTURES, ".csv", ".npz", *EXPORTS)
# What each needs beside the base install; both come with the extra "plot".
_NEEDS = {".html": "plotly", **dict.fromkeys(PICTURES, "matplotlib")}

# Whole TrueType fonts in PDF, which journals ask for, and words as words in SVG: both can be searched and edited.
TEXT_STAYS_TEXT = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}


PIPED_AFTER = 2.0  # seconds until progress is told in lines


class Target(NamedTuple):
    """A file to write, or stdout if there is no path."""

    path: Path | None
    suffix: str


def plan(
    outs: Sequence[str] | None,
    *,
    force: bool,
    inputs: Sequence[str | None] = (),
    known: Sequence[str] = KNOWN,
    json: bool = False,
) -> list[Target]:
    """Check where output goes, before the work begins; ``-`` is CSV to stdout, which ``json`` may take.

    Without ``json`` there must be an output. Files that are ``inputs`` are never written, existing ones only by
    ``force``; ``known`` are the suffixes that make sense here.
    """
    if not outs and not json:
        raise InputError(f"say where to write: a file that ends in {' '.join(known)}, or -.", argument="out")
    targets: list[Target] = []
    seen: set[str | None] = set()
    read = {os.path.realpath(name) for name in inputs if name is not None and name != "-"}
    for out in outs or []:
        path = None if out == "-" else Path(out)
        if (key := None if path is None else os.path.realpath(path)) in seen:
            raise InputError(f"{out} is given twice; give each output once.", argument="out")
        seen.add(key)
        if path is None and json:
            raise InputError("- and --json both write to stdout; give one of them.", argument="out")
        if path is not None:
            _check_path(path, force=force, read=read, known=known)
        targets.append(Target(path, ".csv" if path is None else path.suffix.lower()))
    return sorted(targets, key=lambda target: target.path is None)  # stdout last: a pipe may break


def _check_path(path: Path, *, force: bool, read: set[str], known: Sequence[str]) -> None:
    suffix = path.suffix.lower()
    checks = {
        f"the suffix {suffix or '(none)'} is not known; known are {' '.join(known)}, and - for CSV on stdout.": (
            suffix not in known
        ),
        "it is a folder; name a file.": path.is_dir(),
        f"there is no folder {path.parent}; make it first.": not path.parent.is_dir(),
        "it is a file that is read.": os.path.realpath(path) in read,
        "it exists already; --force replaces it.": os.path.lexists(path) and not force,
        f"the folder {path.parent} cannot be written to.": not os.access(path.parent, os.W_OK),
        f"it needs {_NEEDS.get(suffix)}: pip install 'finsler[plot]'": not available(suffix),
    }
    for problem, there in checks.items():
        if there:
            raise InputError(f"{path}: {problem}", argument="out")


def plan_worst(worst: str | None, *, force: bool, inputs: Sequence[str | None]) -> Path | None:
    """Check where the worst pairs go."""
    if worst is None:
        return None
    try:
        return plan([worst], force=force, inputs=inputs, known=(".csv",))[0].path
    except InputError as error:
        raise InputError(str(error), argument="worst") from None


def available(suffix: str) -> bool:
    """Whether what files with this suffix need is installed."""
    return suffix not in _NEEDS or find_spec(_NEEDS[suffix]) is not None


def write(
    targets: Sequence[Target],
    embedding: Embedding,
    *,
    color: str | None = None,
    title: str | None = None,
    placed: int = 0,
    quiet: bool = False,
    keep_data: bool | None = None,
    arcs: bool | None = None,
    places: bool = False,
    worst: Path | None = None,
) -> None:
    """Write a map to each target; if one fails, the others are written all the same.

    CSV has only the last points if so many were ``placed``, and ``keep_data`` says whether the data go into npz. Pictures
    have ``arcs``, if there are few, and show the original ``places`` instead of the map. The ``worst`` pairs go to a CSV
    file of their own.
    """
    written: list[str] = []
    failure: Exception | None = None
    for path, suffix in [*targets, *([] if worst is None else [Target(worst, WORST)])]:
        try:
            if suffix == WORST:
                write_text(path, worst_csv(embedding))
            elif path is None or suffix == ".csv":
                write_text(path, map_csv(embedding, placed=placed))
            elif suffix == ".npz":
                embedding.save(path, with_data=keep_data)
            elif suffix == ".html":
                from finsler.plotting.explorer import explore

                explore(embedding, path, color=color, title=title)
            elif suffix in EXPORTS:
                from finsler.exports import write_export

                write_export(embedding, path)
            else:
                draw(path, lambda: _picture(embedding, title, color, arcs, places))
            written += [] if path is None else [str(path)]
        except MENDABLE as error:
            if failure is not None:
                say(f"finsler: {path}: {explain(error)}")
            failure = failure or error
    if written and not quiet:
        say(f"Written: {', '.join(written)}")
    if failure is not None:
        raise failure


def _picture(
    embedding: Embedding, title: str | None, color: str | None, arcs: bool | None, places: bool
) -> Any:
    from finsler.plotting import plot_map, plot_places

    plot = plot_places if places else plot_map
    return plot(embedding, title=title, color=color, arcs="auto" if arcs is None else arcs).figure


def say_when_piped(words: Callable[[Any], str]) -> Callable[[Any], None]:
    """A callback that says a line about each result after a while, where no progress line can be shown."""
    began = time.perf_counter()

    def callback(result: Any) -> None:
        if not sys.stderr.isatty() and time.perf_counter() - began > PIPED_AFTER:
            say(words(result))

    return callback


def say_map(embedding: Embedding, *, quiet: bool, said: Sequence[str]) -> None:
    """Say what was found, without what was `said`; of a quiet command only that the search has not ended as it should."""
    if not quiet:
        say(embedding.summary(said=said))
    elif embedding.status not in ("converged", "closed_form"):
        say(f"finsler: warning: {one_line(embedding.message)}")


def check_places(targets: Sequence[Target], names: Mapping[str, Any]) -> None:
    """Refuse GeoJSON of points whose longitude and latitude are not known, before anything is computed."""
    if any(suffix == ".geojson" for _, suffix in targets):
        from finsler.exports.geography import geographic_places

        geographic_places(names)


def end_as(status: str) -> None:
    """End with the code of Ctrl-C if that is how the work ended."""
    if status == "interrupted":
        say("finsler: stopped by Ctrl-C; what was found so far was written.")
        raise typer.Exit(130)


def check_color(color: str | None, names: Iterable[str]) -> None:
    """Refuse a color that is no attribute, before anything is computed."""
    if color is not None and color not in {*names, "height", "share of the stress"}:
        there = f"there are {', '.join(names)}" if names else "there are none; see --attributes"
        raise InputError(f"{color!r} is not an attribute of the points; {there}.", argument="color")


def figure_of(axes: Any) -> Any:
    """Figure of Axes, or of several in an array."""
    return getattr(axes, "flat", [axes])[0].figure


def draw(path: Path, make: Callable[[], Any]) -> None:
    """Write the figure that a function makes, whole or not at all."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    kind = path.suffix.lower().removeprefix(".")
    with matplotlib.rc_context(TEXT_STAYS_TEXT):
        figure = make()
        try:
            write_atomically(path, lambda file: figure.savefig(file, format=kind, dpi=150))
        finally:
            plt.close(figure)


def map_csv(embedding: Embedding, *, placed: int = 0) -> str:
    """Give a map as CSV: label, x1, ..., height, stress_share, attributes; or the last points, just placed, with misfit.

    Numbers are in full, so that nothing is lost.
    """
    from finsler.exports.columns import map_columns, plain_values, point_columns

    last, values = "stress_share", embedding.stress_per_point
    if placed and embedding.misfit is not None:
        last, values = "misfit", embedding.misfit[-placed:]
    n, columns = len(values), (map_columns if placed else point_columns)(embedding)
    columns = {last if name == "stress_share" else name: column[-n:] for name, column in columns.items()}
    columns[last] = values
    labels = list(range(embedding.n_points)) if embedding.labels is None else embedding.labels
    cells = [
        ["" if value is None else value for value in plain_values(column)] for column in columns.values()
    ]
    return csv_text([["label", *columns], *zip(labels[-n:], *cells, strict=True)])


def worst_csv(embedding: Embedding, top: int = WORST_PAIRS) -> str:
    """Give the pairs that a map shows worst as CSV, the worst first."""
    from finsler.exports.exported import PairFit

    return csv_text([PairFit._fields, *embedding.worst_pairs(top)])


def csv_text(rows: Sequence[Sequence[Any]]) -> str:
    """Write rows as CSV that :func:`finsler.data.tables.read_table` reads back: text that needs it is quoted."""
    lines = io.StringIO()
    plain, quoted = (
        csv.writer(lines, lineterminator="\n", quoting=q) for q in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    )
    for row in rows:
        comment = str(row[0]).lstrip()[:1] in ("#", "%")
        (quoted if comment else plain).writerow(row)
    return lines.getvalue()


def matrix_csv(D: NDArray[Any], labels: Sequence[Any]) -> str:
    """Write a matrix as CSV with its labels in the first row and column; NaN are empty cells."""
    rows = (
        [label, *("" if math.isnan(x) else x for x in row)]
        for label, row in zip(labels, D.tolist(), strict=True)
    )
    return csv_text([["", *labels], *rows])


def print_json(record: Any) -> None:
    """Print plain Python data as JSON; what JSON cannot say, NaN and inf, becomes null."""

    def clean(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: clean(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [clean(item) for item in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    write_text(None, json.dumps(clean(record), indent=2) + "\n")


def write_text(path: Path | None, text: str) -> None:
    """Write text to a file, whole or not at all, or to stdout if there is no path."""
    if path is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(utf8(text))  # UTF-8 with plain line ends, as in files
        sys.stdout.buffer.flush()
        return
    write_atomically(path, lambda file: file.write(utf8(text)))


# What the command line says when something is wrong: one line for what the user can mend, a traceback for bugs.

MENDABLE = (InputError, MissingExtraError, OSError, MemoryError)


def explain(error: BaseException, options: Mapping[str, str] | None = None) -> str:
    """Put an error that the user can mend on one line, which starts with the option to blame.

    ``options`` are those of the command by argument: ``{"n_components": "--n-components"}``.
    """
    text = str(error)
    argument = error.argument if isinstance(error, InputError) else None
    if argument is not None and argument in (options or {}):
        rest = text.removeprefix(argument)
        for mark in (" = ", "=", ": ", " "):  # "n_init = 0 is too small", "n_init must be ..."
            if rest != text and rest.startswith(mark):
                text = rest.removeprefix(mark)
                break
        text = f"{(options or {})[argument]}: {text}"
    elif isinstance(error, MemoryError) and not text:  # numpy's own
        text = "There is not enough memory."
    elif isinstance(error, FileNotFoundError) and error.filename:
        text = f"There is no file {error.filename}."
    elif isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return one_line(in_words_of_options(text, options or {}))


def in_words_of_options(text: str, options: Mapping[str, str]) -> str:
    """Arguments as the command line writes them: ``missing='mask'`` becomes ``--missing mask``.

    Examples
    --------
    >>> in_words_of_options("Pass missing='mask', or n_init=20.", {"missing": "--missing", "n_init": "--n-init"})
    'Pass --missing mask, or --n-init 20.'
    """

    def written(found: re.Match[str]) -> str:
        return f"{options[found[1]]} {found[2] or found[3]}" if found[1] in options else found[0]

    said = re.sub(r"""\b([a-z_]{1,40})=(?:['"]([\w-]{1,40})['"]|([0-9.]{0,20}[0-9])\b)""", written, text)
    return re.sub(r"(--[a-z-]{1,40} [\w.-]{1,40}) \(\1\)", r"\1", said)  # which was written both ways


def say(text: str) -> None:
    """Write a line to stderr."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def warnings_in_lines(options: Mapping[str, str] | None = None) -> Iterator[None]:
    """Show the library's warnings as lines on stderr, and no others; ``options`` are those of :func:`explain`."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        say(f"finsler: warning: {one_line(in_words_of_options(str(message), options or {}))}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        warnings.simplefilter("default", RuntimeWarning)
        warnings.showwarning = show
        yield
