"""Pajek networks (``.net``): vertices by their labels, arcs, edges, lists of them, a matrix; values of lines as weight."""

from __future__ import annotations

import re
from typing import Any

from finsler._memory import require_memory
from finsler.data.readers.attributed import AttributedGraph, both_kinds, named_graph
from finsler.errors import InputError

_CELLS = re.compile(r'"([^"]*)"|(\S+)')
_SECTIONS = ("network", "vertices", "arcs", "edges", "arcslist", "edgeslist", "matrix")


def parse_pajek(data: bytes) -> AttributedGraph:
    """Network of a file; a line without a value has the value 1 where others have one."""
    require_memory(40.0 * len(data), "The network of the file", "Write it as a table of arcs.")
    text = data.decode("utf-8-sig")
    section, n, row = "", 0, 0
    nodes: dict[str, dict[str, Any]] = {}
    lines: list[tuple[str, str, bool, str | None]] = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [quoted or plain for quoted, plain in _CELLS.findall(line)]
        if not cells or cells[0].startswith("%"):
            continue
        if cells[0].startswith("*"):
            section, row = cells[0][1:].lower(), 0
            if section not in _SECTIONS:
                raise InputError(f"row {number}: the section {cells[0][:40]!r} is not known.")
            if section == "vertices":
                n = _size(cells, nodes)
            continue
        if section == "vertices":
            _vertex(cells, nodes, number)
        elif section == "matrix":
            row += 1
            if len(cells) != n:
                raise InputError(f"row {number}: {len(cells)} numbers in a matrix of {n} vertices.")
            lines += [(str(row), str(k), True, cell) for k, cell in enumerate(cells, 1) if float(cell) != 0]
        elif section in ("arcslist", "edgeslist"):
            lines += [(cells[0], end, section == "arcslist", None) for end in cells[1:]]
        elif section in ("arcs", "edges"):
            if len(cells) < 2:
                raise InputError(f"row {number}: a line needs two vertices.")
            lines.append((cells[0], cells[1], section == "arcs", cells[2] if len(cells) > 2 else None))
        elif section != "network":
            raise InputError(f"row {number}: a section, as *Vertices, was expected.")
    if not nodes:
        raise InputError("it holds no *Vertices of Pajek.")
    for end in (end for line in lines for end in line[:2]):
        if end not in nodes:
            raise InputError(f"a line names the vertex {end[:40]!r}; there are 1 to {n}.")
    weighted = any(value is not None for *_, value in lines)
    edges = [(a, b, {"weight": value or "1"} if weighted else {}) for a, b, _, value in lines]
    whole, directed = both_kinds(edges, [one_way for _, _, one_way, _ in lines])
    return named_graph(nodes, whole, directed, label="label")


def _size(cells: list[str], nodes: dict[str, dict[str, Any]]) -> int:
    if nodes:
        raise InputError("it holds two networks.")
    if len(cells) != 2 or not re.fullmatch(r"\d{1,9}", cells[1]):
        raise InputError(
            "*Vertices must be followed by one number; a two-mode network is a table, which embed_rectangular maps."
        )
    n = int(cells[1])
    require_memory(400.0 * n, f"A network of {n:,} vertices", "Number them from 1, without gaps.")
    nodes.update((str(k), {}) for k in range(1, n + 1))
    return n


def _vertex(cells: list[str], nodes: dict[str, dict[str, Any]], number: int) -> None:
    if cells[0] not in nodes:
        raise InputError(f"row {number}: the vertex {cells[0][:40]!r} is not among 1 to {len(nodes)}.")
    if nodes[cells[0]]:
        raise InputError(f"row {number}: the vertex {cells[0]!r} is there twice.")
    about = {"label": cells[1] if len(cells) > 1 else cells[0]}
    for name, cell in zip("xyz", cells[2:5], strict=False):  # positions come first; then how it is drawn
        try:
            float(cell)
        except ValueError:
            break
        about[name] = cell
    nodes[cells[0]] = about
