"""Alpha: how well maps with a given drift can fit, and the one that is fitted."""

import matplotlib.pyplot as plt
import numpy as np

import finsler

rng = np.random.default_rng(0)
truth = 0.4
X = rng.uniform(-1, 1, size=(60, 2))
exact = finsler.randers_distances(X, drift=truth)
D = exact * rng.normal(1, 0.05, size=exact.shape).clip(0.5, 1.5)
np.fill_diagonal(D, 0)

alphas = np.arange(0, 0.95, 0.05)
stress = [finsler.embed_matrix(D, alpha=float(a)).normalized_stress for a in alphas]
auto = finsler.embed_matrix(D)

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.9), width_ratios=[1.25, 1])
left.plot(alphas, stress, ".-", color="#555555")
left.plot(auto.alpha, auto.normalized_stress, "*", ms=15, color="#b2182b", label=f'"auto": {auto.alpha:.3f}')
left.axvline(truth, color="#2166ac", lw=1, ls="--", label=f"the truth: {truth}")
left.set(
    xlabel="alpha of the map", ylabel="normalized stress", ylim=(0, None), title="60 points, noise of 5 %"
)
left.legend()
grid = np.linspace(0, 0.9, 200)
right.plot(grid, (1 + grid) / (1 - grid), color="#555555")
right.set(xlabel="alpha", ylabel="straight up : straight down", yscale="log", title="what alpha means")
right.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
right.minorticks_off()
right.grid(alpha=0.4)
