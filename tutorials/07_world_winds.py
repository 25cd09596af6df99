"""
7. The world's winds
====================

In :doc:`01_jet_stream` the map of the world failed: the jet blows round the globe, so a tour eastward pays all the way
round, and no heights can say so. Here the drift of the map is allowed to *turn*. From flight hours alone, does it find
out round what?

**Data**: flight hours between 160 airports of the world, computed from the monthly mean winds of the ERA-Interim reanalysis
at 200 hPa and the positions of airports from OpenFlights, both downloaded once and checked. Into the maps go the
hours and nothing else.
"""

# %%
# Round the world
# ---------------
# Five flights round the northern hemisphere, eastward and westward:

from dataclasses import replace
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import orthogonal_procrustes

import finsler
from finsler.datasets import fetch_flight_hours

months = ("january", "july")
world = {month: fetch_flight_hours(month, region="world") for month in months}
codes = world["january"].codes
latitude, longitude = np.radians(world["january"].latitude), np.radians(world["january"].longitude)
tour = [codes.index(code) for code in ("NRT", "SFO", "JFK", "LHR", "DEL", "NRT")]


def both_tours(distances):
    """Hours of the tour eastward and westward."""
    return sum(distances[a, b] for a, b in pairwise(tour)), sum(distances[b, a] for a, b in pairwise(tour))


for month, data in world.items():
    east, west = both_tours(data.hours)
    print(f"{month:>8}: eastward {east:.1f} h, westward {west:.1f} h")

# %%
# The report, before any map is made, says how little of this heights could show, and how much turns:

print(finsler.asymmetry_report(world["january"].hours, labels=codes).verdict)

# %%
# A polar map
# -----------
# ``swirl=True`` lets the drift turn: it is no longer one arrow for the whole map, but grows with the distance from a
# *center* and points round it. In the plane that takes one number more than before.

for month, data in world.items():
    plain = finsler.embed_matrix(data.hours, labels=codes)
    turning = finsler.embed_matrix(data.hours, labels=codes, swirl=True)
    print(
        f"{month:>8}: normalized stress {plain.normalized_stress:.4f} and {plain.asymmetry_shown().share:.0%} of the "
        f"asymmetry shown; with a swirl {turning.normalized_stress:.4f} and {turning.asymmetry_shown().share:.0%}"
    )

# %%
# ``swirl="auto"`` decides by itself whether to take one, and says why:

asked = finsler.embed_matrix(world["january"].hours, labels=codes, swirl="auto")
print(asked.summary())

# %%
# The cross is the center. Dashed rings are labeled with what a way along them costs more or less than its length; the blue
# arrows show the cheap way round. Left and right mean nothing on such a map, so it may be drawn mirrored: we choose
# the side from which east turns counterclockwise, as seen from above the north pole.


def from_above(found):
    """The map, or its mirror image, on which the airports run counterclockwise from west to east."""
    at = found.coordinates - found.center
    turned = np.angle(np.exp(1j * (np.arctan2(at[:, 1], at[:, 0]) - longitude)))
    mirrored = np.angle(np.exp(1j * (np.arctan2(at[:, 1], -at[:, 0]) - longitude)))
    if np.abs(np.exp(1j * turned).mean()) > np.abs(np.exp(1j * mirrored).mean()):
        return found
    flip = np.array([-1.0, 1.0])
    return replace(found, coordinates=found.coordinates * flip, drift=found.drift * flip, swirl=-found.swirl)


some = ["NRT", "SFO", "JFK", "LHR", "DEL", "SYD", "JNB", "GRU", "ANC", "SIN", "HNL", "CAI"]
maps = {}
for month, data in world.items():
    maps[month] = from_above(finsler.embed_matrix(data.hours, labels=codes, swirl=True))
    maps[month].plot(
        labels=some,
        color=data.latitude,
        color_label="latitude (not used)",
        title=f"{month.capitalize()}: flight hours between 160 airports, and nothing else",
    )

