"""
A river (figure 8 of the paper)
===============================

A current towards the right, faster in the middle, becomes a slope: upstream is up. Symmetric maps miss a tenth of
the travel times, this one less than a fiftieth.
"""

import matplotlib

matplotlib.use("agg")

from figures import reproduce

picture, numbers = reproduce("fig8", "output")
print(f"Written: {picture}, {numbers}")
