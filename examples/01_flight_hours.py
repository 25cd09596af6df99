"""
Flight hours: the map on which flying west is going up
======================================================

Embeds the hours between 64 North American airports, where a westerly jet makes the way west longer than the
way east, and writes the map as a picture, as a table and as a file to load again. Run it with ``make demo``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import numpy as np

import finsler

flights = finsler.load_flight_hours()
print(finsler.asymmetry_report(flights.hours, labels=flights.codes))

flight_map = finsler.embed_matrix(flights.hours, labels=flights.codes)
print()
print(flight_map.summary())
for a, b in (("JFK", "LAX"), ("LAX", "JFK")):
    hours = flights.hours[flights.codes.index(a), flights.codes.index(b)]
    print(f"  {a} -> {b}: {flight_map.distance(a, b):.2f} h on the map, {hours:.2f} h in the data")

folder = Path("output")
folder.mkdir(exist_ok=True)
axes = flight_map.plot(
    color=flights.longitude,
    color_label="longitude (not used by the embedding)",
    title="Flight hours between 64 airports: west is up, and going up takes longer\n"
    f"alpha = {flight_map.alpha:.3f}, normalized stress {flight_map.normalized_stress:.4f}",
)
axes.figure.savefig(folder / "flight_hours.png", dpi=150)

table = np.column_stack([flight_map.coordinates, flights.latitude, flights.longitude])
rows = [
    f"{code},{city},{','.join(f'{v:.6f}' for v in row)}"
    for code, city, row in zip(flights.codes, flights.cities, table, strict=True)
]
(folder / "flight_hours.csv").write_text(
    "\n".join(["code,city,x1,height,latitude,longitude", *rows]) + "\n", encoding="utf-8"
)
flight_map.save(folder / "flight_hours.npz")

print(f"""
Written to {folder}/:
  flight_hours.png   the map: each airport is a point, the west coast on top. The straight line between two airports
                     is the way; its length, plus {flight_map.alpha:.3f} times the climb, is the time in hours.
  flight_hours.csv   the coordinates
  flight_hours.npz   the same with labels and drift: finsler.Embedding.load("{folder}/flight_hours.npz")""")