# %%
# It is a polar map, which nobody told it. How far an airport is from the cross is how far it is from the pole, and the
# cheap way round is east. In July the drift turns half as fast: the jet of the north is weak then.

for month, found in maps.items():
    away = found.screw.radii(found.coordinates)
    rank, most = np.corrcoef(away, latitude)[0, 1], abs(found.kappa) * away.max()
    print(
        f"{month:>8}: correlation of latitude with the distance from the center {rank:.2f}; kappa {abs(found.kappa):.4f} +- "
        f"{found.swirl_choice.kappa_error:.4f}; at the rim the cheap way round costs {100 * most:.0f} % less"
    )

# %%
# And the tours:

for month, found in maps.items():
    data, map_tours = both_tours(world[month].hours), both_tours(found.distances())
    print(f"{month:>8}: eastward {data[0]:.1f} h, {map_tours[0]:.1f} h on the map;", end=" ")
    print(f"westward {data[1]:.1f} h, {map_tours[1]:.1f} h on the map")

# %%
# The axis of the Earth
# ---------------------
# In the plane a globe is torn somewhere: the south is spread along the rim. In three dimensions it need not be, and the
# drift turns round an *axis*. Three more numbers, and none of them knows of the Earth.

# To see how good the axis is, we lay the finished map upon the globe, by the turn (or mirror image) that fits the airports
# best.

places = np.column_stack(
    [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
)


def laid_on_the_globe(found):
    """The map, turned so that the Earth's axis is upright."""
    turn, _ = orthogonal_procrustes(found.coordinates, places - places.mean(axis=0))
    return replace(
        found,
        coordinates=found.coordinates @ turn,
        drift=found.drift @ turn,
        swirl=turn.T @ found.swirl @ turn,
    )


globes = {}
for month, data in world.items():
    found = finsler.embed_matrix(data.hours, labels=codes, n_components=3, swirl=True)
    globes[month] = laid_on_the_globe(found)
    angle = np.degrees(np.arccos(abs(globes[month].axis[2])))
    print(
        f"{month:>8}: normalized stress {found.normalized_stress:.4f}, {found.asymmetry_shown().share:.0%} of the asymmetry "
        f"shown; the axis is {angle:.1f} degrees from that of the Earth"
    )

# %%
# The line along the axis that was found, and dotted beside it that of the Earth, through the middle of the globe:

january = globes["january"]
figure = plt.figure(figsize=(9, 8), layout="constrained")
ax = figure.add_subplot(projection="3d")
january.plot(
    ax=ax,
    labels=some,
    color=world["january"].latitude,
    color_label="latitude (not used)",
    title="January, in three dimensions: the axis was found, not given",
)
scale = np.linalg.norm(january.coordinates) / np.linalg.norm(places - places.mean(axis=0))
x, y, z = -scale * places.mean(axis=0)
ax.plot([x, x], [y, y], [z - 1.2 * scale, z + 1.2 * scale], ":", color="#d55e00", lw=2)
ax.view_init(elev=22)

# %%
# In January the jets of both hemispheres and the calm at the equator turn round nearly the same axis; in July the winds
# are weak, and what is left depends on where the land is.
#
# What to remember
# ----------------
# * Where extra costs add up on the way round, ask for a ``swirl``. The report, and ``swirl="auto"``, say whether it is worth
#   it; here it shows most of an asymmetry of which heights show next to nothing.
# * The picture needs no formula: with the arrows is cheap, against them costly, and straight towards the center both ways
#   cost the same. ``found.explore("world.html")`` makes a page of it, on which two clicks show both ways, and the triangle
#   whose area is their difference.
# * **Limits.** One center, or one axis, for the whole map: a swirl in each ocean is another model. The drift grows with the
#   distance from the axis, while the real jets blow at middle latitudes. The winds are monthly means, and the flights follow
#   great circles. The axis of July is found less well because there is less to find.
