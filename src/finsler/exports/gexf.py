"""A map as GEXF, the format of Gephi, which opens it with every node where it is on the map.

Places for the eye are in ``viz:position``: x1 to the right, the height up, a further axis into the depth; as large as
Gephi's nodes need it, 1,000 across. The coordinates themselves are attributes of the nodes, with their names and units.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from finsler.exports.network import LENGTH, map_network
from finsler.exports.xml_text import kinds, quoted, written

ACROSS = 1000.0
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="http://www.gexf.net/1.2draft" '
    'xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">\n'
)


def gexf(embedding: Any) -> str:
    """Text of the file."""
    found = map_network(embedding)
    names, about = found.written_names(), found.about()
    number = {name: k for k, name in enumerate(found.columns)}
    lines = [HEAD, '<graph mode="static" defaultedgetype="directed">\n<attributes class="node">']
    lines += [
        f'<attribute id="{number[name]}" title={quoted(name)} type="{kind}"/>'
        for name, kind in kinds(found.columns).items()
    ]
    lines += [f'</attributes>\n<attributes class="edge">\n<attribute id="0" title="{LENGTH}" type="double"/>']
    lines += ["</attributes>\n<nodes>"]
    places = seen_places(embedding)
    for k, (name, point) in enumerate(zip(names, found.points, strict=True)):
        values = "".join(
            f'<attvalue for="{number[key]}" value={quoted(written(v))}/>' for key, v in about[k].items()
        )
        at = (
            ""
            if point is None
            else '<viz:position x="{!r}" y="{!r}" z="{!r}"/>'.format(*places[point].tolist())
        )
        lines.append(f'<node id="{k}" label={quoted(name)}><attvalues>{values}</attvalues>{at}</node>')
    lines.append("</nodes>\n<edges>")
    arcs = zip(found.sources.tolist(), found.targets.tolist(), found.lengths.tolist(), strict=True)
    lines += [
        f'<edge id="{k}" source="{i}" target="{j}"><attvalues><attvalue for="0" value="{d!r}"/></attvalues></edge>'
        for k, (i, j, d) in enumerate(arcs)
    ]
    return "\n".join([*lines, "</edges>\n</graph>\n</gexf>\n"])


def seen_places(embedding: Any) -> np.ndarray:
    """Places for the eye, (n, 3): right, up, depth; 1,000 across."""
    X = np.asarray(embedding.coordinates, dtype=float)
    m = X.shape[1]
    right = X[:, 0] if m > 1 else np.zeros(len(X))
    seen = np.column_stack([right, X[:, -1], X[:, 1] if m > 2 else np.zeros(len(X))])
    across = float(np.ptp(seen, axis=0).max())
    return (seen - seen.mean(axis=0)) * (ACROSS / across if across > 0 else 1.0)
