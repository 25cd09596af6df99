"""One page to explore a map: measure both ways, find neighbors, see where it fits badly. It opens offline.

The page is ``explorer_assets/page.html`` with its body, its style, its script, plotly.js and the map written into it.
Whatever the user named (labels, attributes, title, unit) travels as JSON or escaped, and the script shows it as text, never
as HTML. The script is one function, ``explorer(root, record, Plotly)``, which others than the page can call, too: `root`
holds :func:`body`, `record` is what :func:`page_record` gives.
"""

from __future__ import annotations

import html
import json
import math
import os
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_arguments, check_words
from finsler._io import utf8, write_atomically
from finsler.data.attributes import columns_of, in_order, is_missing
from finsler.data.provenance import count
from finsler.errors import InputError, MissingExtraError
from finsler.geometry.residuals import known_block, worst_pairs
from finsler.plotting import colors
from finsler.plotting.explorer_layers import (
    confidence_rows,
    packed,
    packed_arcs,
    packed_confidence,
    packed_places,
)
from finsler.plotting.swirl import record as turn_record
from finsler.plotting.swirl import rule, turn_of
from finsler.report import asymmetry_report
from finsler.solvers.swirl.choice import turning

if TYPE_CHECKING:
    from finsler.data.matrix import Dissimilarities
    from finsler.embedding import Embedding

DATA_POINTS = 1_500  # maps of up to this many points bring their data along, 4 bytes an ordered pair
MAX_POINTS = 20_000  # beyond, a random sample is shown
WORST_PAIRS = 30
SCRIPTS = (
    "measure.js", "view.js", "legend.js", "swirl.js", "layers.js", "compass.js", "labels.js", "picture.js", "panel.js",
    "search.js", "controls.js",
)  # fmt: skip


def explore(
    embedding: Embedding,
    path: str | os.PathLike[str],
    *,
    attributes: Any = None,
    color: Any = None,
    title: str | None = None,
    unit: str | None = None,
    confidence: Any = None,
) -> Path:
    """Write a page on which a map can be turned, searched and measured both ways.

    It is one HTML file that needs no network: click a point and then another to read the way there and the way back, on
    the map and in the data. Where attributes tell where the points really are (lon and lat, or x and y), they can be seen
    there, colored by their heights; where a digraph is behind the map, a chosen point shows its arcs, and two of them the
    fastest ways there and back. Of more than 20,000 points a random sample is shown, the same each time; the data are on the
    page of maps of up to 1,500 points. The page says what it leaves out.

    Parameters
    ----------
    embedding : Embedding
        The map. Beyond three dimensions the first two and the height are drawn; distances use all.
    path : path-like
        Where to; an existing file is replaced once the new one is complete.
    attributes : dict of sequences or data frame, optional
        More about the points than the map's own attributes, to show and to color by: numbers on a scale, words as
        groups. One value per point, in the order of the map; rows of a DataFrame are found by the map's labels if its
        index holds them.
    color : str or array-like of shape (n,), optional
        What the page is colored by when it opens: the name of an attribute, or values as for a picture,
        which then become one more attribute; the height by default. The colors are those of the pictures.
    title : str, optional
        Heading of the page.
    unit : str, optional
        What the data count, such as "hours", shown with distances; by default the unit of the map, if it has one.
    confidence : Confidence, optional
        Ellipses to draw around the points: what :func:`finsler.inference.confidence` or
        :func:`finsler.inference.bootstrap` found for this map.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from finsler import embed_matrix
    >>> towns = embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], labels=["A", "B", "C"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = explore(towns, f"{folder}/towns.html", attributes={"people": [120, 80, 45]})
    ...     page.name, page.stat().st_size > 1_000_000
    ('towns.html', True)
    """
    check_arguments(explore, locals())
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"The page is HTML; give a name that ends in .html, not {Path(path).name!r}.")
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise MissingExtraError("The explorer needs plotly: pip install 'finsler[plot]'.") from error
    record = page_record(
        embedding, attributes=attributes, color=color, title=title, unit=unit, confidence=confidence
    )
    parts = {
        "style": asset("page.css"),
        "script": script(),
        "title": html.escape(record["title"]),
        "body": body(record["title"]),
        # In JSON, < can only stand in strings: written as \u003c, nothing there can end the script element.
        "record": json.dumps(record, allow_nan=False).replace("<", "\\u003c"),
        "plotly": get_plotlyjs().replace("</script", "<\\/script"),
    }
    page = re.sub(r"\{\{(.+?)\}\}", lambda place: parts[place[1]], asset("page.html"))
    return write_atomically(path, lambda file: file.write(utf8(page)))


