"""Weights: some of the times are known badly, and the weights say which."""

import matplotlib.pyplot as plt
import numpy as np

import finsler

rng = np.random.default_rng(3)
n = 40
truth = rng.uniform(-1, 1, size=(n, 2))
spread = np.where(rng.uniform(size=(n, n)) < 0.3, 0.5, 0.02)  # three in ten are guesses, the others measured
D = np.abs(finsler.randers_distances(truth, drift=0.35) * rng.normal(1, spread))
np.fill_diagonal(D, 0)


def turned(X):
    """The map, turned onto the truth: mirrored at most, since up is up."""
    X, Y = X - X.mean(axis=0), truth - truth.mean(axis=0)
    return X * (np.sign(np.vdot(X[:, 0], Y[:, 0])), 1)


fig, axes = plt.subplots(1, 2, figsize=(9.4, 4.9), sharex=True, sharey=True)
for ax, weights, name in (
    (axes[0], None, "uniform weights"),
    (axes[1], spread**-2.0, "weights 1 / variance"),
):
    X = turned(finsler.embed_matrix(D, weights=weights).coordinates)
    Y = truth - truth.mean(axis=0)
    ax.plot(*np.stack([X, Y]).transpose(2, 0, 1), color="#b2182b", lw=1, zorder=1)
    ax.scatter(*Y.T, s=26, facecolor="w", edgecolor="k", zorder=2, label="truth")
    ax.scatter(*X.T, s=16, color="#b2182b", zorder=3, label="map")
    off = np.sqrt(np.mean(np.sum((X - Y) ** 2, axis=1)))
    ax.set(aspect="equal", title=f"{name}: points are off by {off:.3f}")
axes[0].set_ylabel("height")
axes[0].legend(loc="lower left")
