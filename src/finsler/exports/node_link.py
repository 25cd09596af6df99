"""A map as node-link JSON, which networkx and D3 read: nodes and edges as lists of objects."""

from __future__ import annotations

import json
from typing import Any

from finsler.data.labels import plain_label
from finsler.exports.network import LENGTH, map_network


def node_link(embedding: Any) -> str:
    """Text of the file; ids are the labels, as numbers if they are numbers."""
    found = map_network(embedding)
    plain = [plain_label(name) for name in found.names]
    if not all(isinstance(name, str | int | float) and not isinstance(name, bool) for name in plain):
        plain = list(found.written_names())
    arcs = zip(found.sources.tolist(), found.targets.tolist(), found.lengths.tolist(), strict=True)
    record = {
        "directed": True,
        "multigraph": False,
        "graph": {
            "alpha": embedding.alpha,
            "normalized_stress": embedding.normalized_stress,
            "n_components": embedding.n_components,
        },
        "nodes": [_node(name, about) for name, about in zip(plain, found.about(), strict=True)],
        "edges": [{"source": plain[i], "target": plain[j], LENGTH: d} for i, j, d in arcs],
    }
    return json.dumps(record, ensure_ascii=False, indent=0) + "\n"


def _node(name: Any, about: dict[str, Any]) -> dict[str, Any]:
    """One node; an attribute that is called id must not take the place of its id."""
    return {"id": name} | {f"{key}_given" if key == "id" else key: value for key, value in about.items()}
