"""A current on rows and columns as a digraph: nodes at sea, edges that cross no land, and travel times along them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.data.fields import RandersField
from finsler.data.located import COORDINATES, FASTEST, RADIUS, boat_speed
from finsler.data.provenance import Provenance, count
from finsler.data.readers.gridded import GriddedField
from finsler.errors import InputError, check_choice, check_count
from finsler.geometry.components import graph_components
from finsler.geometry.randers import zermelo_metric
from finsler.graphs.digraph import Digraph
from finsler.graphs.distances import DENSE_NODES
from finsler.graphs.lattices import Lattice, lattice_edges

Array = NDArray[Any]

HOUR = 3600.0  # seconds
MOST_NODES = DENSE_NODES  # that sample="auto" leaves: all pairs of them are mapped, within a minute or so


def field_graph(
    field: GriddedField, *, speed: float | str, sample: int | str = "auto", coordinates: str = "auto"
) -> Digraph:
    """Digraph of the travel times of a boat in a current.

    Parameters
    ----------
    field : GriddedField
    speed : float or "auto"
        Speed of the boat, in the units of the field; "auto" is the speed of which the fastest current has 60 %.
    sample : int or "auto"
        Take every so-many-th row and column; the current there is the mean over as many rows and columns. Land counts cell
        by cell. "auto" takes as many as leave at most 5,000 nodes.
    coordinates : {"auto", "plane", "sphere"}
        Whether places are on the globe, in meters, as longitudes and latitudes ask for, or on a plane.

    Returns
    -------
    Digraph
        With the coordinates and the current of each node as attributes, and what was chosen as `provenance`.

    Examples
    --------
    >>> import numpy as np
    >>> axis = np.arange(4.0)
    >>> still = GriddedField(axis, axis, np.zeros((4, 4)), np.zeros((4, 4)), ("x", "y", "u", "v"), False, False, None, None,
    ...                      "", "a pond", ())
    >>> field_graph(still, speed=2).route("0, 0", "3, 0").length
    1.5
    """
    check_choice("coordinates", coordinates, COORDINATES)
    sphere = coordinates == "sphere" or (coordinates == "auto" and field.degrees)
    if coordinates == "sphere" and not field.degrees:
        raise InputError("sphere takes longitudes and latitudes; the field has none.", argument="coordinates")
    stride, wraps, said = _stride(field, sample)
    thin = _thinned(field, stride)
    if min(thin.u.shape) < 2 or np.count_nonzero(np.isfinite(thin.u)) < 2:
        raise InputError(
            f"The field has {np.count_nonzero(np.isfinite(thin.u)):,} nodes at sea in {thin.u.shape[0]} rows and "
            f"{thin.u.shape[1]} columns; it takes at least two of each.",
            argument="sample" if stride > 1 else None,
        )
    sea = np.isfinite(thin.u)
    vectors = np.column_stack([thin.u[sea], thin.v[sea]])
    places = np.column_stack([part[sea] for part in np.meshgrid(thin.x, thin.y)])
    names = _names(places, thin)
    boat = _boat(vectors, speed, names, field.units)
    metric = RandersField(*zermelo_metric(vectors / boat))
    cells = _cells(thin, sphere, field.wraps, boat * _unit(field, sphere))
    lattice = Lattice(field.sea, *cells, stride, wraps).suited(metric)
    remarks = [*field.remarks, *said, *_about(field, sphere, speed, boat)]
    bias = lattice.detour(metric)
    unit = {"unit": "hours"} if _in_hours(field, sphere) else {}
    facts = Provenance(
        source=field.source, kind="field", columns={"u": field.names[2], "v": field.names[3], **unit}, detour=bias.median,
        most_detour=bias.most, remarks=tuple(remarks),
    )  # fmt: skip
    own = ("lon", "lat") if field.degrees else ("x", "y")
    about = {
        own[0]: places[:, 0],
        own[1]: places[:, 1],
        "u": vectors[:, 0],
        "v": vectors[:, 1],
    }
    return Digraph(lattice_edges(lattice, metric), names, facts, about)


def require_one_sea(graph: Digraph) -> None:
    """Refuse a field that land parts."""
    sizes = np.bincount(graph_components(graph.matrix))
    if len(sizes) > 1:
        raise InputError(
            f"Land parts the sea into {len(sizes):,} parts, which have no common map; the largest has {sizes.max():,} of "
            f"{graph.n_nodes:,} nodes. Pass unreachable='largest' to map it alone.",
            argument="unreachable",
        )


def _stride(field: GriddedField, sample: int | str) -> tuple[int, bool, list[str]]:
    """Rows and columns to a step of the lattice, whether it still wraps around, and what was chosen."""
    columns = field.u.shape[1]
    if sample != "auto":
        if isinstance(sample, str):
            raise InputError(f"must be a whole number or 'auto', got {sample!r}.", argument="sample")
        stride = check_count("sample", sample)
        if field.wraps and columns % stride:
            fit = [k for k in range(1, columns // 2) if columns % k == 0]
            near = sorted(fit, key=lambda k: abs(k - stride))[:3]
            raise InputError(
                f"must divide the {columns:,} columns, which go all round the globe: {' or '.join(map(str, sorted(near)))}; "
                f"got {stride}.",
                argument="sample",
            )
        return stride, field.wraps, _about_stride(stride)
    stride, sea = 1, field.sea
    while np.count_nonzero(sea[stride // 2 :: stride, stride // 2 :: stride]) > MOST_NODES:
        stride += 1
    if field.wraps:
        fit = [k for k in range(stride, 2 * stride + 1) if columns % k == 0]
        if not fit:
            said = f"The {columns:,} columns cannot be thinned evenly: the last is not joined to the first."
            return stride, False, [*_about_stride(stride), said]
        stride = fit[0]
    return stride, field.wraps, _about_stride(stride)


def _about_stride(stride: int) -> list[str]:
    if stride == 1:
        return []
    last = "th" if stride > 3 else "nd" if stride == 2 else "rd"
    return [
        f"Every {stride}{last} row and column was taken, with the mean current of {stride} x {stride} cells."
    ]


def _thinned(field: GriddedField, stride: int) -> GriddedField:
    """Every so-many-th row and column, with the means of the blocks around them."""
    if stride == 1:
        return field
    first = stride // 2
    rows, columns = (len(range(first, n, stride)) for n in field.u.shape)
    known = np.pad(field.sea, [(0, (-n) % stride) for n in field.u.shape])
    parts = []
    for values in (field.u, field.v):
        padded = np.zeros(known.shape)
        padded[: values.shape[0], : values.shape[1]] = np.where(field.sea, values, 0.0)
        sums, counts = (
            part.reshape(known.shape[0] // stride, stride, -1, stride).sum(axis=(1, 3))[:rows, :columns]
            for part in (padded, known)
        )
        means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
        parts.append(np.where(field.sea[first::stride, first::stride], means, np.nan))
    return replace(field, x=field.x[first::stride], y=field.y[first::stride], u=parts[0], v=parts[1])


def _cells(thin: GriddedField, sphere: bool, wraps: bool, unit: float) -> tuple[Array, Array]:
    """Widths and heights of the cells of the nodes, in time for a boat in still water."""
    x = thin.x
    wide = np.gradient(np.append(x, x[0] + 360))[:-1] if wraps else np.gradient(x)
    if wraps:
        wide[0] = wide[-1] = 360 - (x[-1] - x[0]) if len(x) < 3 else (wide[1] + 360 - (x[-1] - x[0])) / 2
    high = np.gradient(thin.y)
    if not sphere:
        return wide[None, :] / unit, high[:, None] / unit
    scale = RADIUS * math.pi / 180 / unit
    narrow = np.where(np.abs(thin.y) > 90 - 1e-9, 0.0, np.cos(np.radians(thin.y)))  # a pole is one place
    return scale * narrow[:, None] * wide[None, :], scale * high[:, None]


def _unit(field: GriddedField, sphere: bool) -> float:
    """What lengths are divided by beside the speed, so that times are in hours where the units are known."""
    if not _in_hours(field, sphere):
        return 1.0
    return HOUR * (field.pace or 1.0) / (1.0 if sphere else field.meters or 1.0)


def _in_hours(field: GriddedField, sphere: bool) -> bool:
    """Whether the units of the field are known, so that travel times are in hours."""
    return field.pace is not None and (sphere or field.meters is not None)


def _boat(vectors: Array, speed: float | str, names: list[str], units: str) -> float:
    """Speed of the boat; if some current is as fast, the error says how many are, and where the fastest is."""
    try:
        return boat_speed(vectors, speed)
    except InputError as error:
        paces = np.linalg.norm(vectors, axis=1)
        worst = int(np.argmax(paces))
        try:
            fast = int(np.count_nonzero(paces >= float(speed)))
        except (TypeError, ValueError):
            fast = 0
        if not fast or not np.isfinite(paces).all():
            raise
        raise InputError(
            f"must be above that of the fastest current, {paces[worst]:.4g} {units} at {names[worst]}, or auto; {fast:,} of "
            f"{len(paces):,} nodes have one of at least {float(speed):g}: from there no way leads upstream.".replace(
                "  ", " "
            ),
            argument="speed",
        ) from error


def _names(places: Array, thin: GriddedField) -> list[str]:
    """Label of each node: its place, to as many decimals as tell it from the others."""
    x, y = (_short(places[:, k], axis) for k, axis in enumerate((thin.x, thin.y)))
    if not thin.degrees:
        return [f"{a}, {b}" for a, b in zip(x, y, strict=True)]
    return [f"{_sided(b, 'N', 'S')} {_sided(a, 'E', 'W')}" for a, b in zip(x, y, strict=True)]


def _short(values: Array, axis: Array) -> list[str]:
    step = float(np.abs(np.diff(axis)).min())
    digits = min(max(0, math.ceil(-math.log10(step)) + 2), 12)
    table = {
        value: np.format_float_positional(round(value, digits) + 0.0, trim="-")
        for value in np.unique(values).tolist()
    }
    return [table[value] for value in values.tolist()]


def _sided(text: str, positive: str, negative: str) -> str:
    return f"{text[1:]}{negative}" if text.startswith("-") else f"{text}{positive}"


def _about(field: GriddedField, sphere: bool, speed: float | str, boat: float) -> list[str]:
    """Say what lengths and speeds mean."""
    units = f" {field.units}" if field.units else ""
    said = []
    if speed == "auto":
        said.append(
            f"The speed was set to {boat:.4g}{units}: the fastest current has {100 * FASTEST:.0f} % of it."
        )
    if sphere and field.pace is not None:
        said.append("Lengths are travel times in hours, over the globe.")
    elif sphere:
        said.append(f"The units of {field.names[2]} are not known: lengths are meters over its units.")
    elif field.pace is not None and field.meters is not None:
        said.append("Lengths are travel times in hours.")
    else:
        said.append(
            f"Lengths are units of {field.names[0]} over those of {field.names[2]}"
            f"{units and f' ({field.units})'}: they were not converted."
        )
    n_land = int(np.count_nonzero(~field.sea))
    if n_land:
        said.append(
            f"{count(n_land, 'cell')} of {field.u.size:,} without a current: land, which no way crosses."
        )
    return said
