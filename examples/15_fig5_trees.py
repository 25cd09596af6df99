"""
Directed binary trees (figure 5 of the paper)
=============================================

Down costs 0.5, up 1.5, and nodes of a level are 0.1 apart. Only the Finsler map puts the root on top, every level
wholly below its parents, with a twentieth of the stress of the symmetric layouts.
"""

import matplotlib

matplotlib.use("agg")

from figures import reproduce

picture, numbers = reproduce("fig5", "output")
print(f"Written: {picture}, {numbers}")
