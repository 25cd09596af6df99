"""The ring road on a map whose drift turns, with the triangle whose area is the difference of both ways."""

import matplotlib.pyplot as plt
import numpy as np

import finsler
from finsler.graphs import graph_distances

n = 12
names = [str(k) for k in range(n)]
pieces = [(names[k], names[(k + 1) % n]) for k in range(n)]
D = graph_distances([(a, b, 0.4) for a, b in pieces] + [(b, a, 0.8) for a, b in pieces]).matrix
found = finsler.embed_matrix(D, labels=names, swirl=True)

fig, ax = plt.subplots(figsize=(7.4, 6.4), layout="constrained")
found.plot(ax=ax, color=np.arange(n), color_label="place on the ring", cmap="twilight", size=60)
a, b = 3, 0
ax.fill(*np.vstack([found.center, found.coordinates[[a, b]]]).T, color="#0072b2", alpha=0.2, lw=0)
there, back = found.distance("3", "0"), found.distance("0", "3")
ax.set_title(
    f"{there:.2f} from 3 to 0, {back:.2f} back (in the data {D[a, b]:.2f} and {D[b, a]:.2f})", fontsize=10
)