def points_on_page(n: int) -> NDArray[np.intp]:
    """Which of n points a page shows: all, or a random sample, the same each time."""
    if n <= MAX_POINTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MAX_POINTS, replace=False))


def asset(name: str) -> str:
    """Text of a file of the page."""
    return (files("finsler.plotting") / "explorer_assets" / name).read_text(encoding="utf-8")


def body(title: str) -> str:
    """What is in the page, as HTML."""
    return asset("body.html").replace("{{title}}", html.escape(title))


def script() -> str:
    """JavaScript of the function ``explorer(root, record, Plotly)``, which brings a page to life."""
    return "\n".join(["function explorer(root, record, Plotly) {", *map(asset, SCRIPTS), "}"])


def page_record(
    embedding: Embedding,
    *,
    attributes: Any = None,
    color: Any = None,
    title: str | None = None,
    unit: str | None = None,
    confidence: Any = None,
) -> dict[str, Any]:
    """Everything the script needs, ready for JSON; the arguments are those of :func:`explore`."""
    columns, start = _columns(embedding, attributes, color)
    n, m, data = embedding.n_points, embedding.n_components, embedding.fitted_to
    shown = points_on_page(n)
    notes, without_data = [], ""
    if len(shown) < n:
        notes.append(f"A random {MAX_POINTS:,} of the {n:,} points are shown.")
    if m > 3:
        notes.append(f"Drawn are two of the {m} axes and the height; distances use all {m}.")
    if embedding.scaled is not None and data is not None:
        notes.append(
            f"Data are shown as disparities, in the units of the map: {embedding.scaled.words(embedding.alpha)}."
        )
    if data is None:
        without_data = "not kept with this map"
    elif n > DATA_POINTS:
        without_data = "not on this page"
        notes.append(
            f"The data of {n:,} points would make this page too heavy: distances are those on the map, and "
            "only the worst-fitted pairs are compared with the data."
        )
    arcs, left_out = packed_arcs(embedding, shown)
    notes += [left_out] if left_out else []
    at = packed_places({column.name: np.asarray(column.values) for column in columns}, shown)
    if at is not None and at["unknown"]:
        notes.append(f"Real places are not known of {count(at['unknown'], 'point')}.")
    names = [str(i) for i in range(n)] if embedding.labels is None else list(map(str, embedding.labels))
    of = "" if embedding.scaled is not None else (embedding.unit if unit is None else unit) or ""
    return {
        "title": f"Map of {count(n, 'point')}" if title is None else str(title),
        "notes": notes,
        "unit": " ".join(of.split()),
        "dimension": m,
        "drift": embedding.drift.tolist(),
        "has_height": embedding.has_height,
        **_turning(embedding),
        "coordinates": packed(embedding.coordinates[shown]),
        "labels": [names[i] for i in shown],
        "named": embedding.labels is not None,
        "columns": [_packed_column(column, shown) for column in columns],
        "start": start,
        "scale": {"light": colors.SCALE, "dark": colors.SCALE_ON_DARK},
        "missing": colors.MISSING,
        "places": at,
        "arcs": arcs,
        "confidence": packed_confidence(confidence, embedding, shown),
        "data": None if data is None or without_data else _packed_data(data),
        "without_data": without_data,
        "worst": None if data is None else _worst_pairs(embedding, data, shown),
        "weighted": data is not None and data.weights is not None,
        "fit": [
            *_fit(embedding),
            *confidence_rows(confidence, of),
            (embedding.status, " ".join(embedding.sentences())),
        ],
        "shown": _shown(embedding),
        "report": None if data is None or n < 2 else _report(data, names),
    }


def _shown(embedding: Embedding) -> str:
    """How much of the asymmetry of the data this map shows, as a sentence; none if that is not known."""
    shown = embedding.asymmetry_shown()
    if shown is None:
        return ""
    said = f"There is {shown}" if shown.share is None else f"This map shows {shown}"
    return f"{said}."


def _turning(embedding: Embedding) -> dict[str, Any]:
    """What the script needs of a drift that turns; without one, a word that there is none."""
    if embedding.swirl is None:
        return {"swirl": None, "turn": None}
    turn = turn_of(embedding)
    words = turning(embedding.coordinates, embedding.drift, embedding.swirl, embedding.geodesic)
    if turn is not None:
        words = words[1:]  # the rule says it of the outer ring
    sentences = [f"{line[0].upper()}{line[1:]}." for line in words if line]
    return {
        "swirl": embedding.swirl.tolist(),
        "geodesic": embedding.geodesic,
        "turning": " ".join(sentences if turn is None else [rule(turn), *sentences]),
        "turn": None if turn is None else turn_record(turn),
    }


