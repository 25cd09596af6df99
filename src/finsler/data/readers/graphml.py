"""GraphML files: one graph, its nodes by their ids, and the attributes of its edges as the file writes them.

Values stay text, which becomes numbers where they are lengths: the types that a file declares need not be believed.
Groups of yEd are part of the graph; all other nested graphs, and further ones, are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, fromstring
from xml.parsers import expat

from finsler._runtime import require_memory
from finsler.errors import InputError

TREE = 30.0  # bytes that a parsed file takes for each of its own


class GraphML(NamedTuple):
    """What a file holds."""

    nodes: list[str]
    edges: list[tuple[str, str, dict[str, str]]]
    directed: bool
    n_skipped: int  #: Further and nested graphs.


def parse_graphml(data: bytes) -> GraphML:
    """Graph that a file holds."""
    root = _parsed(data)
    top = root.find("{*}graph")
    if top is None:
        raise InputError("it holds no graph.")
    keys = {key.get("id"): key for key in root.findall("{*}key") if key.get("for", "all") in ("edge", "all")}
    names = {key: str(element.get("attr.name", key)) for key, element in keys.items()}
    usual = {names[key]: element.findtext("{*}default") for key, element in keys.items()}
    defaults = {name: text for name, text in usual.items() if text is not None}
    directed = top.get("edgedefault") == "directed"
    nodes: dict[str, None] = {}
    edges: list[tuple[str, str, dict[str, str]]] = []
    n_read = 0
    for n_read, graph in enumerate(_graphs(top), 1):  # noqa: B007
        if graph.find("{*}hyperedge") is not None:
            raise InputError("it holds hyperedges, which join more than two nodes.")
        for node in graph.findall("{*}node"):
            name = _attribute(node, "id")
            if name in nodes:
                raise InputError(f"the node {name[:40]!r} is there twice.")
            nodes[name] = None
        edges += [_edge(edge, names, defaults, directed) for edge in graph.findall("{*}edge")]
    for source, target, _ in edges:  # nodes that only edges tell of
        nodes.setdefault(source)
        nodes.setdefault(target)
    n_graphs = sum(
        element.tag.rpartition("}")[2] == "graph" for element in root.iter() if isinstance(element.tag, str)
    )
    return GraphML(list(nodes), edges, directed, n_graphs - n_read)


def _parsed(data: bytes) -> Element:
    def refuse(*_: Any) -> None:
        raise InputError("it declares XML entities, which are not read; a few can fill the memory.")

    require_memory(TREE * len(data), "The graph of the file", "Write it as a table of arcs.")
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.Parse(data, True)
    return fromstring(data)


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
    values = dict(defaults)
    for data in edge.findall("{*}data"):
        if data.get("key") not in names:
            raise InputError(f"an edge has a value of {data.get('key')!r}, and there is no such key.")
        if not len(data):  # else it holds how yEd draws it
            values[names[data.get("key")]] = (data.text or "").strip()
    return _attribute(edge, "source"), _attribute(edge, "target"), values


def _attribute(element: Element, name: str) -> str:
    found = element.get(name)
    if found is None:
        raise InputError(f"one of its {element.tag.rpartition('}')[2]}s has no {name}.")
    return found
