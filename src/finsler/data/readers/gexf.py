"""GEXF files (Gephi): nodes by their labels or ids, attributes of nodes and edges. Only static, flat graphs are read."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from finsler.data.readers.attributed import (
    AttributedGraph,
    both_kinds,
    named_graph,
    parsed_xml,
    xml_attribute,
)
from finsler.errors import InputError


def parse_gexf(data: bytes) -> AttributedGraph:
    """Graph of a file. Edges are undirected unless it says otherwise, as the format has it; a mutual one runs both ways."""
    root = parsed_xml(data)
    graph = root.find("{*}graph")
    if root.tag.rpartition("}")[2] != "gexf" or graph is None:
        raise InputError("it holds no graph of GEXF.")
    if graph.get("mode") == "dynamic":
        raise InputError("its graph is dynamic: export the graph of one time.")
    titles = {kind: _titles(graph, kind) for kind in ("node", "edge")}
    nodes: dict[str, dict[str, Any]] = {}
    top = graph.findall("{*}nodes/{*}node")
    for node in top:
        name = xml_attribute(node, "id")
        if name in nodes:
            raise InputError(f"the node {name[:40]!r} is there twice.")
        label = node.get("label")
        nodes[name] = {**({} if label is None else {"label": label}), **_values(node, *titles["node"])}
    usual = graph.get("defaultedgetype", "undirected")
    edges, kinds = [], []
    found = graph.findall("{*}edges/{*}edge")
    weighted = any(edge.get("weight") is not None for edge in found)
    for edge in found:
        about = _values(edge, *titles["edge"])
        if weighted:
            about.setdefault(
                "weight", edge.get("weight", "1")
            )  # which is what the format says where there is none
        edges.append((xml_attribute(edge, "source"), xml_attribute(edge, "target"), about))
        kinds.append(edge.get("type", usual) == "directed")
    whole, directed = both_kinds(edges, kinds)
    nested = sum(len(node.findall("{*}nodes")) for node in top)
    return named_graph(nodes, whole, directed, nested, label="label")


def _titles(graph: Element, kind: str) -> tuple[dict[str, str], dict[str, str]]:
    """Names of the attributes of nodes or edges by their ids, and their defaults by name."""
    names: dict[str, str] = {}
    usual: dict[str, str] = {}
    for group in graph.findall("{*}attributes"):
        if group.get("class") == kind:
            for attribute in group.findall("{*}attribute"):
                key = xml_attribute(attribute, "id")
                names[key] = attribute.get("title") or key
                text = attribute.findtext("{*}default")
                if text is not None:
                    usual[names[key]] = text.strip()
    return names, usual


def _values(element: Element, names: dict[str, str], usual: dict[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = dict(usual)
    for value in element.findall("{*}attvalues/{*}attvalue"):
        key = value.get("for", value.get("id"))  # "id" until version 1.1
        if key not in names:
            raise InputError(f"a value is for the attribute {str(key)[:40]!r}, and there is none.")
        values[names[key]] = value.get("value", "")
    return values
