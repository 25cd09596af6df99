"""GML files: keys with numbers, texts or lists in brackets; nodes by their labels if each has its own, else by ids."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from finsler._memory import require_memory
from finsler.data.readers.attributed import AttributedGraph, named_graph
from finsler.errors import InputError

_TOKEN = re.compile(r'\s*(?:#[^\n]*|(\[)|(\])|"([^"]*)"|([^\s\[\]"#]+))')
DEEPEST = 50  # lists within lists


def parse_gml(data: bytes) -> AttributedGraph:
    """First graph of a file."""
    require_memory(40.0 * len(data), "The graph of the file", "Write it as a table of arcs.")
    top = _parsed(data.decode("utf-8"))
    graphs = [value for key, value in top if key == "graph"]
    if not graphs or not isinstance(graphs[0], list):
        raise InputError("it holds no graph of GML.")
    nodes: dict[str, dict[str, Any]] = {}
    edges = []
    directed = False
    for key, value in graphs[0]:
        if key == "directed":
            directed = value == "1"
        if key in ("node", "edge"):
            if not isinstance(value, list):
                raise InputError(f"one of its {key}s has no list of keys.")
            about = {name: text for name, text in value if isinstance(text, str)}
            ends = [
                _required(about, name, key) for name in (("id",) if key == "node" else ("source", "target"))
            ]
            if key == "edge":
                edges.append((ends[0], ends[1], about))
            elif ends[0] in nodes:
                raise InputError(f"the node {ends[0][:40]!r} is there twice.")
            else:
                nodes[ends[0]] = about
    return named_graph(nodes, edges, directed, len(graphs) - 1, label="label")


def _required(about: dict[str, str], name: str, what: str) -> str:
    if name not in about:
        raise InputError(f"one of its {what}s has no {name}.")
    return about.pop(name)


def _parsed(text: str) -> list[tuple[str, Any]]:
    """Keys with their values, which are text or lists of the same kind."""
    top: list[tuple[str, Any]] = []
    open_lists, key, place = [top], None, 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            if text[place:].strip():
                raise InputError(f"what is written at character {place + 1:,} is not GML.")
            break
        place = found.end()
        opens, closes, quoted, plain = found.groups()
        if opens:
            if key is None or len(open_lists) > DEEPEST:
                raise InputError("a list stands where a key should, or lists are nested too deeply.")
            inner: list[tuple[str, Any]] = []
            open_lists[-1].append((key, inner))
            open_lists.append(inner)
            key = None
        elif closes:
            if key is not None or len(open_lists) == 1:
                raise InputError("its brackets do not match.")
            open_lists.pop()
        elif key is None and plain is not None:
            key = plain
        elif key is not None and (quoted is not None or plain is not None):
            open_lists[-1].append((key, unescape(quoted) if quoted is not None else plain))
            key = None
        elif quoted is not None:
            raise InputError("a text stands where a key should.")
    if len(open_lists) > 1 or key is not None:
        raise InputError("it is cut short: a bracket is not closed, or a key has no value.")
    return top
