"""
A sea with currents, unflattened (figure 4 of the paper)
========================================================

Travel times in the current become a landscape. Its peaks (black) sit where the current springs up, its pits (grey)
where it gathers: the divergence at them is in fig4.json.
"""

import matplotlib

matplotlib.use("agg")

from figures import reproduce

picture, numbers = reproduce("fig4", "output")
print(f"Written: {picture}, {numbers}")
