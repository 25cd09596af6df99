"""
9. Which way do cells go?
=========================

Cells of a tissue are caught in one moment: stem cells, progenitors, and those that have become something. RNA velocity
tells of each cell where it is about to go. Pictures by UMAP show which cells are alike; which way they go has to be drawn
on top, as arrows. On a map where going up costs more, cells flow down: are stem cells on top, and the fates valleys?

**Data**: simulated cells, so that the truth is known (:func:`~finsler.datasets.make_differentiation`): 200 genes that follow
the usual model of RNA velocity, seen with errors of 20 %. Real data are not part of this page; at the end stand the lines
that map them.
"""

# %%
# Cells and their velocities
# --------------------------
# Everybody keeps them in an AnnData object, here with the names that scVelo uses: positions along principal components, and
# velocities along the same axes.

import matplotlib.pyplot as plt
import numpy as np
import umap
from anndata import AnnData
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr

import finsler
from finsler.cells import (
    cross_boundary_correctness,
    in_cluster_coherence,
    transition_probabilities,
    velocities_on_map,
)
from finsler.datasets import make_differentiation
from finsler.graphs import neighborhood_graph

cells = make_differentiation(800, noise=0.2, random_state=0)
adata = AnnData(obsm={"X_pca": cells.points, "velocity_pca": cells.current})
adata.obs["clusters"] = cells.clusters
adata.obs["time"] = cells.time
print(adata)

# %%
# The map
# -------
# ``embed`` writes it into the object, where scanpy's and scVelo's pictures find it:
# ``sc.pl.embedding(adata, basis="finsler", color="clusters")``. What was done stands beside it.

finsler.cells.embed(adata)
print(adata.uns["finsler"]["summary"])

# %%
# The same as a map of ours, to draw and to measure:

chart = finsler.cells.find_map(adata)
ax = chart.plot(color="clusters", arcs=False)

# %%
# Is it true?
# -----------
# The simulation knows how long ago each cell set out. The map was not told.

rank = spearmanr(chart.height, cells.time)[0]
print(f"rank correlation of height and time: {rank:.3f}")
for name in dict.fromkeys(name for pair in cells.transitions for name in pair):
    own = chart.height[cells.clusters == name]
    print(f"{name:<11} heights {own.min():+.2f} to {own.max():+.2f}, median {np.median(own):+.2f}")
first, last = np.argmin(cells.time), np.argmax(cells.time)
print(
    f"from the first cell to the last {chart.distance(first, last):.2f}, back {chart.distance(last, first):.2f}; in the "
    f"data {chart.data.matrix[first, last]:.2f} and {chart.data.matrix[last, first]:.2f}"
)

# %%
# Beside UMAP
# -----------
# Two scores are usual for arrows on pictures of cells. *Cross-boundary direction correctness*: do the arrows of cells at the
# boundary of a cluster point into the cluster that it is known to turn into? *In-cluster coherence*: do the arrows of
# neighbors agree? Arrows are made as scVelo does, from the same probabilities and neighbors for each picture.

flat = umap.UMAP(random_state=0, n_jobs=1).fit_transform(cells.points)
near = neighborhood_graph(cells.points, n_neighbors=30)
chances = transition_probabilities(cells.points, cells.current, n_neighbors=30)
pictures = {"UMAP": flat, "two principal components": cells.points[:, :2], "Finsler map": chart.coordinates}
known = (cells.clusters, cells.transitions, near)
print(f"{'':<26}direction correctness  coherence")
for name, places in pictures.items():
    arrows = velocities_on_map(places, chances)
    right, agree = (
        cross_boundary_correctness(places, arrows, *known),
        in_cluster_coherence(arrows, known[0], near),
    )
    print(f"{name:<26}{right.mean:21.3f}  {agree.mean:9.3f}")
right = cross_boundary_correctness(cells.points, cells.current, *known)
agree = in_cluster_coherence(cells.current, known[0], near)
print(f"{'all 20 components':<26}{right.mean:21.3f}  {agree.mean:9.3f}")

