"""
8. A sea that turns, and a ring road
====================================

Two made-up places whose asymmetry is nothing but a circle, so that the truth is known: a round sea whose water turns like
a wheel, and a town with a ring road that is quick one way round. What does a map with a ``swirl`` make of them, when are
its ways bent, and where does it not help?

**Data**: :func:`~finsler.datasets.make_gyre` and :func:`~finsler.datasets.make_ring_road`, made from formulas.
"""

# %%
# The sea
# -------
# 150 places in a disc; at the rim the water runs counterclockwise at half of the boat's speed. The report knows
# beforehand that heights are of no use:

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import orthogonal_procrustes

import finsler
from finsler.datasets import make_gyre, make_ring_road
from finsler.plotting import plot_field

sea = make_gyre()
figure, ax = plt.subplots(figsize=(6, 6), layout="constrained")
plot_field(sea.points, current=sea.current, ax=ax)
print(finsler.asymmetry_report(sea.times).verdict)

# %%
# A map whose drift may turn has one number more. ``swirl=True`` measures along straight ways; but in a sea that turns, a
# clever boat does not go straight. With ``swirl="geodesic"`` the map measures along its own cheapest ways, which are arcs of
# circles, and needs no further number for that.

found = {
    "heights only": finsler.embed_matrix(sea.times),
    "turning, straight ways": finsler.embed_matrix(sea.times, swirl=True),
    "turning, cheapest ways": finsler.embed_matrix(sea.times, swirl="geodesic"),
}
for name, chart in found.items():
    print(
        f"{name:>22}: normalized stress {chart.normalized_stress:.4f}, shown {max(chart.asymmetry_shown().share, 0):.0%}"
    )

# %%
# On the map the cross is the middle of the sea, and the arrows run as the water does (or as its mirror image does: left and
# right mean nothing). Four voyages are drawn, there and back. Each bends to the side where the water helps.

chart = found["turning, cheapest ways"]
angle = np.arctan2(sea.points[:, 1], sea.points[:, 0])
rim = np.flatnonzero(np.hypot(*sea.points.T) > 0.9)
ends = [int(rim[np.argmin(np.abs(angle[rim] - at))]) for at in (-2.4, -0.8, 0.8, 2.4)]
voyages = list(zip(ends, ends[1:] + ends[:1], strict=True))
back = [(b, a) for a, b in voyages]
ax = chart.plot(arcs=voyages + back, color=np.hypot(*sea.points.T), color_label="radius (not used)")

# %%
# How true is it? We lay the map upon the sea and compare the drift of the map, which is the cost of going against the water,
# with the current.

turn, _ = orthogonal_procrustes(chart.coordinates, sea.points - sea.points.mean(axis=0))
drift = chart.drift_at() @ turn
same = np.corrcoef(-drift.ravel(), sea.current.ravel())[0, 1]
of_map, of_sea = (np.linalg.norm(field[rim], axis=1).mean() for field in (drift, sea.current))
print(
    f"correlation of the current with the drift, reversed: {same:.3f}; at the rim {of_sea:.2f} and {of_map:.2f}"
)

# %%
# The ring road
# -------------
# 72 sections that cost 1 counterclockwise and 2.5 clockwise, and twelve two-way spokes to the middle. The costs are those of
# shortest ways, some round, some across.

town = make_ring_road()
maps = {
    "heights only": finsler.embed_matrix(town.costs),
    "turning, straight ways": finsler.embed_matrix(town.costs, swirl=True),
    "turning, cheapest ways": finsler.embed_matrix(town.costs, swirl="geodesic"),
}
for name, chart in maps.items():
    print(
        f"{name:>22}: normalized stress {chart.normalized_stress:.4f}, shown {max(chart.asymmetry_shown().share, 0):.0%}"
    )
ax = maps["turning, cheapest ways"].plot()

# %%
# The stress remains high: a boat may go anywhere, a car cannot leave the ring, and no smooth map has such ways. But which
# way round is quick, and by how much, can be read from the picture.
#
# Where it does not help
# ----------------------
# ``swirl="auto"`` takes a swirl only if the map fits better with it than by chance, and by more than a trifle. A slope has
# none:

rng = np.random.default_rng(0)
slope = finsler.randers_distances(rng.normal(size=(60, 2)), drift=0.3) * rng.uniform(0.95, 1.05, (60, 60))
chart = finsler.embed_matrix(slope, swirl="auto")
print(chart.summary())

# %%
# What to remember
# ----------------
# * One center for the whole map. Where the whole map turns, one number shows it.
# * Circles that are *local* stay invisible: one-way streets, confusions of signals, students who go where others come from,
#   tournaments in which A beats B beats C beats A. There the stress hardly falls, and ``"auto"`` leaves the swirl out or
#   says how little it does.
# * Straight ways are easier to read, cheapest ways fit better where the swirl is strong, and only with these is a
#   detour never cheaper than the direct way.
