"""
Swiss roll with a hole (figure 3 of the paper)
==============================================

Paths have to go round the hole, so uniform weights bulge it into a ring. Wormhole weights drop the pairs that may
have been lengthened, and the true sheet returns, with a drift as well as without.
"""

import matplotlib

matplotlib.use("agg")

from figures import reproduce

picture, numbers = reproduce("fig3", "output")
print(f"Written: {picture}, {numbers}")
