"""
A chart of a sea with currents: points
======================================

Travel times of a boat of speed 1, by the shortest way through the current (Zermelo navigation), in three dimensions. Where
the current springs up the map has a peak, where it gathers a pit: going with the current is going down.
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import finsler
from finsler.datasets import make_sea

sea = make_sea(600, random_state=0)
chart = finsler.embed_points(sea.points, current=sea.current)
print(chart.summary())

folder = Path("output")
folder.mkdir(exist_ok=True)
axes = chart.plot(color=sea.divergence, color_label="divergence of the current (not used by the embedding)")
axes.figure.savefig(folder / "sea_chart.png", dpi=150)
print(f"Written: {folder / 'sea_chart.png'}")
