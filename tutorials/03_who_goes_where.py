"""
3. Who goes where
=================

In 2012-13 a quarter of a million students spent some months in another country under the Erasmus program. Where did
they go, and was it a fair exchange? Flows are not distances: turning them into distances is half of the work, and
half of the result.

**Data**: students from each of 16 countries (rows) to each other one (columns), the sixteen with the most students sent
and received; statistics of the European Commission.
"""

# %%
# The raw table
# -------------

from io import StringIO

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import finsler
from finsler.data.similarities import dissimilarities_from

STUDENTS = """
from   AT   BE   CZ   DE   DK   ES   FI   FR   IE   IT   NL   PL   PT   SE   TR   UK
AT      0  127   99  935  204  770  303  528  174  338  258   64  136  433  140  497
BE    184    0  125  592  236 1527  313 1155  190  505  497  116  312  308  175  656
CZ    382  314    0 1145  190  702  420  720  101  278  285  167  342  273  230  582
DE    885  622  508    0  936 6373 1341 5450 1181 1842 1083  874  669 2735 1649 4428
DK     95   75   42  567    0  414   28  363   78  104  252   47   85   85  119  650
ES    630 1892  915 4938  849    0  961 4534  967 7425 1542 2688 2636 1098  346 4178
FI    300  184  181  948  106  726    0  493  163  163  446   53  135  219   48  643
FR    461 1289  795 4218  921 6654 1187    0 1949 1909 1272  895  450 1907  594 6826
IE     65  108   49  329   53  493   63  589    0   65  173   25   19  116    3  454
IT    409 1187  290 2715  409 8040  481 3649  414    0  867  630 1277  672  453 2296
NL    242  673  107 1180  371 1599  324  817  238  394    0   95  196  678  479 1621
PL    350  461  584 2374  411 2811  275 1191  125 1427  452    0 1284  324  623  807
PT     99  254  395  361  113 1687  135  351   29  817  282  946    0  123  151  338
SE    131  116   75  487  101  391   20  570   97  179  382   37   76    0   84  630
TR    303  368  615 2472  232 1059  143  657   66 1207  558 2705  585  401    0  617
UK    284  283  186 2112  244 3435  228 4458  194 1001  637   82  142  358   95    0
"""
students = pd.read_csv(StringIO(STUDENTS), sep=r"\s+", index_col=0)
sent, received = students.sum(axis=1), students.sum(axis=0)
origin, abroad = students.stack().idxmax()
print(
    f"{students.to_numpy().sum():,} students; the largest flow is {origin} to {abroad}, {students.loc[origin, abroad]:,}."
)
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
print(next(f"{row.name}: {row.text}" for row in report.rows() if "detour" in row.name))

# %%
# Two honest transforms
# ---------------------
# *transition* is minus the logarithm of the share of a country's students who choose a goal. Large countries attract
# large shares, and so are near to everybody. *gravity* divides the sizes of both countries out: 1 is what the sizes
# alone would give, less is closer.

transforms = ("transition", "gravity")
tables = {name: dissimilarities_from(students, transform=name) for name in transforms}
for name, table in tables.items():
    report = finsler.asymmetry_report(table)
    print(f"{name:>10}: {report.verdict}")

# %%
# So the two will tell different stories. With *transition* nearly all asymmetry is a matter of heights. With
# *gravity* there is less of it, and most of what is left runs in circles.

maps = {name: finsler.embed_matrix(table) for name, table in tables.items()}
figure, axes = plt.subplots(2, 1, figsize=(8, 13), layout="constrained")
for ax, (name, found) in zip(axes, maps.items(), strict=True):
    found.plot(
        ax=ax,
        color=np.log2(balance[students.index]),
        color_label="received : sent, log2 (not used)",
        cmap="coolwarm",
        title=f"{name}: alpha = {found.alpha:.2f}, normalized stress {found.normalized_stress:.2f}",
    )

# %%
# What is height here?
# --------------------
# A country is high if it is costly to reach and cheap to leave: others rarely choose it, while its own students readily
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
    flat = finsler.embed_matrix(table, alpha=0)
    found = maps[name]
    known = np.isfinite(table.to_numpy()) & np.isfinite(table.to_numpy().T) & ~np.eye(len(table), dtype=bool)
    skew_data, skew_map = (x - x.T for x in (table.to_numpy(), found.distances()))
    right = np.mean(np.sign(skew_data[known]) == np.sign(skew_map[known]))
    print(
        f"{name:>10}: normalized stress {found.normalized_stress:.3f}, without a drift {flat.normalized_stress:.3f}; "
        f"the map has the costlier direction right for {right:.0%} of the pairs"
    )

# %%
# What to remember
# ----------------
# * Decide what "near" means before you map: one table of counts gives one map per meaning, and a finding that changes
#   with the transform is a finding about the transform.
# * Heights of *transition* say who is a destination, which goes with size. With sizes divided out, the height goes
#   with the balance of the exchange.
# * **Limits.** The stress is high: sixteen countries with their languages, borders and habits do not fit into a plane,
#   and a drift helps little; distances on these maps are tendencies. Most of the asymmetry of *gravity* runs in circles
#   and is not on the map. Tables with zeros need one more decision, see ``zeros=`` of
#   :func:`finsler.data.similarities.dissimilarities_from`: that nobody went does not say how far it is.
