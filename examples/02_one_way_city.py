"""
A town with one-way streets: a digraph
======================================

Streets run one way, alternating, in a small grid. Opposite neighbors differ most: one way is a step, the other a walk round
the block. The report says beforehand how much of that a map can show: most of it runs in circles, which none can.
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import finsler
from finsler.graphs import graph_distances

side = 7
streets = []
for i in range(side):
    for j in range(side - 1):
        east = [(f"{i},{j}", f"{i},{j + 1}")]
        south = [(f"{j},{i}", f"{j + 1},{i}")]
        for street in (east, south):
            (a, b) = street[0]
            streets.append((a, b, 1.0) if i % 2 == 0 else (b, a, 1.0))
            if i in (0, side - 1):  # the ring road runs both ways
                streets.append((b, a, 1.0) if i % 2 == 0 else (a, b, 1.0))

data = graph_distances(streets)
print(finsler.asymmetry_report(data))
town = finsler.embed_graph(streets)
print()
print(town.summary())
a, b = "1,1", "1,2"
print(f"  from {a} to {b}: {town.distance(a, b):.2f} on the map; back: {town.distance(b, a):.2f}")

folder = Path("output")
folder.mkdir(exist_ok=True)
axes = town.plot()
axes.figure.savefig(folder / "one_way_city.png", dpi=150)
print(f"Written: {folder / 'one_way_city.png'}")
