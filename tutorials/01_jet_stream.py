"""
1. The jet-stream map
=====================

West across North America takes longer than east, because the jet stream blows from the west. How much of a map can be
drawn from flight hours alone? And why does the same recipe fail for the whole world, and how could one know
beforehand?

**Data**: monthly mean winds of the ERA-Interim reanalysis at 200 hPa, where airliners cruise, and the positions of
airports from OpenFlights. Both are downloaded once and checked by their SHA-256. The hours are *computed* from them,
along great circles and without taxi, climb or approach; nobody's timetable is in them.
"""

# %%
# From winds to hours
# -------------------
# The winds of January first: a grid over the globe. The jet is the dark band over the United States; in July it is
# weaker and farther north.

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

import finsler
from finsler.datasets import fetch_flight_hours, fetch_winds

months = ("january", "july")
flights = {month: fetch_flight_hours(month) for month in months}

longitude, latitude = np.meshgrid(np.arange(-170, -49, 1.0), np.arange(10, 73, 1.0))
figure, axes = plt.subplots(2, 1, figsize=(7.5, 8), sharex=True, layout="constrained")
for ax, month in zip(axes, months, strict=True):
    east, north = fetch_winds(month)(latitude, longitude)
    speed = ax.contourf(longitude, latitude, np.hypot(east, north), levels=np.arange(0, 241, 20), cmap="PuBu")
    some = np.s_[::6, ::6]
    ax.quiver(longitude[some], latitude[some], east[some], north[some], width=0.0015)
    ax.plot(flights[month].longitude, flights[month].latitude, ".", color="#b2182b", ms=5)
    ax.set(
        title=f"{month.capitalize()}: wind at 200 hPa and {len(flights[month].codes)} airports", aspect=1.3
    )
figure.colorbar(speed, ax=axes, label="km/h", shrink=0.7)

# %%
# :func:`~finsler.datasets.fetch_flight_hours` flies every great circle both ways at an airspeed of 850 km/h:
# the pilot holds the track, the wind along it helps or hinders, the wind across it costs a little.

for month, data in flights.items():
    west = data.hours[data.codes.index("JFK"), data.codes.index("LAX")]
    east = data.hours[data.codes.index("LAX"), data.codes.index("JFK")]
    print(f"{month:>8}: New York to Los Angeles {west:.2f} h, back {east:.2f} h")

# %%
# Is it worth a map?
# ------------------
# Ask before fitting. The report says how much of the data is asymmetric, and how much of that a map with heights can
# show.

reports = {month: finsler.asymmetry_report(data.hours, labels=data.codes) for month, data in flights.items()}
print(reports["january"])

# %%
# The asymmetry is what no symmetric map can show, whatever its dimension, and nearly all of it follows heights: far more
# than noise would. In July the winds are weak, there is less to show, and a larger share of that runs in circles.

for month, report in reports.items():
    print(
        f"{month:>8}: asymmetry {report.symmetric_stress:.1%}; of its squares {report.gradient_share:.0%} follow heights "
        f"(noise alone: {report.noise['gradient_share']:.0%}), {report.cyclic_share:.0%} run in circles"
    )

# %%
# The map
# -------
# Only the hours go in. Up is what the data say; left and right mean nothing by themselves, so a map whose north is on the
# left is drawn mirrored.

maps = {month: finsler.embed_matrix(data.hours, labels=data.codes) for month, data in flights.items()}
figure, axes = plt.subplots(2, 1, figsize=(8, 13), layout="constrained")
for ax, (month, found) in zip(axes, maps.items(), strict=True):
    found.plot(
        ax=ax,
        color=flights[month].longitude,
        color_label="longitude (not used)",
        title=f"{month.capitalize()}: alpha = {found.alpha:.3f}, normalized stress {found.normalized_stress:.3f}",
    )
    if np.corrcoef(found.coordinates[:, 0], flights[month].latitude)[0, 1] < 0:
        ax.invert_xaxis()

# %%
# West is up in both: flying west is climbing. What did the slope buy? Beside each map we fit one without a drift,
# ``alpha=0``, which is ordinary MDS of the averages of both ways.

for month, found in maps.items():
    data = flights[month]
    flat = finsler.embed_matrix(data.hours, labels=data.codes, alpha=0)
    there, back = found.distance("JFK", "LAX"), found.distance("LAX", "JFK")
    west_is_up = -np.corrcoef(found.height, data.longitude)[0, 1]
    print(
        f"{month:>8}: normalized stress {found.normalized_stress:.3f}, without a drift {flat.normalized_stress:.3f}; "
        f"JFK to LAX {there:.2f} h on the map, back {back:.2f} h; correlation of height with west {west_is_up:.2f}"
    )

