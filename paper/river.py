"""Figure 1 of the paper: in a river, the fastest way down is not the way up reversed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.data.fields import randers_field
from finsler.graphs.digraph import Digraph
from finsler.graphs.neighbors import neighborhood_graph, randers_edges
from finsler.plotting.canvas import pyplot
from finsler.plotting.fields import plot_field
from finsler.plotting.routes import plot_route

Array = NDArray[Any]

LENGTH, BEND, WIDTH = 10.0, 1.1, 1.5
SPEED = 0.7  # of the current in the middle, in units of the boat's

NEIGHBORS = 60  # on a lattice, many: ways then have many directions


def river(n_along: int = 420, n_across: int = 32) -> tuple[Array, Array, Array]:
    """Places in a river that winds, the current there, and where they lie between the banks, from -1 to 1."""
    x, side = np.meshgrid(np.linspace(0, LENGTH, n_along), np.linspace(-1, 1, n_across), indexing="ij")
    x[:, 1::2] += 0.5 * LENGTH / (n_along - 1)  # rows like bricks: ways have more directions
    turn = 2 * np.pi / LENGTH * 1.5
    slope = BEND * turn * np.cos(turn * x)
    tangent = np.stack([np.ones_like(x), slope], axis=-1) / np.hypot(1, slope)[..., None]
    normal = np.stack([-tangent[..., 1], tangent[..., 0]], axis=-1)
    points = np.stack([x, BEND * np.sin(turn * x)], axis=-1) + 0.5 * WIDTH * side[..., None] * normal
    current = SPEED * (1 - side**2)[..., None] * tangent  # as between two walls: still at the banks
    return points.reshape(-1, 2), current.reshape(-1, 2), side.ravel()


def fig1() -> tuple[Any, dict[str, Any]]:
    """A winding river: the fastest way down keeps to the middle, the fastest way up to a bank."""
    points, current, side = river()
    edges = randers_edges(
        points, neighborhood_graph(points, n_neighbors=NEIGHBORS), randers_field(points, current=current)
    )
    a, b = (
        int(np.argmin(np.hypot(points[:, 0] - x, 9 * side))) for x in (0.08 * LENGTH, 0.92 * LENGTH)
    )  # both in the middle
    labels = list(range(len(points)))
    route = Digraph(edges, ["A" if i == a else "B" if i == b else i for i in labels]).route("A", "B")
    figure, ax = pyplot().subplots(figsize=(11, 5), layout="constrained")
    plot_field(points, current=current, ax=ax, max_arrows=600)
    plot_route(route, points, ax=ax)
    ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
    ax.set_title("The fastest way with the current, and the fastest way against it", fontsize=10)
    there, back = (side[way.nodes] for way in route.ways)
    return figure, {
        "time_there": route.length, "time_back": route.back.length if route.back else None,
        "median_distance_from_the_middle": {
            "there": float(np.median(np.abs(there))), "back": float(np.median(np.abs(back))),
        },
        "straight_line": float(np.linalg.norm(points[b] - points[a])), "nodes_shared": len(
            np.intersect1d(route.nodes[1:-1], [] if route.back is None else route.back.nodes[1:-1])
        ),
    }  # fmt: skip
