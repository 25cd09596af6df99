"""
9. Confused signals
===================

Somebody who learns Morse code takes B for 6, and a short signal for a shorter one. Tables of such confusions are where
ordinal scaling comes from. This tutorial goes the whole way: raw counts, tests, an ordinal map with a function for each row,
and how far to trust it.

**Data**: simulated, because the classic table (Rothkopf 1957) is not ours to ship. The codes are the real ones, and since we
make the listeners up, we know what the map should look like. The end of the page does the same with the real table, if
you have it.
"""

# %%
# Listeners
# ---------
# Each of the 36 signals has a place: how many of its parts are dashes, and whether these come late, decide left and
# right; how long it lasts is its height. Listeners who are not sure tend to answer with a shorter signal, so a
# confusion *upward* is rarer: its distance is longer by ``alpha = 0.3`` times the difference of the heights. Signal i
# is taken for j with a probability that falls exponentially with the distance from i to j.
#
# One more thing makes it realistic. Every signal was played to another class, 300 times, and some classes guess more
# than others. So how fast the exponential falls differs from row to row, and **values in different rows cannot be
# compared**.

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import finsler
from finsler.data.similarities import dissimilarities_from
from finsler.inference import fit_test, jackknife

CODES = """
A .- B -... C -.-. D -.. E . F ..-. G --. H .... I .. J .--- K -.- L .-.. M -- N -. O --- P .--. Q --.- R .-. S ... T -
U ..- V ...- W .-- X -..- Y -.-- Z --.. 1 .---- 2 ..--- 3 ...-- 4 ....- 5 ..... 6 -.... 7 --... 8 ---.. 9 ----. 0 -----
"""
words = CODES.split()
codes = dict(zip(words[::2], words[1::2], strict=True))
names = list(codes)


def place(code):
    """Where a signal lies: dashes and when they come, and how long it lasts."""
    dash = np.array([1.0 if part == "-" else -1.0 for part in code])
    late = np.linspace(-1, 1, len(dash)) @ dash / len(dash) if len(dash) > 1 else 0.0
    duration = 2 * np.sum(dash > 0) + len(dash) + len(dash) - 1  # a dash lasts three dots, and there are gaps
    return 0.8 * dash.mean() + 0.8 * late, np.log2(duration)


rng = np.random.default_rng(0)
truth = np.array([place(code) for code in codes.values()])
distances = finsler.randers_distances(truth, drift=0.3)
care = rng.uniform(0.6, 2.4, size=len(names))  # of the class that heard each signal
chances = np.exp(-care[:, None] * distances)
chances /= chances.sum(axis=1, keepdims=True)
table = np.array([rng.multinomial(300, row) for row in chances])
counts = pd.DataFrame(table, index=names, columns=names)
print(counts.loc[["A", "E", "T", "5", "0"], ["A", "E", "T", "N", "I", "5", "H", "0", "9"]])

# %%
# Is it more than chance?
# -----------------------
# Before any map: do the two directions of a pair differ by more than counting makes them, does that follow heights,
# and does something run in circles? These are tests of the counts themselves.

print(finsler.asymmetry_test(counts=table))

# %%
# They differ, and heights are part of it. What they leave is more than chance as well; here that is no circle, but
# the classes: heights are a model of one common scale for all rows, which these data do not have. A test tells that
# something is there, not what.
#
# Three maps
# ----------
# A *ratio* map takes minus the logarithm of the shares for distances, and is wrong if rows have scales of their own.
# An *ordinal* map asks only that rarer means farther, over the whole table. With ``conditional="row"`` it asks so
# within each row: the counts themselves can go in, turned round, for only their order in the row matters.

turned = dissimilarities_from(counts, transform="linear", zeros="keep")
shares = dissimilarities_from(counts, transform="transition", zeros="pseudocount")
maps = {
    "ratio": finsler.embed_matrix(shares),
    "ordinal": finsler.embed_matrix(shares, scaling="ordinal"),
    "ordinal, by row": finsler.embed_matrix(turned, scaling="ordinal", conditional="row"),
}
known = finsler.embed_matrix(distances, labels=names)  # the true map, to rounding
for name, found in maps.items():
    agreement = finsler.compare_maps(known, found, drift="kept")
    print(
        f"{name:>15}: alpha = {found.alpha:.2f}, stress-1 = {found.stress1:.3f}, r with the truth = {agreement.r:.3f}"
    )

# %%
# The stress says nothing about which one is right: it is lowest where the model is free to bend most. The truth,
# which we have for once, says it: 36 functions are a lot of freedom, and here they are needed.

best = maps["ordinal, by row"]
print(best.summary())
ax = best.plot(title="Confusions of signals: up lasts longer, dashes to one side")

# %%
# Look at the fit
# ---------------
# With a function per row there is no common curve. The diagram shows distances against the disparities of their rows;
# points on the line keep their order.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for ax, name in zip(axes, ("ordinal", "ordinal, by row"), strict=True):
    finsler.plotting.plot_shepard(maps[name], ax=ax)
    ax.set_title(f"{name}: stress-1 (Kruskal) = {maps[name].stress1:.3f}")

# %%
# Does it fit better than the same values in random places? A row-wise order fits a lot of noise, so this must be
# asked with the very same freedom. And does the map hang on a single signal?

options = {"scaling": "ordinal", "conditional": "row"}
found = fit_test(turned, n_permutations=39, **options)
print(found)
print(jackknife(best))

# %%
# There are no ellipses: disparities are fitted along with the map, and a formula that does not know it would give
# ellipses that are too small. :func:`finsler.confidence` refuses:

try:
    finsler.confidence(best)
except finsler.InputError as refusal:
    print(refusal)

# %%
# Beside the truth
# ----------------

both = finsler.compare_maps(known, best, drift="kept")
print(both)
ax = both.plot()

# %%
# The real table
# --------------
# The R package smacof has it: ``write.csv(as.matrix(morse2), "morse.csv")`` after ``data(morse2)``. It holds
# dissimilarities, one minus the share of "same". Put it into a folder ``proximities`` and name the folder above in
# ``FINSLER_TEST_DATA``.

file = Path(os.environ.get("FINSLER_TEST_DATA", "none"), "proximities", "morse.csv")
if file.is_file():
    real = pd.read_csv(file, index_col=0)
    real = real.mask(np.eye(len(real), dtype=bool), 0.0)
    print(finsler.asymmetry_test(real))
    for conditional in ("matrix", "row"):
        found = finsler.embed_matrix(real, scaling="ordinal", conditional=conditional)
        print(found.summary())
        found.plot(title=f"Morse signals (Rothkopf 1957), ordinal, by {conditional}")
else:
    print("Not here.")

# %%
# What to remember
# ----------------
# * Counts are tested as counts, before any transform: ``asymmetry_test(counts=...)``.
# * Ask what can be compared. If rows come from different people, ``conditional="row"``; below 20 points it needs a
#   given alpha.
# * Stress does not choose between scalings, held-out pairs do: ``cross_validate(..., scalings=("ratio",
#   "ordinal"))``.
# * An alpha of an ordinal map is corrected, because noise flattens the fitted function: :doc:`/ordinal`.
# * **Limits.** Ordinal maps have no ellipses and no test of single points; give replicates, or describe by leaving
#   points out.
