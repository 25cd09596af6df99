"""Unreachable pairs: streams that flow down only."""

import matplotlib.pyplot as plt
import numpy as np

import finsler
from finsler.graphs import graph_distances

streams = [(str(k), str(k // 2), 1.0) for k in range(2, 16)]  # from the springs, 8 to 15, to the mouth, 1
known = np.isfinite(graph_distances(streams).weights) & (graph_distances(streams).weights > 0)
share = known.sum() / (15 * 14)

fig, axes = plt.subplots(1, 2, figsize=(9.4, 4.8))
for ax, policy, words in (
    (axes[0], "mask", "left out: nothing keeps the streams apart"),
    (axes[1], "hinge", "kept far: at least as far as the longest way down"),
):
    found = finsler.embed_graph(
        streams, unreachable=policy, alpha=0.5, n_init=20, random_state=0, max_iter=3000
    )
    place = dict(zip(found.labels, found.coordinates, strict=True))
    for a, b, _ in streams:
        ax.annotate("", place[b], place[a], arrowprops={"arrowstyle": "->", "color": "#2166ac", "lw": 1})
    level = [int(name).bit_length() for name in found.labels]
    ax.scatter(*found.coordinates.T, c=level, cmap="Blues_r", s=60, edgecolor="k", linewidth=0.5, zorder=3)
    ax.text(*place["1"], "   mouth", va="center")
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    ax.set(title=f'unreachable="{policy}"\n{words}', ylabel="height")
fig.suptitle(f"{share:.0%} of the ordered pairs have a way", fontsize=10)
