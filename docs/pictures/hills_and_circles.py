"""What a Randers map can and cannot show: a slope and a ring road, both asymmetric."""

import matplotlib.pyplot as plt
import numpy as np

import finsler
from finsler.graphs import graph_distances

n = 12
names = [str(k) for k in range(n)]
turn = 2 * np.pi * np.arange(n) / n
ring = np.column_stack([np.sin(turn), np.cos(turn)])


def ring_road(clockwise, back):
    """Travel times on a ring whose pieces take so long clockwise and so long the other way."""
    pieces = [(names[k], names[(k + 1) % n]) for k in range(n)]
    arcs = [(a, b, clockwise) for a, b in pieces] + [(b, a, back) for a, b in pieces]
    return graph_distances(arcs).matrix


cases = {
    "straight ways on a slope: up is slow, down is fast": finsler.randers_distances(ring, drift=0.35),
    "a ring road: clockwise is fast, back is slow": ring_road(0.4, 0.8),
}
fig, axes = plt.subplots(2, 2, figsize=(9.4, 8.4))
for (above, below), (title, D) in zip(axes.T, cases.items(), strict=True):
    report = finsler.asymmetry_report(D)
    found = finsler.embed_matrix(D, labels=names)
    X = found.coordinates * (1 if found.coordinates[3, 0] > 0 else -1, 1)  # left and right are free
    for ax, points in ((above, ring), (below, X)):
        ax.plot(*np.vstack([points, points[:1]]).T, color="#bbbbbb", lw=0.8, zorder=1)
        ax.scatter(*points.T, c=np.arange(n), cmap="twilight", s=70, edgecolor="k", linewidth=0.5, zorder=3)
        ax.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), aspect="equal")
    for name, place in zip(names, 1.2 * ring, strict=True):
        above.text(*place, name, ha="center", va="center", fontsize=8)
    a, b = 3, 0
    above.set(xticks=[], yticks=[], title=f"{title}\n{D[a, b]:.2f} from {a} to {b}, {D[b, a]:.2f} back")
    below.set(
        ylabel="height",
        title=f"the map: {found.distance(names[a], names[b]):.2f} from {a} to {b}, "
        f"{found.distance(names[b], names[a]):.2f} back; alpha = {found.alpha:.2f}\n"
        f"asymmetry: {report.gradient_share:.0%} follows heights, {report.cyclic_share:.0%} runs in circles",
    )
