"""What up means: the same line, measured both ways."""

import matplotlib.pyplot as plt
import numpy as np

import finsler

alpha = 0.3
places = {"harbor": (0.0, 0.0), "mill": (3.0, 0.0), "castle": (3.0, 4.0)}
X = np.array(list(places.values()))
d = finsler.randers_distances(X, drift=alpha)
names = list(places)

fig, ax = plt.subplots(figsize=(6.4, 4.6))
offset = 0.09
for a, b in (("harbor", "mill"), ("mill", "castle"), ("harbor", "castle")):
    i, j = names.index(a), names.index(b)
    along = (X[j] - X[i]) / np.linalg.norm(X[j] - X[i])
    side = np.array([-along[1], along[0]])
    for start, end, sign, color in ((i, j, 1, "#b2182b"), (j, i, -1, "#2166ac")):
        shift = sign * offset * side
        if X[start][1] == X[end][1]:
            color = "#555555"
        ax.annotate(
            "",
            X[end] + shift,
            X[start] + shift,
            arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.6, "shrinkA": 6, "shrinkB": 6},
        )
        ax.text(
            *(0.5 * (X[start] + X[end]) + sign * 0.38 * side),
            f"{d[start, end]:.1f}",
            color=color,
            ha="center",
            va="center",
            fontsize=11,
        )
ax.scatter(*X.T, s=70, color="k", zorder=3)
for name, (x, y) in places.items():
    ax.text(
        x + (0.18 if x > 1 else -0.18), y, name, ha="left" if x > 1 else "right", va="center", fontsize=11
    )
ax.set(xlim=(-1.4, 4.6), ylim=(-0.8, 4.6), xticks=[], ylabel="height")
ax.set_aspect("equal")
ax.set_title(f"alpha = {alpha}: red ways climb and cost more, blue ones fall and cost less")
