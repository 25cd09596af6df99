"""
5. Which way does the sea fall?
===============================

A boat of constant speed crosses a sea with currents. How long it takes from here to there depends on the direction.
Drawn as a landscape on which going with the current is going down, does the map tell where the water springs up and
where it gathers?

**Data**: the sea of the paper (its figure 4), made by a formula, so that the truth is known; the current runs at most
at half of the speed of the boat. At the end a second sea, made to fail.
"""

# %%
# Points and currents
# -------------------
# What one would have from drifting buoys: places, and the current at each.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

import finsler
from finsler.datasets import make_sea
from finsler.geometry import local_extrema
from finsler.plotting import plot_field, plot_height

sea = make_sea(1500, random_state=0)
ax = plot_field(sea.points, current=sea.current)

# %%
# From currents to a map
# ----------------------
# :class:`~finsler.FinslerIsomap` joins each point to its neighbors, computes the exact time of a boat along each
# edge, both ways (Zermelo's problem of navigation), and adds up shortest ways.

isomap = finsler.FinslerIsomap(n_components=3, alpha=0.5)
isomap.fit(sea.points, current=sea.current)
chart = isomap.result_
print(chart.summary())
print(finsler.asymmetry_report(isomap.result_.data).verdict)

# %%
# The verdict is a warning: even in this sea most of the asymmetry is made by whirls, which no height can show. What
# the map can show is the rest.
#
# A surface with a slope needs three dimensions: two for the sea, one for the height. Ordinary Isomap, which averages
# both ways, for comparison:

flat = finsler.FinslerIsomap(n_components=3, alpha=0.0).fit(sea.points, current=sea.current)
print(f"normalized stress {chart.normalized_stress:.3f}, without a drift {flat.normalized_stress_:.3f}")
here, there = np.argmin(np.hypot(*(sea.points - 1).T)), np.argmin(np.hypot(*(sea.points - 9).T))
print(
    f"from {sea.points[here].round(1)} to {sea.points[there].round(1)}: {isomap.dist_matrix_[here, there]:.2f} in the data, "
    f"{chart.distance(here, there):.2f} on the map; back {isomap.dist_matrix_[there, here]:.2f} and "
    f"{chart.distance(there, here):.2f}"
)

# %%
# Peaks and pits
# --------------
# The height of each point, drawn at its place in the sea. A peak is a point from which everything near is cheap to
# reach: a source. A pit is a sink.

graph = isomap.neighbors_graph_
ax = plot_height(sea.points, chart.height, graph=graph, hops=2)

# %%
# Are they? The divergence of the current tells: positive where water wells up, negative where it gathers. It follows
# from the formula of the sea and was not used by the map. At the shore a current has no other side, so the rim is
# left out.

inner = ((sea.points > 0.7) & (sea.points < 9.3)).all(axis=1)
extrema = local_extrema(chart.height, graph, hops=2)
peaks, pits = (found[inner[found]] for found in extrema)
rank = spearmanr(chart.height, sea.divergence)[0]
print(f"{len(peaks)} peaks: divergence positive at {np.sum(sea.divergence[peaks] > 0)} of them,", end=" ")
print(f"median {np.median(sea.divergence[peaks]):+.2f}")
print(f"{len(pits)} pits: divergence negative at {np.sum(sea.divergence[pits] < 0)} of them,", end=" ")
print(f"median {np.median(sea.divergence[pits]):+.2f}")
low, high = np.quantile(sea.divergence, [0.1, 0.9])
print(f"(for comparison: a tenth of the sea is below {low:+.2f}, a tenth above {high:+.2f})")
print(f"rank correlation of height and divergence over all points: {rank:.2f}")

# %%
# Does this depend on the choice of ``alpha``, which a surface hardly determines?

for alpha in (0.3, 0.8):
    other = finsler.FinslerIsomap(n_components=3, alpha=alpha).fit(sea.points, current=sea.current)
    same = spearmanr(other.embedding_[:, -1], chart.height)[0]
    print(
        f"alpha = {alpha}: normalized stress {other.normalized_stress_:.3f}, heights span "
        f"{np.ptp(other.embedding_[:, -1]):.2f} (instead of {np.ptp(chart.height):.2f}), "
        f"rank correlation with the heights above {same:.3f}"
    )

# %%
# The landscape itself, from the side:

figure = plt.figure(figsize=(9, 6.5))
ax = figure.add_subplot(projection="3d")
drawn = ax.scatter(*chart.coordinates.T, c=sea.divergence, cmap="coolwarm", s=10)
ax.set_box_aspect(np.ptp(chart.coordinates, axis=0) * (1, 1, 2.5))
ax.set(
    xlabel="x1",
    ylabel="x2",
    zlabel="height (2.5 times too high)",
    zticks=[-1, 0, 1],
    title="The sea as a landscape",
)
figure.colorbar(drawn, label="divergence of the current (not used)", shrink=0.6, pad=0.12)

# %%
# A sea that has no landscape
# ---------------------------
# A whirl: the water goes round and round, nothing wells up, nothing gathers. Round with the whirl is fast, against it
# slow, and no height can say so. The report does.

radius = np.linalg.norm(sea.points - 5, axis=1, keepdims=True)
whirl = 0.5 * (sea.points - 5)[:, ::-1] * (-1, 1) / np.maximum(radius, 1.0)
gyre = finsler.FinslerIsomap(n_components=3, alpha=0.5).fit(sea.points, current=whirl)
report = finsler.asymmetry_report(gyre.result_.data)
print(report.verdict)
flat = finsler.FinslerIsomap(n_components=3, alpha=0.0).fit(sea.points, current=whirl)
print(f"normalized stress {gyre.normalized_stress_:.3f}, without a drift {flat.normalized_stress_:.3f}")

# %%
# What to remember
# ----------------
# * From travel times alone the map finds where the water comes from and where it goes.
# * It shows the part of a current that is a slope. Whirls are invisible to it, and real seas are full of them; ask
#   the report first. Where the sea as a whole is one whirl, ``swirl=True`` shows it: :doc:`08_gyre_and_ring_road`.
# * **Limits.** The current must be slower than the boat, and the points dense enough that it hardly changes between
#   neighbors. Extrema at the rim mean little. And ``alpha`` is a choice here: it stretches the heights rather than
#   reordering them, as the run above shows.