# %%
# A closer look at the January map: the way there and back, in the data and on the map, for every pair.

ax = finsler.plotting.plot_asymmetry(maps["january"])

# %%
# January and July, one over the other
# ------------------------------------
# Two maps of the same airports are compared by laying one over the other; up must stay up, or it would be another map. The
# test asks whether they agree more than maps whose airports are exchanged at random, and the strengths of the two drifts
# are compared by their standard errors. These hours were computed and not measured: what counts as an error here is what a
# plane with a single slope cannot show.

both = finsler.compare_maps(maps["january"], maps["july"])
print(both)
for month, found in maps.items():
    sure = finsler.confidence(found)
    print(
        f"{month:>8}: alpha = {found.alpha:.4f} ± {sure.alpha_se:.4f}, its direction ± {sure.tilt_se:.1f} degrees"
    )
ax = both.plot()

# %%
# The world: why it fails, and how the report knew
# ------------------------------------------------
# The jet blows round the globe. From Tokyo to San Francisco to New York to London and on to Tokyo, every leg eastward
# is fast: a tour that pays all the way round. Heights cannot do that, for what goes up must come down. That is a
# property of the data, and the report finds it without fitting anything.

world = fetch_flight_hours("january", region="world")
report = finsler.asymmetry_report(world.hours, labels=world.codes)
print(report.verdict)

tour = ["NRT", "SFO", "JFK", "LHR", "DEL", "NRT"]
place = [world.codes.index(code) for code in tour]
eastward = sum(world.hours[a, b] for a, b in pairwise(place))
westward = sum(world.hours[b, a] for a, b in pairwise(place))
print(f"Round the world {' - '.join(tour)}: {eastward:.1f} h eastward, {westward:.1f} h westward.")

# %%
# On any map with heights alone both tours take equally long: the heights cancel. The fit is no surprise then. In two
# dimensions a globe is hard to flatten anyway; a third one helps the symmetric part, and still the drift explains
# next to nothing.

i, j = world.codes.index("NRT"), world.codes.index("SFO")
print(f"Tokyo to San Francisco: {world.hours[i, j]:.1f} h in the data, back {world.hours[j, i]:.1f} h")
alpha = "auto"
for n_components in (2, 3):
    options = {"labels": world.codes, "n_components": n_components}
    found = finsler.embed_matrix(world.hours, alpha=alpha, **options)
    flat = finsler.embed_matrix(world.hours, alpha=0, **options)
    alpha = found.alpha  # in three dimensions the globe is a surface, which does not determine alpha: keep it
    print(
        f"  {n_components} dimensions, alpha {alpha:.3f}: {found.distance('NRT', 'SFO'):.1f} h on the map, back "
        f"{found.distance('SFO', 'NRT'):.1f} h; normalized stress {found.normalized_stress:.4f}, "
        f"without a drift {flat.normalized_stress:.4f}"
    )

# %%
# What is left of the stress of the North American maps? Not the curvature of the Earth, as one might think: without
# any wind the hours are distances on a sphere, and over one continent a flat map fits these well. It is mostly the
# part that runs in circles. The report gives a bound: no map with heights can have a normalized stress below the root
# of that share.

from finsler.datasets import make_flight_hours

january = flights["january"]
calm = make_flight_hours(january.latitude, january.longitude, wind=lambda latitude, longitude: (0.0, 0.0))
stress_of_curvature = finsler.embed_matrix(calm, alpha=0).normalized_stress
print(f"normalized stress without wind {stress_of_curvature:.3f}")
for month, report in reports.items():
    least = np.sqrt(report.asymmetry * report.cyclic_share)
    print(
        f"{month:>8}: normalized stress {maps[month].normalized_stress:.3f}, by the report at least {least:.3f}"
    )

# %%
# What to remember
# ----------------
# * Within a continent the jet is a slope, and the map shows both ways. Round the globe it is a merry-go-round, and
#   needs a drift that turns: :doc:`07_world_winds` goes on from here.
# * The report costs seconds and tells these two cases apart beforehand.
# * **Limits.** The winds are monthly means: a day's jet is stronger and narrower. Great circles are not what airlines
#   fly in a jet; they detour to ride or avoid it. And even over one continent some of the asymmetry runs in circles,
#   since the jet is faster in its middle than beside it: that part is not on the map.
