"""One pass over a tile of pairs: its asymmetry, and the Laplacian of the pairs known both ways.

A tile holds `there[i, j]`, the value from row point i to column point j, and `back[i, j]`, from j to i.
Its weights are 0 wherever a value is unknown.
"""

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS

# Keeps 0 / 0 out of `pair_weight`, without a branch; weights are scaled to about 1 before they come here.
TINY = 1e-300


@njit(**OPTIONS)
def pair_weight(there, back):
    """Weight of a pair's skew part: the harmonic mean of its two weights, 0 unless it is known both ways."""
    return 2.0 * there * (back / max(there + back, TINY))


@njit(**OPTIONS)
def survey(d_there, d_back, w_there, w_back, flow, degree):
    """Count and sum the pairs of a tile; add to `flow` what runs into each row point, to `degree` its weight.

    Returns (known, unreachable, one_way, both, positive, skew, total, least, most, ratio, gap, row, column):
    five counts of ordered pairs; over the pairs known both ways the sums c A^2 and w D^2, the least and the
    largest c, the largest ratio of the two directions; and the largest D_ij - D_ji with its place.
    """
    known = unreachable = one_way = both = positive = 0
    skew = total = gap = most = 0.0
    least, ratio = np.inf, 1.0
    row = column = 0
    for i in range(d_there.shape[0]):
        for j in range(d_there.shape[1]):
            a, b = d_there[i, j], d_back[i, j]
            p, q = w_there[i, j], w_back[i, j]
            if np.isinf(a) or a < 0.0:  # a bound: "at least"
                unreachable += 1
            if p > 0.0:
                known += 1
                if q > 0.0:
                    c = pair_weight(p, q)
                    both += 1
                    difference = a - b
                    flow[i] -= 0.5 * c * difference
                    degree[i] += c
                    skew += 0.25 * c * difference * difference
                    total += p * a * a
                    least, most = min(least, c), max(most, c)
                    if a > 0.0 and b > 0.0:
                        positive += 1
                        ratio = max(ratio, a / b)
                    if difference > gap:
                        gap, row, column = difference, i, j
                else:
                    one_way += 1
    return known, unreachable, one_way, both, positive, skew, total, least, most, ratio, gap, row, column


@njit(**OPTIONS)
def laplacian(w_there, w_back, x_rows, x_columns, out_rows, out_columns):
    """Add the tile's part of L(c) x, sum over j of c_ij (x_i - x_j), to the rows and to the columns."""
    for i in range(w_there.shape[0]):
        total = 0.0
        for j in range(w_there.shape[1]):
            part = pair_weight(w_there[i, j], w_back[i, j]) * (x_rows[i] - x_columns[j])
            total += part
            out_columns[j] -= part
        out_rows[i] += total
