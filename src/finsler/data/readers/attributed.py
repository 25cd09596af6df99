"""What files of graphs hold, whatever their format: nodes, edges, and the attributes of both; XML without entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, fromstring
from xml.parsers import expat

from finsler._memory import require_memory
from finsler.errors import InputError

TREE = 30.0  # bytes that a parsed file takes for each of its own


class AttributedGraph(NamedTuple):
    """A graph as a file writes it: values stay text, or numbers of JSON, until someone asks for lengths."""

    nodes: list[Any]
    edges: list[tuple[Any, Any, dict[str, Any]]]
    directed: bool
    n_skipped: int = 0  #: Further and nested graphs.
    attributes: Mapping[str, list[Any]] = {}  #: Of the nodes, None where one has none.


def named_graph(
    nodes: Mapping[Any, Mapping[str, Any]],
    edges: Sequence[tuple[Any, Any, dict[str, Any]]],
    directed: bool,
    n_skipped: int = 0,
    label: str | None = None,
) -> AttributedGraph:
    """Graph whose nodes, given with their attributes, are named by their attribute `label`, if it names each its own way.

    Otherwise by their ids. Ends of edges that are no node are nodes without attributes.
    """
    known = {**nodes, **{end: {} for edge in edges for end in edge[:2] if end not in nodes}}
    ids = list(known)
    names = ids
    words = [None if label is None else about.get(label) for about in known.values()]
    if (
        label is not None
        and all(isinstance(word, str) and word for word in words)
        and len({*words}) == len(ids)
    ):
        names = words
        name = dict(zip(ids, words, strict=True))
        edges = [(name[a], name[b], about) for a, b, about in edges]
        known = {id_: {key: v for key, v in about.items() if key != label} for id_, about in known.items()}
    titles = dict.fromkeys(key for about in known.values() for key in about)
    attributes = {title: [about.get(title) for about in known.values()] for title in titles}
    return AttributedGraph(names, list(edges), directed, n_skipped, attributes)


def both_kinds(
    edges: Sequence[tuple[Any, Any, dict[str, Any]]], kinds: Sequence[bool]
) -> tuple[list[tuple[Any, Any, dict[str, Any]]], bool]:
    """Edges of which `kinds` says whether they are directed, and whether all are: if some are not, those run both ways."""
    if not any(kinds):
        return list(edges), False
    turned = [(b, a, about) for (a, b, about), one_way in zip(edges, kinds, strict=True) if not one_way]
    return [*edges, *turned], True


def parsed_xml(data: bytes) -> Element:
    """Tree of an XML file that declares no entities."""

    def refuse(*_: Any) -> None:
        raise InputError("it declares XML entities, which are not read; a few can fill the memory.")

    require_memory(TREE * len(data), "The graph of the file", "Write it as a table of arcs.")
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.Parse(data, True)
    return fromstring(data)


def xml_attribute(element: Element, name: str) -> str:
    """Attribute that an element must have."""
    found = element.get(name)
    if found is None:
        raise InputError(f"one of its {element.tag.rpartition('}')[2]}s has no {name}.")
    return found
