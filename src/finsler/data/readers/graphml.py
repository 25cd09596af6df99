"""GraphML files: one graph, its nodes by their ids, and the attributes of both as the file writes them.

Values stay text, which becomes numbers where they are lengths: the types that a file declares need not be believed.
Groups of yEd are part of the graph; all other nested graphs, and further ones, are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from finsler.data.places import is_degrees
from finsler.data.readers.attributed import AttributedGraph, named_graph, parsed_xml, xml_attribute
from finsler.errors import InputError


def parse_graphml(data: bytes) -> AttributedGraph:
    """Graph that a file holds."""
    root = parsed_xml(data)
    top = root.find("{*}graph")
    if top is None:
        raise InputError("it holds no graph.")
    of_edges, of_nodes = _keys(root, "edge"), _keys(root, "node")
    directed = top.get("edgedefault") == "directed"
    nodes: dict[str, dict[str, str]] = {}
    edges: list[tuple[str, str, dict[str, str]]] = []
    n_read = 0
    for n_read, graph in enumerate(_graphs(top), 1):  # noqa: B007
        if graph.find("{*}hyperedge") is not None:
            raise InputError("it holds hyperedges, which join more than two nodes.")
        for node in graph.findall("{*}node"):
            name = xml_attribute(node, "id")
            if name in nodes:
                raise InputError(f"the node {name[:40]!r} is there twice.")
            nodes[name] = _values(node, *of_nodes)
        edges += [_edge(edge, *of_edges, directed) for edge in graph.findall("{*}edge")]
    if is_degrees(_crs(root, top)):  # as OSMnx writes it: x and y are longitude and latitude
        for about in nodes.values():
            if {"x", "y"} <= about.keys():
                about.setdefault("lon", about["x"])
                about.setdefault("lat", about["y"])
    n_graphs = sum(
        element.tag.rpartition("}")[2] == "graph" for element in root.iter() if isinstance(element.tag, str)
    )
    return named_graph(nodes, edges, directed, n_graphs - n_read)


def _crs(root: Element, top: Element) -> str | None:
    """Coordinate reference system of the places of the nodes, if the graph has such an attribute."""
    names, defaults = _keys(root, "graph")
    own = {names[data.get("key")]: data.text for data in top.findall("{*}data") if data.get("key") in names}
    return own.get("crs", defaults.get("crs"))


def _graphs(top: Element) -> Iterator[Element]:
    """A graph, and those in the groups that yEd makes of its nodes."""
    waiting = [top]
    while waiting:
        graph = waiting.pop()
        yield graph
        groups = [n for n in graph.findall("{*}node") if n.get("yfiles.foldertype") == "group"]
        waiting += [inner for group in reversed(groups) for inner in group.findall("{*}graph")[:1]]


def _edge(edge: Element, names: dict[Any, str], defaults: dict[str, str], directed: bool) -> Any:
    own = edge.get("directed")
    if own not in (None, "true" if directed else "false"):
        raise InputError(
            f"an edge with directed={own!r} is in a graph of other edges; all must be of one kind."
        )
    values = _values(edge, names, defaults)
    return xml_attribute(edge, "source"), xml_attribute(edge, "target"), values


def _values(element: Element, names: dict[Any, str], defaults: dict[str, str]) -> dict[str, str]:
    values = dict(defaults)
    for data in element.findall("{*}data"):
        if data.get("key") not in names:
            what = {"node": "a node"}.get(element.tag.rpartition("}")[2], "an edge")
            raise InputError(f"{what} has a value of {data.get('key')!r}, and there is no such key.")
        if not len(data):  # else it holds how yEd draws it
            values[names[data.get("key")]] = (data.text or "").strip()
    return values


def _keys(root: Element, of: str) -> tuple[dict[Any, str], dict[str, str]]:
    """Names of the attributes of edges or nodes by their keys, and their defaults by name."""
    keys = {key.get("id"): key for key in root.findall("{*}key") if key.get("for", "all") in (of, "all")}
    names = {key: str(element.get("attr.name", key)) for key, element in keys.items()}
    usual = {names[key]: element.findtext("{*}default") for key, element in keys.items()}
    return names, {name: text for name, text in usual.items() if text is not None}
