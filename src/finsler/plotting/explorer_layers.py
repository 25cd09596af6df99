"""What lies over the points of a page, ready for JSON: where they really are, the arcs between them, their ellipses."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from finsler.data.places import places
from finsler.errors import InputError, InputTypeError
from finsler.errors import shown as shown_value
from finsler.plotting.places import narrowing, on_paper

if TYPE_CHECKING:
    from finsler.embedding import Embedding

ARCS = 100_000  # arcs up to which a page brings them along, 12 bytes each

Shown = NDArray[np.intp]


def packed(array: NDArray[Any], kind: str = "<f8") -> str:
    """Numbers of an array, as text."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def packed_places(columns: Mapping[str, NDArray[Any]], shown: Shown) -> dict[str, Any] | None:
    """Where points really are, if their attributes tell."""
    found = places(columns)
    if found is None:
        return None
    X = on_paper(found)
    known = found.known[shown]
    return {
        "x": packed(np.where(known, X[shown, 0], np.nan)),
        "y": packed(np.where(known, X[shown, 1], np.nan)),
        "geographic": found.geographic,
        "names": found.names,
        "stretch": 1 / narrowing(X[found.known]) if found.geographic else 1.0,
        "unknown": int(np.count_nonzero(~known)),
    }


def packed_arcs(embedding: Embedding, shown: Shown) -> tuple[dict[str, Any] | None, str]:
    """Arcs between the points of a page, by the points that they leave; and what is left out, in a sentence."""
    network = embedding.network
    if network is None or len(shown) < embedding.n_points:
        return None, "" if network is None else "Arcs are not shown where only some of the points are."
    among = network.graph.matrix[network.nodes][:, network.nodes].tocsr()
    if among.nnz > ARCS:
        return None, f"The {among.nnz:,} arcs would make this page too heavy."
    complete = network.graph.n_nodes == len(shown)
    arcs = {
        "first": packed(among.indptr, "<i4"),
        "ends": packed(among.indices, "<i4"),
        "lengths": packed(among.data),
        "complete": complete,  # whether ways along them are all the ways there are
    }
    left = network.graph.n_arcs - among.nnz
    return arcs, f"{left:,} arcs from or to nodes that are not on the map are not shown." if left else ""


def packed_confidence(confidence: Any, embedding: Embedding, shown: Shown) -> dict[str, Any] | None:
    """Ellipses of the points."""
    if confidence is None:
        return None
    if not hasattr(confidence, "half_axes"):
        wanted = "what finsler.inference.confidence(embedding) or bootstrap() gives"
        raise InputTypeError(
            f"confidence must be {wanted}, got {shown_value(confidence)}.", argument="confidence"
        )
    C = np.asarray(confidence.covariance)
    n, m = embedding.coordinates.shape
    if C.shape != (n, m, m) or not np.array_equal(confidence.embedding.coordinates, embedding.coordinates):
        raise InputError("is of another map; give what was found for this one.", argument="confidence")
    return {
        "level": confidence.level,
        "radius": confidence.radius,
        "covariance": packed(C[shown]),
        "half_axes": packed(confidence.half_axes[shown]),
    }


def confidence_rows(confidence: Any, unit: str) -> list[tuple[str, str]]:
    """How sure a map is, as names and texts."""
    if confidence is None:
        return []
    half = f"{float(np.median(confidence.half_axes[:, 0])):.3g} {unit}".strip()
    rows = [("ellipses", f"{100 * confidence.level:g} % ({confidence.method}), median half axis {half}")]
    if confidence.alpha_se is not None:
        rows.append(("standard error of alpha", f"{confidence.alpha_se:.2g}"))
    if confidence.tilt_se is not None:
        rows.append(("direction of the drift", f"± {confidence.tilt_se:.3g} degrees"))
    return rows
