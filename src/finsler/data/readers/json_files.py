"""JSON files: tables of routing services (OSRM, openrouteservice, Valhalla), and graphs as nodes and links."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from finsler._memory import require_memory
from finsler.data.provenance import count, listed
from finsler.data.readers.attributed import AttributedGraph, named_graph
from finsler.errors import InputError

PARSED = 25.0  # bytes that parsed JSON takes for each of its own
Rows = list[list[Any]]


def parsed_json(data: bytes) -> Any:
    """What a file holds."""
    require_memory(PARSED * len(data), "The JSON of the file", "Write it as a table.")
    return json.loads(data)


def is_node_link(found: Any) -> bool:
    """Whether this is a graph as nodes and links."""
    return isinstance(found, dict) and "nodes" in found and ("links" in found or "edges" in found)


def node_link(found: dict[str, Any]) -> AttributedGraph:
    """Graph of ``nodes`` and ``links`` or ``edges``, as networkx and D3 write it; without ids, ends are positions."""
    nodes, links = found["nodes"], found["links"] if "links" in found else found["edges"]
    if not all(isinstance(part, list) and all(isinstance(x, dict) for x in part) for part in (nodes, links)):
        raise InputError("nodes and links must be lists of objects.")
    by_id = all("id" in node for node in nodes)
    known: dict[Any, dict[str, Any]] = {}
    for k, node in enumerate(nodes):
        name = _end(node["id"]) if by_id else k
        if name in known:
            raise InputError(f"the node {str(name)[:40]!r} is there twice.")
        known[name] = {key: value for key, value in node.items() if key != "id" and _is_plain(value)}
    edges = []
    for link in links:
        if "source" not in link or "target" not in link:
            raise InputError("one of its links has no source or no target.")
        ends = [_end(link[key]) for key in ("source", "target")]
        if not by_id and not all(end in known for end in ends):
            raise InputError(
                f"the link {ends} names a node that is not there; there are 0 to {len(nodes) - 1}."
            )
        about = {key: v for key, v in link.items() if key not in ("source", "target", "key") and _is_plain(v)}
        edges.append((*ends, about))
    label = None if by_id else next((key for key in ("name", "label") if nodes and key in nodes[0]), None)
    return named_graph(known, edges, bool(found.get("directed", False)), label=label)


def _end(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"a node must be a text or a number; found {str(value)[:40]!r}.")
    return value


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def routing_table(
    found: Any, variable: str | None
) -> tuple[np.ndarray, list[str] | None, dict[str, Any], str, tuple[str, ...]]:
    """Square table of a routing service: values (inf is no route), labels, attributes, which values these are, remarks.

    Durations are taken where there are several; `variable` names others.
    """
    if not isinstance(found, dict):
        raise InputError(
            "a table of OSRM, openrouteservice or Valhalla, or a graph of nodes and links, was expected."
        )
    if "code" in found and found["code"] != "Ok":
        raise InputError(
            f"the service answered {str(found['code'])[:40]!r}: {str(found.get('message', ''))[:100]}"
        )
    tables = _tables(found)
    name = variable or next(
        (word for word in ("durations", "time", "distances", "distance") if word in tables), None
    )
    if name not in tables:
        there = listed(list(tables)) if tables else "none"
        raise InputError(
            f"there is no table {name!r}; there is {there}."
            if name
            else "it holds no table of durations or distances (OSRM, openrouteservice, Valhalla) and no nodes with links."
        )
    values = _numbers(tables[name], name)
    sources = _places(found.get("sources"))
    targets = _places(found.get("destinations", found.get("targets")))
    positions = [[(about.get("lon"), about.get("lat")) for about in places] for places in (sources, targets)]
    elsewhere = sources and targets and positions[0] != positions[1]
    if values.shape[0] != values.shape[1] or elsewhere:
        raise InputError(
            f"its table is rectangular, from {values.shape[0]} sources to {values.shape[1]} destinations: ask "
            "for all places both ways, or map it with embed_rectangular.",
        )
    return (
        values,
        *_about(sources or targets, len(values)),
        name,
        _estimates(found.get("fallback_speed_cells")),
    )


def _tables(found: dict[str, Any]) -> dict[str, Rows]:
    """Tables by name; Valhalla's are rows of objects, or tables in one object."""
    inner = found.get("sources_to_targets")
    if isinstance(inner, dict):
        found = inner
    elif inner is not None:
        if not isinstance(inner, list) or not all(
            isinstance(row, list) and all(isinstance(cell, dict) for cell in row) for row in inner
        ):
            raise InputError("sources_to_targets must hold rows of objects.")
        there = {key for row in inner for cell in row for key in ("time", "distance") if key in cell}
        return {key: [[cell.get(key) for cell in row] for row in inner] for key in sorted(there)}
    return {key: found[key] for key in ("durations", "distances") if found.get(key) is not None}


def _estimates(cells: Any) -> tuple[str, ...]:
    """OSRM lists the pairs without a route whose values it guessed, if it was asked to by ``fallback_speed``."""
    if not isinstance(cells, list) or not cells:
        return ()
    return (
        f"{count(len(cells), 'value')} without a route: estimated by OSRM from the straight line (fallback_speed).",
    )


def _numbers(rows: Any, name: str) -> np.ndarray:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise InputError(f"{name} must be a table, rows of numbers.")
    if len({len(row) for row in rows}) > 1:
        raise InputError(f"the rows of {name} differ in size.")
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if cell is not None and (isinstance(cell, bool) or not isinstance(cell, int | float)):
                raise InputError(f"{name}, row {i + 1}, column {j + 1}: {str(cell)[:40]!r} is not a number.")
    return np.array([[np.inf if cell is None else cell for cell in row] for row in rows], dtype=float)


def _places(found: Any) -> list[dict[str, Any]]:
    """Names and positions of sources or destinations, as far as they are told; Valhalla may put a list around them."""
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    if not isinstance(found, list):
        return []
    places = []
    for place in found:
        about: dict[str, Any] = {}
        if isinstance(place, dict):
            spot = place.get("location")
            if isinstance(spot, list) and len(spot) >= 2:
                about.update(lon=spot[0], lat=spot[1])
            about.update({key: place[key] for key in ("lon", "lat", "name") if place.get(key) is not None})
        places.append(about)
    return places


def _about(places: list[dict[str, Any]], n: int) -> tuple[list[str] | None, dict[str, Any]]:
    """Names, if each place has its own, and what else is known of the places."""
    if len(places) != n:
        return None, {}
    names = [about.get("name") for about in places]
    distinct = all(isinstance(name, str) and name for name in names) and len({*names}) == n
    keys = [key for key in ("lon", "lat", *(() if distinct else ("name",))) if any(key in p for p in places)]
    return [str(name) for name in names] if distinct else None, {
        key: [p.get(key) for p in places] for key in keys
    }
