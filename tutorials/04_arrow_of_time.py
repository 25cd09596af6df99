"""
4. The arrow of time
====================

Papers cite older papers. Take away all dates and keep only who cites whom: can time be read off the links?

**Data**: papers on arXiv and their citations (ogbn-arxiv, ODC-BY 1.0), downloaded once and checked by SHA-256. The
years of posting come along and are used for nothing but the comparison.
"""

# %%
# The links
# ---------

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import diags_array
from scipy.sparse.linalg import cg
from scipy.stats import spearmanr

import finsler
from finsler.datasets import fetch_graph

papers = fetch_graph("arxiv-year")
cites = papers.graph  # 1 from the citing to the cited paper
citing, cited = cites.nonzero()
print(
    f"{papers.n_nodes:,} papers, {papers.n_arcs:,} citations, {papers.reciprocal_pairs:,} pairs that cite each other"
)
older = papers.year[citing] - papers.year[cited]
print(
    f"The cited paper is of an earlier year in {np.mean(older > 0):.0%} of the citations, of the same in "
    f"{np.mean(older == 0):.0%}, of a later in {np.mean(older < 0):.0%}."
)

# %%
# A single citation is a fairly good witness. But most papers do not cite each other, and to put all of them in order
# many witnesses have to be combined.
#
# Heights from links
# ------------------
# Ask for heights that fall by 1 along each citation, as well as that is possible: least squares over all arcs. It is
# the same split into a slope and circles that :func:`~finsler.asymmetry_report` makes of a table (HodgeRank); for a
# sparse graph it is one Laplacian system.

linked = cites + cites.T
linked.data[:] = 1.0
degree = linked.sum(axis=1)
falls = (cites - cites.T).sum(axis=1)  # citations made minus citations received
height, failed = cg(diags_array(degree) - linked, falls, rtol=1e-8, M=diags_array(1 / degree), maxiter=5000)
assert not failed
made, received = cites.sum(axis=1), cites.sum(axis=0)
one_way = (cites - cites.T)[citing, cited] != 0
drop = (height[citing] - height[cited])[one_way]
print(
    f"share of the links that follows heights: {1 - np.mean((drop - 1) ** 2):.0%}; "
    f"{np.mean(drop > 0):.0%} of the citations go down"
)

# %%
# Does height go with time? Beside it, two things that one could count without any heights.

guesses = {
    "height": height,
    "made minus received": made - received,
    "citations received, fewest first": -received,
}
rng = np.random.default_rng(0)
a, b = rng.integers(papers.n_nodes, size=(2, 400_000))
differ = papers.year[a] != papers.year[b]
a, b = a[differ], b[differ]
for name, guess in guesses.items():
    later = np.sign(guess[a] - guess[b])
    right = np.mean(np.where(later == 0, 0.5, later == np.sign(papers.year[a] - papers.year[b])))
    rank = spearmanr(guess, papers.year)[0]
    print(
        f"{name:>34}: rank correlation with the year {rank:.2f}; which of two papers is the later one: right in {right:.0%}"
    )

# %%

years = np.arange(2000, papers.year.max() + 1)
levels = np.array([np.quantile(height[papers.year == year], [0.1, 0.25, 0.5, 0.75, 0.9]) for year in years])
figure, ax = plt.subplots(figsize=(8.5, 4.8), layout="constrained")
ax.fill_between(years, levels[:, 0], levels[:, 4], color="#c6dbef", label="the middle 80 % of the papers")
ax.fill_between(years, levels[:, 1], levels[:, 3], color="#6baed6", label="the middle 50 %")
ax.plot(years, levels[:, 2], "k", label="median")
ax.set(
    xlabel="year of posting (not used)",
    ylabel="height (falls by 1 along a citation)",
    title="Time, from links alone",
)
ax.set_xticks(years[::4])
ax.legend(loc="upper left")

# %%
# A map of some papers
# --------------------
# Heights are one axis; a map has others, across which papers with common threads are near each other. A digraph of
# citations has hardly any way back in time, so distances by citations alone are mostly infinite. We let paths go up
# as well, at a price: reading what a paper cites costs 0.5, finding who cites it costs 3 (the paper does the same
# with its trees). Papers are drawn at random; the paths between them run through the whole graph.

up_only = cites.T - cites.T.multiply(cites)
ways = 0.5 * cites + 3.0 * up_only
some = np.sort(rng.choice(papers.n_nodes, 250, replace=False))
found = finsler.embed_graph(ways, nodes=some.tolist(), n_components=3)
print(finsler.asymmetry_report(found.data).verdict)
print(found.summary())
print(
    f"rank correlation of the map's height with the year {spearmanr(found.height, papers.year[some])[0]:.2f}",
    end=", ",
)
print(f"with the height above {spearmanr(found.height, height[some])[0]:.2f}")

# %%

figure = plt.figure(figsize=(9, 7))
ax = figure.add_subplot(projection="3d")
found.plot(
    ax=ax,
    color=np.clip(papers.year[some], 2008, None),
    color_label="year (2008: or earlier; not used)",
    labels=False,
)

# %%
# What to remember
# ----------------
# * The direction of links carries time, and least squares over all links reads it better than counting citations
#   does.
# * The map of shortest paths is the poorer clock: a shortest way often leads by a few famous papers, and says more
#   about these than about its ends. For order alone, use heights; for who is near whom *and* which way, a map.
# * **Limits.** Height is a level in a chain of citations, not a date: a paper that cites little and is not cited yet
#   floats, and fields with long chains climb faster. The last years, which hold most of the papers, have not been
#   cited by the future yet: only their own references place them. The normalized stress of the map is high: a
#   literature is not three-dimensional.
