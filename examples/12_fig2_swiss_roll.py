"""
Swiss roll with a drift along its length (figure 2 of the paper)
================================================================

The roll comes out as a flat sheet (thickness over width below 0.01) that is tilted: its red end is dear to
reach from the blue one and cheap the other way. Isomap, which is blind to direction, misses a quarter of D.
"""

import matplotlib

matplotlib.use("agg")

from figures import reproduce

picture, numbers = reproduce("fig2", "output")
print(f"Written: {picture}, {numbers}")
