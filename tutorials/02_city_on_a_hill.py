"""
2. One-way city
===============

A courier wants a map of a town on which the time from any address to any other can be read. Two things make the way
there differ from the way back: one-way streets, and a hill. Which of them can the map show?

**Data**: a town made by the few lines below, a grid of streets with some irregularity, so that the cause of every
asymmetry is known. (A real delivery matrix, such as ``ftv170`` of TSPLIB, is treated in the same way:
``finsler.embed_matrix(times)``.)
"""

# %%
# A town
# ------
# Fifteen by fifteen crossings. Every third street is an avenue that may be used both ways; the others are one-way,
# alternating. In the middle there is a hill. On the level a cargo bike makes 15 km/h; each per cent of slope costs 8
# % more time uphill and saves 4 % downhill.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import finsler
from finsler.graphs import graph_distances

side, block = 15, 120.0  # crossings, meters
rng = np.random.default_rng(0)
grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1).reshape(-1, 2)
crossing = block * (grid + rng.uniform(-0.25, 0.25, size=grid.shape))
altitude = 70 * np.exp(-(((crossing - crossing.mean(axis=0)) / 600) ** 2).sum(axis=1))
minutes_per_meter = 60 / 15_000


def streets(hill, one_way):
    """Arcs of the town with their minutes."""
    arcs = []
    for i, j in grid:
        here = i * side + j
        for next_to, line in ((here + side, j), (here + 1, i)):
            if (i if next_to == here + side else j) == side - 1:
                continue
            there, back = (here, next_to), (next_to, here)
            if not one_way or line % 3 == 0:
                allowed = [there, back]
            else:
                allowed = [there if line % 2 else back]
            for a, b in allowed:
                length = np.linalg.norm(crossing[b] - crossing[a])
                slope = 100 * (altitude[b] - altitude[a]) / length if hill else 0.0
                effort = 1 + 0.08 * max(slope, 0) + 0.04 * min(slope, 0)
                arcs.append((int(a), int(b), minutes_per_meter * length * effort))
    return arcs


towns = {
    "hill only": streets(hill=True, one_way=False),
    "one-way streets only": streets(hill=False, one_way=True),
    "both": streets(hill=True, one_way=True),
}
figure, ax = plt.subplots(figsize=(7.4, 6.2), layout="constrained")
shade = ax.tricontourf(*crossing.T, altitude, levels=12, cmap="Greens", alpha=0.8)
arcs = {(a, b) for a, b, _ in towns["both"]}
for a, b in arcs:
    if (b, a) in arcs:
        ax.plot(*crossing[[a, b]].T, color="#444444", lw=1.6)
    else:
        style = {"arrowstyle": "-|>", "lw": 0.6, "color": "#444444", "mutation_scale": 7}
        ax.annotate("", crossing[b], crossing[a], arrowprops={**style, "shrinkA": 1, "shrinkB": 1})
figure.colorbar(shade, label="altitude (m)")
ax.set(aspect="equal", xlabel="meters", title="The town: avenues run both ways, side streets one way")

# %%
# From streets to a table
# -----------------------
# Sixty addresses. :func:`~finsler.graphs.graph_distances` finds the fastest ways between them through
# the whole network; the report tells what to expect.

address = np.sort(rng.choice(side**2, 60, replace=False))
tables = {name: graph_distances(arcs, nodes=address.tolist()) for name, arcs in towns.items()}
rows = {}
for name, data in tables.items():
    report = finsler.asymmetry_report(data)
    rows[name] = {
        "asymmetry": f"{report.asymmetry:.2%}",
        "follows heights": f"{report.gradient_share:.0%}",
        "runs in circles": f"{report.cyclic_share:.0%}",
        "median costlier : cheaper": f"{report.ratio_quantiles[0.5]:.2f}",
    }
print(pd.DataFrame(rows).T.to_string())

# %%
# The hill is a slope, of course. One-way streets are the opposite: to drive round the block costs a round trip in one
# direction and nothing in the other, and in a town with alternating streets this cancels over longer ways.
#
# The map
# -------

found = {name: finsler.embed_matrix(data.matrix, labels=data.labels) for name, data in tables.items()}
figure, axes = plt.subplots(1, 2, figsize=(13, 6), layout="constrained")
for ax, name in zip(axes, ("hill only", "both"), strict=True):
    town = found[name]
    town.plot(
        ax=ax,
        color=altitude[address],
        color_label="altitude in m (not used)",
        labels=False,
        size=45,
        title=f"{name}: alpha = {town.alpha:.2f}, normalized stress {town.normalized_stress:.3f}",
    )

# %%
# Something is odd: the map is a plane with *one* direction up, and the hill stands in the middle of the town. A plane
# cannot rise towards its middle. With a third dimension it can: two for the streets, one for the price of climbing.

names = list(found)
for name in names:
    D = tables[name].matrix
    for n_components in (2, 3):
        town = finsler.embed_matrix(D, n_components=n_components, alpha=0.5 if n_components == 3 else "auto")
        flat = finsler.embed_matrix(D, n_components=n_components, alpha=0)
        rank = np.corrcoef(town.height, altitude[address])[0, 1]
        off = ~np.eye(len(D), dtype=bool)
        right = np.mean(np.sign((D - D.T)[off]) == np.sign((town.distances() - town.distances().T)[off]))
        print(
            f"{name:>20}, {n_components} dimensions: normalized stress {town.normalized_stress:.3f}, without a drift "
            f"{flat.normalized_stress:.3f}; costlier way right for {right:.0%}; "
            f"correlation of height and altitude {rank:+.2f}"
        )

# %%
town = finsler.embed_matrix(tables["both"].matrix, n_components=3, alpha=0.5)
figure = plt.figure(figsize=(9, 6.5))
ax = figure.add_subplot(projection="3d")
town.plot(
    ax=ax,
    color=altitude[address],
    color_label="altitude in m (not used)",
    size=50,
    title="Times become a hill",
)

# %%
# Another model?
# --------------
# For the one-way streets alone, where heights have little to say, other models of asymmetric data may do better.
# ``finsler compare`` (here its function) fits them all to the same table.

from finsler import compare_models

print(compare_models(tables["one-way streets only"].matrix, n_init=1, verbose=False))

# %%
# What to remember
# ----------------
# * Choose the dimension by the story: a surface on which the price rises towards a point needs one dimension more
#   than the surface.
# * A hill becomes a hill. One-way streets in a grid are circles; their asymmetry is real, and the map is not the
#   place to show it.
# * **Limits.** The town is invented. In a real one the two causes mix, and the report is the only hint at their
#   shares. Models with more numbers per address fit one-way streets better; whether their drawings can be *read* is
#   another question.
