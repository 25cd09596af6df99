"""
Swiss rolls of several asymmetries in one space (figure 6 of the paper)
=======================================================================

The more asymmetric the data, the steeper the sheet: the sine of its angle is the data's alpha over the space's.
Symmetric data lie level.
"""

import matplotlib

matplotlib.use("agg")

from figures import reproduce

picture, numbers = reproduce("fig6", "output")
print(f"Written: {picture}, {numbers}")
