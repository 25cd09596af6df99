"""Products of single rows of sparse matrices; `finsler.learn.neighbors` calls it."""

from __future__ import annotations

from numba import njit

from finsler.kernels import OPTIONS


@njit(**OPTIONS)
def row_products(left_starts, left_at, left, right_starts, right_at, right, first, second, found):
    """Product of row ``first[p]`` of one matrix and row ``second[p]`` of another, into ``found[p]``; columns increase.

    Each column of the shorter row is looked up in what is left of the longer one: a hub costs a logarithm, and no memory.
    """
    for p in range(first.size):
        i, end_i = left_starts[first[p]], left_starts[first[p] + 1]
        j, end_j = right_starts[second[p]], right_starts[second[p] + 1]
        total = 0.0
        if end_i - i <= end_j - j:
            while i < end_i and j < end_j:
                j = _not_below(right_at, j, end_j, left_at[i])
                if j < end_j and right_at[j] == left_at[i]:
                    total += left[i] * right[j]
                i += 1
        else:
            while i < end_i and j < end_j:
                i = _not_below(left_at, i, end_i, right_at[j])
                if i < end_i and left_at[i] == right_at[j]:
                    total += left[i] * right[j]
                j += 1
        found[p] = total


@njit(**OPTIONS)
def _not_below(columns, start, end, wanted):
    """Position of the first column from ``start`` on that is not below the one that is wanted."""
    while start < end:
        middle = (start + end) // 2
        if columns[middle] < wanted:
            start = middle + 1
        else:
            end = middle
    return start