# %%
# UMAP has the better directions at boundaries: it draws paths as thin lines, so that neighbors lie ahead or behind. The
# Finsler map keeps distances, those across a path too, errors included, and neighbors lie on all sides; among the genes the
# score is lower still. Its arrows agree better within clusters.
#
# On the Finsler map no arrows are needed, for down is where cells go. The same score of the direction "straight down":

down = np.tile([0.0, -1.0], (len(cells.time), 1))
print(f"straight down: {cross_boundary_correctness(chart.coordinates, down, *known).mean:.3f}")

# %%
# A picture by UMAP has no such direction. The best one, found with the help of the true times:

angles = np.linspace(0, 2 * np.pi, 360, endpoint=False)
best = max(angles, key=lambda a: -spearmanr(flat @ [np.cos(a), np.sin(a)], cells.time)[0])
axis = np.array([np.cos(best), np.sin(best)])
print(f"rank correlation with time along the best axis of UMAP: {spearmanr(flat @ axis, cells.time)[0]:.3f}")
score = cross_boundary_correctness(flat, np.tile(-axis, (len(flat), 1)), *known)
print(f"direction correctness of that axis: {score.mean:.3f}")

# %%
# And what thin lines cost: pieces are torn off what they grow from. The widest gap that a walk through all cells has to
# jump (the longest edge of the minimum spanning tree), as a share of the width of the picture:

for name, places in {**pictures, "all 20 components": cells.points}.items():
    gap = minimum_spanning_tree(squareform(pdist(places))).max() / np.ptp(places, axis=0).max()
    print(f"{name:<26}{100 * gap:5.1f} %")

# %%
figure, axes = plt.subplots(1, 2, figsize=(11, 5))
for ax, (name, places) in zip(axes, [("UMAP", flat), ("Finsler map", chart.coordinates)], strict=True):
    drawn = ax.scatter(*places.T, c=cells.time, s=8)
    arrows = velocities_on_map(places, chances)
    some = np.random.default_rng(0).choice(len(places), 150, replace=False)
    ax.quiver(*places[some].T, *arrows[some].T, angles="xy", width=0.003, color="0.2")
    ax.set(title=name, aspect="equal", xticks=[], yticks=[])
figure.colorbar(drawn, ax=axes, label="time (not used)")

# %%
# What else says which way cells go
# ---------------------------------
# CellRank keeps transition probabilities in ``obsp["T_fwd"]``. From the ones above:

adata.obsp["T_fwd"] = csr_matrix(chances)
other = finsler.cells.find_map(adata, source="T_fwd")
print(
    f"rank correlation of height and time: {spearmanr(other.height, cells.time)[0]:.3f}, alpha {other.alpha:.2f}"
)

# %%
# A control
# ---------
# Velocities that were dealt out at random say nothing, and the map must not make a landscape of them.

dealt = np.random.default_rng(0).permutation(len(cells.time))
adata.obsm["velocity_pca"] = cells.current[dealt]
blind = finsler.cells.find_map(adata, source="velocity_pca")
print(f"alpha {blind.alpha:.3f} instead of {chart.alpha:.3f}")
print(
    f"{blind.distance(first, last):.2f} from the first cell to the last, back {blind.distance(last, first):.2f}"
)
print(finsler.asymmetry_report(blind.data).verdict)

# %%
# What to remember
# ----------------
# * ``finsler.cells.embed(adata)`` takes the velocities, transition probabilities or velocity graph that are there, says
#   which, and writes a map on which cells flow down.
# * With real data, after scVelo: ``scv.tl.velocity_graph(adata)``, ``finsler.cells.embed(adata)``,
#   ``scv.pl.velocity_embedding_stream(adata, basis="finsler")``. From a file: ``finsler embed cells.h5ad --color clusters``.
# * **Limits.** The map is as good as the velocities, which are known to point the wrong way in some tissues; arrows and
#   heights are then wrong together. A cell cycle runs in circles, which no height shows: look at the report. Simulated
#   cells are kinder than real ones.
