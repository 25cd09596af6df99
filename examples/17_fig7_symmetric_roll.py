"""
The symmetric roll in three dimensions (figure 7 of the paper)
==============================================================

With a dimension to spare Isomap bends the sheet to fit noise. The Finsler map stays flat and level: height has a
price, and symmetric data have no use for it.
"""

import matplotlib

matplotlib.use("agg")

from figures import reproduce

picture, numbers = reproduce("fig7", "output")
print(f"Written: {picture}, {numbers}")
