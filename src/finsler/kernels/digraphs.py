"""Loops over maps of digraphs: their scores, and the objective over all pairs or a sample of them.

`finsler.graphs.scores`, `finsler.learn.digraph_stress` and `finsler.learn.digraph_sampled` call them. Rows are sources;
their out-neighbors, sampled farther nodes and sampled negatives are lists. Random numbers are the mixed bits of a counter,
so that they depend on the seed and the source and not on the thread.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS

NODES_AT_ONCE = 1024


@njit(**OPTIONS)
def _distances(X, height, source, out):
    """Distances from ``source`` to every point; ``height`` holds omega . x. Equal points get equal distances."""
    for v in range(X.shape[0]):
        square = 0.0
        for k in range(X.shape[1]):
            step = X[v, k] - X[source, k]
            square += step * step
        out[v] = np.sqrt(square) + (height[v] - height[source])


@njit(**OPTIONS)
def distortions(X, height, sources, D, squared, relative, counted):
    """Sums over the nodes that each source reaches of (d - D)^2 / D and |d - D| / D, and how many it reaches.

    ``D[i, v]`` is the distance from ``sources[i]`` to v; inf and NaN do not count, nor does the source itself.
    """
    d = np.empty(X.shape[0])
    for i in range(sources.size):
        source = sources[i]
        _distances(X, height, source, d)
        total = absolute = 0.0
        count = 0
        for v in range(d.size):
            there = D[i, v]
            if v != source and there < np.inf:  # false for NaN
                error = d[v] - there
                total += error * error / there
                absolute += abs(error) / there
                count += 1
        squared[i], relative[i], counted[i] = total, absolute, count


@njit(**OPTIONS)
def _precision(arriving):
    """Average precision of neighbors, sorted by distance, where ``arriving`` others come in at each of them."""
    total = 0.0
    before = 0  # others that are as near as this neighbor, or nearer
    for a in range(arriving.size):
        before += arriving[a]
        total += (a + 1) / (a + 1 + before)
    return total / arriving.size


@njit(**OPTIONS)
def average_precisions(X, height, indptr, indices, sources, D, among_all, among_reachable):
    """Average precision of the out-neighbors of each source by distance, ties pessimistic.

    They are ranked among all nodes, and among those that the source can reach: ``D[i, v]`` is finite. Nothing is sorted
    but the neighbors: every other node is counted at the first neighbor that is not nearer.
    """
    n = X.shape[0]
    d = np.empty(n)
    for i in range(sources.size):
        source = sources[i]
        _distances(X, height, source, d)
        neighbors = indices[indptr[source] : indptr[source + 1]]
        near = np.sort(d[neighbors])
        d[neighbors] = np.inf
        d[source] = np.inf
        farthest = near[near.size - 1]
        arriving = np.zeros((near.size, 2), np.int64)  # any nodes, and reachable ones
        for v in range(n):
            if d[v] <= farthest:
                low, high = 0, near.size - 1  # the first neighbor at d[v] or farther is within low..high
                while low < high:
                    middle = (low + high) // 2
                    if near[middle] < d[v]:
                        low = middle + 1
                    else:
                        high = middle
                arriving[low, 0] += 1
                if D[i, v] < np.inf:
                    arriving[low, 1] += 1
        among_all[i] = _precision(arriving[:, 0])
        among_reachable[i] = _precision(arriving[:, 1])


@njit(**OPTIONS)
def _mixed(counter):
    """64 bits that look random, of a counter (the finalizer of splitmix64)."""
    z = counter * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(**OPTIONS)
def _below(seed, source, draw, limit):
    """A random whole number from 0 to ``limit - 1``."""
    counter = (np.uint64(seed) << np.uint64(48)) ^ (np.uint64(source) << np.uint64(20)) ^ np.uint64(draw)
    return np.int64(_mixed(_mixed(counter + np.uint64(1))) >> np.uint64(33)) % limit


@njit(**OPTIONS)
def _search(indptr, indices, source, mark, seen, queue, depth):
    """Fill ``queue`` with what the source reaches, itself first, by ``depth``; count those up to one arc away, and all."""
    seen[source], queue[0], depth[0] = mark, source, 0
    head, tail, near = 0, 1, 1
    while head < tail:
        node, level = queue[head], depth[head]
        head += 1
        for e in range(indptr[node], indptr[node + 1]):
            other = indices[e]
            if seen[other] != mark:
                seen[other], queue[tail], depth[tail] = mark, other, level + 1
                tail += 1
        if level == 0:
            near = tail
    return near, tail


@njit(**OPTIONS)
def far_pairs(indptr, indices, sources, start, stop, share, least, seed):
    """Sample nodes that are two arcs or more away, for the sources ``start:stop``.

    A source with r such nodes gets ``share * r`` of them, and not fewer than ``min(r, least)``, one from each of equal
    parts of the order in which the search meets them, so that all distances are present. Returns how many each source
    got, the weight of each of its pairs, the nodes, and their distances.
    """
    n = len(indptr) - 1
    seen = np.full(n, -1, np.int32)
    queue, depth = np.empty(n, np.int32), np.empty(n, np.int32)
    counts, weights = np.zeros(stop - start, np.int64), np.zeros(stop - start)
    nodes, hops = np.empty(1024, np.int32), np.empty(1024, np.int32)
    used = 0
    for row in range(start, stop):
        source = sources[row]
        near, tail = _search(indptr, indices, source, row, seen, queue, depth)
        far = tail - near
        wanted = min(far, max(least, int(np.ceil(share * far))))
        if wanted == 0:
            continue
        counts[row - start], weights[row - start] = wanted, far / wanted
        if used + wanted > len(nodes):
            more = np.empty(max(len(nodes), wanted), np.int32)
            nodes, hops = np.concatenate((nodes, more)), np.concatenate((hops, more))
        for k in range(wanted):
            first = k * far // wanted
            width = (k + 1) * far // wanted - first
            at = near + first + _below(seed, source, k, width)
            nodes[used], hops[used] = queue[at], depth[at]
            used += 1
    return counts, weights, nodes[:used].copy(), hops[:used].copy()


@njit(**OPTIONS)
def visits(indptr, indices, sources, counts):
    """Add to ``counts`` how often each node is met by searches from the sources."""
    n = len(indptr) - 1
    seen = np.full(n, -1, np.int32)
    queue, depth = np.empty(n, np.int32), np.empty(n, np.int32)
    for row in range(len(sources)):
        _, tail = _search(indptr, indices, sources[row], row, seen, queue, depth)
        for k in range(1, tail):
            counts[queue[k]] += 1


@njit(**OPTIONS)
def _length(X, i, j):
    square = X.dtype.type(1e-24)
    for k in range(X.shape[1]):
        difference = X[j, k] - X[i, k]
        square += difference * difference
    return np.sqrt(square)


@njit(**OPTIONS)
def _distance(X, alpha, last, i, j):
    return _length(X, i, j) + alpha * (X[j, last] - X[i, last])


@njit(**OPTIONS)
def _pull(X, alpha, last, i, j, length, slope, own, gradient):
    """Add the gradient of ``slope * d(i, j)`` to ``own`` (of i) and to row j; returns that by alpha."""
    tension = X.dtype.type(slope / length)
    for k in range(X.shape[1]):
        part = tension * (X[j, k] - X[i, k])
        gradient[j, k] += part
        own[k] -= part
    gradient[j, last] += alpha * slope
    own[last] -= alpha * slope
    return slope * (X[j, last] - X[i, last])


@njit(**OPTIONS)
def stress_of_pairs(X, alpha, last, tails, heads, hops, weights, start, stop, gradient, parts):
    """Weighted sum of (d - D)^2 / D over the pairs ``start:stop``, the weight being that of the tail.

    Adds the gradient to ``gradient``, the sum to ``parts[0]`` and its derivative by alpha to ``parts[2]``.
    """
    total, turn = 0.0, 0.0
    for e in range(start, stop):
        i, j = tails[e], heads[e]
        length = _length(X, i, j)
        error = length + alpha * (X[j, last] - X[i, last]) - hops[e]
        slope = weights[i] * error / hops[e]
        total += slope * error
        turn += _pull(X, alpha, last, i, j, length, 2.0 * slope, gradient[i], gradient)
    parts[0] += total
    parts[2] += turn


@njit(**OPTIONS)
def stress_of_rows(X, alpha, sources, counts, shares, start, stop, gradient, parts):
    """Sum of ``shares[D] (d - D)^2`` over all pairs of the sources ``start:stop``, of which ``counts`` has the hop counts D.

    A column of X is a node, its last entry the height. Adds the gradient to ``gradient``, of the same shape, the sum to
    ``parts[0]`` and its derivative by alpha to ``parts[1]``. Nodes are taken `NODES_AT_ONCE` at a time for all sources,
    so that their coordinates stay near the processor; each loop over them runs along memory.
    """
    m, n = X.shape
    number = X.dtype.type
    drift = number(alpha)
    lengths, tensions = np.empty(NODES_AT_ONCE, X.dtype), np.empty(NODES_AT_ONCE, X.dtype)
    for first in range(0, n, NODES_AT_ONCE):
        size = min(NODES_AT_ONCE, n - first)
        heights, lifts = X[m - 1, first : first + size], gradient[m - 1, first : first + size]
        for row in range(start, stop):
            source = sources[row]
            lengths[:] = number(1e-24)
            for k in range(m):
                here, there = X[k, source], X[k, first : first + size]
                for v in range(size):
                    step = there[v] - here
                    lengths[v] += step * step
            hops, here = counts[row, first : first + size], X[m - 1, source]
            total, turn, push = number(0), number(0), number(0)
            for v in range(size):
                length, rise = np.sqrt(lengths[v]), heights[v] - here
                error = length + drift * rise - number(hops[v])
                slope = number(2) * shares[hops[v]] * error
                total += slope * error
                turn += slope * rise
                push += slope
                tensions[v] = slope / length
                lifts[v] += drift * slope
            parts[0] += total / 2
            parts[1] += turn
            for k in range(m):
                here, there, pulls = (
                    X[k, source],
                    X[k, first : first + size],
                    gradient[k, first : first + size],
                )
                own = number(0)
                for v in range(size):
                    pull = tensions[v] * (there[v] - here)
                    pulls[v] += pull
                    own += pull
                gradient[k, source] -= own
            gradient[m - 1, source] -= drift * push


@njit(**OPTIONS)
def ranking_of_rows(
    X, alpha, last, indptr, indices, sources, near, others, other_weight, arc_weight, ranking_weight,
    temperature, start, stop, gradient, parts,
):  # fmt: skip
    """The terms of arcs, for the sources ``start:stop``: their stress, each ``arc_weight``, and the cross-entropy.

    Adds to ``gradient``, and to ``parts``: stress, cross-entropy, derivative by alpha. Of the negatives of a source those
    in ``near`` count once and those in ``others`` ``other_weight`` times; -1 is no node.
    """
    n_near, n_others = near.shape[1], others.shape[1]
    own = np.empty_like(X[0])
    negatives = np.empty(n_near + n_others, np.int64)
    lengths, terms = np.empty(n_near + n_others), np.empty(n_near + n_others)
    scale = ranking_weight / temperature
    log_weight = np.log(other_weight)
    for row in range(start, stop):
        source = sources[row]
        own[:] = 0
        used, least = 0, np.inf
        for k in range(n_near + n_others):
            node = near[row, k] if k < n_near else others[row, k - n_near]
            if node < 0:
                continue
            length = _length(X, source, node)
            value = (length + alpha * (X[node, last] - X[source, last])) / temperature
            if k >= n_near:
                value -= log_weight
            negatives[used], lengths[used], terms[used] = node, length, value
            least = min(least, value)
            used += 1
        total = 0.0
        for k in range(used):
            terms[k] = np.exp(max(least - terms[k], -40.0))
            total += terms[k]
        log_total = np.log(total) - least if used else -np.inf
        pressure = 0.0
        share = 1.0 / ((indptr[source + 1] - indptr[source]) * len(sources))
        for e in range(indptr[source], indptr[source + 1]):
            node = indices[e]
            length = _length(X, source, node)
            distance = length + alpha * (X[node, last] - X[source, last])
            error = distance - 1.0
            parts[0] += arc_weight * error * error
            slope = 2.0 * arc_weight * error
            if used:
                score = distance / temperature + log_total
                parts[1] += share * (max(score, 0.0) + np.log1p(np.exp(-abs(score))))
                attraction = scale * share / (1.0 + np.exp(-score))
                slope += attraction
                pressure += attraction
            parts[2] += _pull(X, alpha, last, source, node, length, slope, own, gradient)
        for k in range(used):
            slope = pressure * terms[k] / total
            if slope > 1e-7 * scale / len(sources):  # less is lost beside the rest
                parts[2] += _pull(X, alpha, last, source, negatives[k], lengths[k], -slope, own, gradient)
        gradient[source] += own


@njit(**OPTIONS)
def _offer(node, length, nodes, lengths):
    """Put a node into the heap of the nearest (the farthest of them is at the root) if it is one of them."""
    if not length < lengths[0]:
        return
    size, at = len(lengths), 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and lengths[child + 1] > lengths[child]:
            child += 1
        if not lengths[child] > length:
            break
        lengths[at], nodes[at] = lengths[child], nodes[child]
        at = child
    lengths[at], nodes[at] = length, node


@njit(**OPTIONS)
def assign(X, centers, start, stop, cells):
    """The nearest center of each of the points ``start:stop``, drift or not."""
    for i in range(start, stop):
        best = np.inf
        for c in range(len(centers)):
            square = X.dtype.type(0)
            for k in range(X.shape[1]):
                difference = X[i, k] - centers[c, k]
                square += difference * difference
            if square < best:
                best = square
                cells[i] = c


@njit(**OPTIONS)
def nearest_strangers(
    X,
    alpha,
    last,
    indptr,
    indices,
    centers,
    reach,
    members,
    cell_start,
    places,
    budget,
    rows,
    start,
    stop,
    out,
):
    """For each source the nodes that are nearest on the map though it has no arc to them.

    The rows of X are sorted by cells: cell c holds ``cell_start[c]:cell_start[c + 1]``, row p is node ``members[p]``, and
    the source ``places[k]`` (a row of X) fills row ``rows[k]`` of ``out``, with -1 where there are too few. Cells are
    scanned in the order of the distance to their centers less their ``reach`` until ``budget`` points were looked at.
    """
    n_cells, size = len(centers), out.shape[1]
    seen = np.full(len(members), -1, np.int32)
    nodes, lengths, keys = np.empty(size, np.int64), np.empty(size), np.empty(n_cells)
    for k in range(start, stop):
        place = places[k]
        u = members[place]
        seen[u] = u
        for e in range(indptr[u], indptr[u + 1]):
            seen[indices[e]] = u
        nodes[:] = -1
        lengths[:] = np.inf
        for c in range(n_cells):
            square = X.dtype.type(0)
            for axis in range(X.shape[1]):
                difference = centers[c, axis] - X[place, axis]
                square += difference * difference
            keys[c] = np.sqrt(square) + alpha * (centers[c, last] - X[place, last]) - reach[c]
        looked = 0
        for c in np.argsort(keys):
            for other in range(cell_start[c], cell_start[c + 1]):
                length = _distance(X, alpha, last, place, other)
                if length < lengths[0] and seen[members[other]] != u:
                    _offer(members[other], length, nodes, lengths)
            looked += cell_start[c + 1] - cell_start[c]
            if looked >= budget:
                break
        out[rows[k]] = nodes


@njit(**OPTIONS)
def random_strangers(indptr, indices, sources, near, seed, start, stop, out):
    """Random nodes that are neither the source, nor its out-neighbors, nor in its row of ``near``; -1 where it is one."""
    n = len(indptr) - 1
    seen = np.full(n, -1, np.int32)
    for row in range(start, stop):
        u = sources[row]
        seen[u] = u
        for e in range(indptr[u], indptr[u + 1]):
            seen[indices[e]] = u
        for k in range(near.shape[1]):
            if near[row, k] >= 0:
                seen[near[row, k]] = u
        for k in range(out.shape[1]):
            node = _below(seed, u, k, n)
            out[row, k] = -1 if seen[node] == u else node
