"""A map as GraphML: coordinates, share of the stress and attributes of the nodes, lengths of the arcs."""

from __future__ import annotations

from typing import Any

from finsler.exports.network import LENGTH, map_network
from finsler.exports.xml_text import content, kinds, quoted, written

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns '
    'http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">'
)


def graphml(embedding: Any) -> str:
    """Text of the file."""
    found = map_network(embedding)
    names, about = found.written_names(), found.about()
    keys = {name: f"d{k}" for k, name in enumerate(found.columns)}
    lines = [HEAD]
    lines += [
        f'<key id="{keys[name]}" for="node" attr.name={quoted(name)} attr.type="{kind}"/>'
        for name, kind in kinds(found.columns).items()
    ]
    lines += [
        f'<key id="e0" for="edge" attr.name="{LENGTH}" attr.type="double"/>',
        '<graph edgedefault="directed">',
    ]
    for name, values in zip(names, about, strict=True):
        data = "".join(f'<data key="{keys[key]}">{content(written(v))}</data>' for key, v in values.items())
        lines.append(f"<node id={quoted(name)}>{data}</node>")
    arcs = zip(found.sources.tolist(), found.targets.tolist(), found.lengths.tolist(), strict=True)
    ids = [quoted(name) for name in names]
    lines += [f'<edge source={ids[i]} target={ids[j]}><data key="e0">{d!r}</data></edge>' for i, j, d in arcs]
    return "\n".join([*lines, "</graph>\n</graphml>\n"])
