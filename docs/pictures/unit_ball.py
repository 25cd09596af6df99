"""The unit ball: how far one unit of effort leads in each direction."""

import matplotlib.pyplot as plt

from finsler.plotting import unit_ball

fig, axes = plt.subplots(1, 3, figsize=(9.5, 4.4), sharex=True, sharey=True)
for ax, alpha in zip(axes, (0.0, 0.3, 0.6), strict=True):
    ball = unit_ball(alpha)
    up, down = 1 / (1 + alpha), 1 / (1 - alpha)
    ax.fill(*ball.T, color="#dddddd", zorder=1)
    ax.plot(*ball.T, color="#555555", lw=1)
    for end, color in ((up, "#b2182b"), (-down, "#2166ac")):
        ax.annotate(
            "",
            (0, end),
            (0, 0),
            arrowprops={"arrowstyle": "-|>", "color": color, "lw": 2, "shrinkA": 0, "shrinkB": 0},
        )
        ax.text(0.12, 0.55 * end, f"{abs(end):.2f}", color=color, va="center")
    ax.plot(0, 0, "ko", ms=4)
    ax.set_aspect("equal")
    ax.set_title(f"alpha = {alpha:g}\nup costs {(1 + alpha) / (1 - alpha):.2f} times down")
axes[0].set_ylabel("height")
