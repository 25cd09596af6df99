"""
3. Who goes where
=================

In 2012-13 a quarter of a million students spent some months in another country under the Erasmus programme. Where did
they go, and was it a fair exchange? Flows are not distances: turning them into distances is half of the work, and
half of the result.

**Data**: students from each of 33 countries (rows) to each other one (columns), statistics of the European Commission
as collected in the R package *asymmetry*. The table lies beside this tutorial.
"""

# %%
# The raw table
# -------------

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import finsler
from finsler.inputs.similarity import dissimilarities_from

folder = Path(__file__).parent if "__file__" in globals() else Path()
students = pd.read_csv(folder / "data" / "erasmus_2012.csv", index_col=0)
sent, received = students.sum(axis=1), students.sum(axis=0)
home, abroad = students.stack().idxmax()
print(
    f"{students.to_numpy().sum():,} students; the largest flow is {home} to {abroad}, {students.loc[home, abroad]:,}."
)
n = len(students)
print(f"No student went along {(students.to_numpy() == 0).sum() - n} of {n * (n - 1):,} ways.")
balance = (received / sent).sort_values()
print(
    "received for each one sent:",
    ", ".join(f"{c} {balance[c]:.2f}" for c in [*balance.index[:4], *balance.index[-4:]]),
)

# %%
# A mistake to make once
# ----------------------
# Many students mean *near*, and a map takes big numbers for *far*. The report sees that something is odd:

report = finsler.asymmetry_report(students)
print(next(line for line in str(report).splitlines() if "detour" in line))

# %%
# Two honest transforms
# ---------------------
# *transition* is minus the logarithm of the share of a country's students who choose a goal. Large countries attract
# large shares, and so are near to everybody. *gravity* divides the sizes of both countries out: 1 is what the sizes
# alone would give, less is closer. Zeros are left out: that nobody went does not say how far it is.

transforms = ("transition", "gravity")
tables = {name: dissimilarities_from(students, transform=name) for name in transforms}
for name, table in tables.items():
    report = finsler.asymmetry_report(table)
    print(f"{name:>10}: {report.verdict}")

# %%
# So the two will tell different stories. With *transition* nearly all asymmetry is a matter of heights. With
# *gravity* there is less of it, and most of what is left runs in circles.

maps = {name: finsler.embed_matrix(table, missing="mask") for name, table in tables.items()}
figure, axes = plt.subplots(2, 1, figsize=(8, 13), layout="constrained")
for ax, (name, found) in zip(axes, maps.items(), strict=True):
    found.plot(
        ax=ax,
        color=np.log2(balance[students.index]),
        color_label="received : sent, log2 (not used)",
        cmap="coolwarm",
        title=f"{name}: alpha = {found.alpha:.2f}, normalised stress {found.normalised_stress:.2f}",
    )

# %%
# What is height here?
# --------------------
# A country is high if it is dear to reach and cheap to leave: others rarely choose it, while its own students readily
# go to them. For *transition* that is mostly a matter of size. For *gravity*, where size has been divided out, it is
# a matter of balance.

for name, found in maps.items():
    size = spearmanr(found.height, received[students.index])[0]
    fair = spearmanr(found.height, balance[students.index])[0]
    order = students.index[np.argsort(-found.height)]
    print(f"{name:>10}: top {' '.join(order[:5])}; bottom {' '.join(order[-5:])}")
    print(
        f"{'':>12}rank correlation of height with students received {size:+.2f}, with received : sent {fair:+.2f}"
    )

# %%
# And how much does the drift explain? Beside each map one without:

for name, table in tables.items():
    flat = finsler.embed_matrix(table, missing="mask", alpha=0)
    found = maps[name]
    known = np.isfinite(table.to_numpy()) & np.isfinite(table.to_numpy().T) & ~np.eye(len(table), dtype=bool)
    skew_data, skew_map = (x - x.T for x in (table.to_numpy(), found.distances()))
    right = np.mean(np.sign(skew_data[known]) == np.sign(skew_map[known]))
    print(
        f"{name:>10}: normalised stress {found.normalised_stress:.3f}, without a drift {flat.normalised_stress:.3f}; "
        f"the map has the dearer direction right for {right:.0%} of the pairs"
    )

# %%
# Does it depend on the zeros?
# ----------------------------
# Zeros could also mean "few": add half a student everywhere. A finding should survive that.

for name in transforms:
    table = dissimilarities_from(students, transform=name, zeros="pseudocount")
    other = finsler.embed_matrix(table, alpha=maps[name].alpha)
    same = spearmanr(other.height, maps[name].height)[0]
    print(f"{name:>10}: rank correlation of the heights with those above {same:.2f}")

# %%
# The order by *transition* survives, the one by *gravity* does not: dividing by the sizes makes the pairs of small
# countries, where the half student weighs most, as loud as all others. So the first map is a finding; the second is
# one possible reading.
#
# What to take home
# -----------------
# * Decide what "near" means before you map: one table of counts gives one map per meaning, and a finding that changes
#   with the transform is a finding about the transform.
# * Heights of *transition* say who is a destination, which goes with size. With sizes divided out, the height goes
#   with the balance of the exchange, but that order hangs on what a zero means, so do not build on it.
# * **Limits.** The stress is high: thirty-three countries with their languages, borders and habits do not fit into a
#   plane, with or without a drift; distances on these maps are tendencies. Most of the asymmetry of *gravity* runs in
#   circles and is not on the map. And small countries with a dozen students jump about.