class Column(NamedTuple):
    """A value for each point, and its colors."""

    name: str
    values: list[Any]
    colors: colors.Coloring


def _columns(embedding: Embedding, attributes: Any, color: Any) -> tuple[list[Column], int]:
    """What to show and to color by: height, share of the stress, attributes; and the place of the one to begin with."""
    n = embedding.n_points
    given: dict[str, Any] = {"height": embedding.height} if embedding.has_height else {}
    given["share of the stress"] = embedding.stress_per_point
    columns = [Column(name, list(values), colors.coloring(values, n)) for name, values in given.items()]
    more = {} if attributes is None else columns_of(attributes, embedding.labels, n)
    for own, column in {**embedding.attributes, **more}.items():
        columns.append(Column(own, column.tolist(), colors.coloring(column, n, f"attributes[{own!r}]")))
    if color is None:
        return columns, 0
    if not isinstance(color, str):
        values = check_words("color", in_order(color, embedding.labels, "color"))
        name = getattr(color, "name", None)
        columns.append(Column(str(name or "color"), values, colors.coloring(values, n)))
        return columns, len(columns) - 1
    names = [column.name for column in columns]
    if color not in names:
        there = ", ".join(names)
        raise InputError(
            f"color={color!r} is not an attribute of the points; there are {there}.", argument="color"
        )
    return columns, names.index(color)


def _packed_column(column: Column, shown: NDArray[np.intp]) -> dict[str, Any]:
    """Numbers with the ends of their scale; or words, with the places of their groups in the legend."""
    numbers = column.colors.numbers
    if numbers is not None:
        finite = numbers[np.isfinite(numbers)]
        ends = [float(finite.min()), float(finite.max())] if len(finite) else None
        return {"name": column.name, "numbers": packed(numbers[shown]), "ends": ends}
    words = [None if is_missing(column.values[i]) else str(column.values[i]) for i in shown]
    codes = np.asarray(column.colors.codes)[shown].tolist()
    return {"name": column.name, "words": words, "codes": codes, "groups": column.colors.groups}


def _packed_data(data: Dissimilarities) -> dict[str, Any]:
    """Data as float32 in units that suit float32: NaN is unknown, inf unreachable, -b "at least b"."""
    every = np.arange(data.n_points)
    D, W = known_block(data.matrix, data.weights, every, every)
    largest = float(np.abs(D[W > 0]).max(initial=0.0))
    unit = 2.0 ** math.floor(math.log2(largest)) if largest > 0 else 1.0
    values = np.where(W > 0, D / unit, np.where(np.inf == D, np.inf, np.nan))
    return {"unit": unit, "values": packed(values, "<f4")}


def _worst_pairs(
    embedding: Embedding, data: Dissimilarities, shown: NDArray[np.intp]
) -> list[tuple[int, int, float]]:
    """From, to and datum of the ordered pairs with the largest part in the stress, the largest first."""
    found = worst_pairs(
        embedding.coordinates, data.matrix, data.weights, WORST_PAIRS, among=shown, **embedding.metric
    )
    return list(zip(found.start.tolist(), found.end.tolist(), found.value.tolist(), strict=True))


def _fit(embedding: Embedding) -> list[tuple[str, str]]:
    """What is known of the map, as names and texts."""
    alpha, held_out = embedding.alpha, embedding.held_out
    rows = [
        ("points", f"{embedding.n_points:,}, in {count(embedding.n_components, 'dimension')}"),
        ("alpha", f"{alpha:.4g}"),
    ]
    if embedding.kappa is None:
        rows.append(("straight up : straight down", f"{(1 + alpha) / (1 - alpha):.4g}"))
    else:
        rows.append(("kappa", f"{embedding.kappa:.4g}"))
    if embedding.normalized_stress is not None:
        rows.append(("normalized stress", f"{embedding.normalized_stress:.4g} (0 is perfect)"))
        rows.append(("stress", f"{embedding.stress:.6g}"))
    if embedding.scaled is not None:
        rows.append(("stress-1 (Kruskal)", f"{embedding.scaled.stress1:.4g}"))
    if held_out is not None:
        rows.append(("on rows held out", f"{held_out.normalized_stress}, of {held_out.n_sources} points"))
    if (shown := embedding.asymmetry_shown()) is not None:
        rows.append(("asymmetry shown", str(shown)))
    return rows


def _report(data: Dissimilarities, names: list[str]) -> dict[str, Any]:
    """Asymmetry report as its verdict and rows of name and text. Bounds count as what they stand for: unreachable."""
    report = asymmetry_report(replace(data, labels=[" ".join(name.split()) for name in names]))
    return {"verdict": report.verdict, "rows": [(row.name, row.text) for row in report.rows()]}
