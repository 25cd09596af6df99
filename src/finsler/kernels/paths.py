"""Directed shortest paths: one row of distances for each source of a block.

A digraph is a CSR triple: the arcs that leave ``u`` go to ``indices[a]`` and are ``weights[a] >= 0`` long,
for ``a`` in ``indptr[u]:indptr[u + 1]``. Parallel arcs and loops are harmless. `indices` and `starts` are
uint32, which spares the test for a negative index. Labels above `limit` are written as inf; it is finite.

Every method below gives the same bits: a distance is the least, over all walks, of the weights added from
the source on, and rounded addition is monotone, so it does not matter in which order the walks are tried.

Three methods, from the fastest to the surest; each returns the number of rows it has finished and leaves
the rest to the next when the graph does not suit it.

1. `wheel` with labels of shape (nodes, LANES): that many sources at once, a vector of labels an arc. Pays when
   the sources are near each other, for they want the nodes in nearly the same order; `gather` arranges it.
2. `wheel` with labels of shape (nodes,): one source at a time. Nodes wait in a circle of buckets of equal width
   (R. B. Dial, 1969; U. Meyer and P. Sanders, "Delta-stepping", 2003) in place of a heap. A node whose label
   improves after it was served is served again.
3. `heap`: Dijkstra with a 4-ary heap, O(arcs log nodes) whatever the weights.

`hops` counts arcs, breadth first. At the end of the file, ways in dense matrices: `minplus`, `dense_dijkstra`,
`fill_from_landmarks`.
"""

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

from finsler.kernels import OPTIONS

LANES = 8

# Work allowed, a node. A batch of lanes that serves more than SLOW times the nodes is kept, but the next rows go
# one by one: a service of LANES labels costs two to three of one. A row or batch that takes GIVE_UP steps
# (services, and buckets passed) is given up: only weights of very different sizes do that.
SLOW = 4
GIVE_UP = 16


@intrinsic
def _relax(context, labels, u, v, weight):
    """Lower ``labels[v]`` to ``labels[u] + weight`` where that is less; return the least new label, or inf.

    Rows of ``labels`` are LANES long. In plain Python::

        new = labels[u] + weight
        better = new < labels[v]
        labels[v] = where(better, new, labels[v])
        return min(where(better, new, inf))

    Written as vector instructions because LLVM does not find them in the loop: three times faster.
    """

    def codegen(context, builder, signature, args):
        double = ir.DoubleType()
        vector = ir.VectorType(double, LANES)
        array = context.make_array(labels)(context, builder, args[0])
        base = builder.bitcast(array.data, vector.as_pointer())
        source, target = (
            builder.gep(base, [context.cast(builder, arg, kind, types.uint64)])
            for arg, kind in zip(args[1:3], signature.args[1:3], strict=True)
        )
        undefined = ir.Constant(vector, ir.Undefined)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        step = builder.insert_element(undefined, args[3], ir.IntType(32)(0))
        step = builder.shuffle_vector(step, undefined, everywhere)
        new = builder.fadd(builder.load(source, align=8), step)
        old = builder.load(target, align=8)
        better = builder.fcmp_ordered("<", new, old)
        builder.store(builder.select(better, new, old), target, align=8)
        least = builder.select(better, new, ir.Constant(vector, [float("inf")] * LANES))
        name = f"llvm.vector.reduce.fmin.v{LANES}f64"
        function = builder.module.globals.get(name) or ir.Function(
            builder.module, ir.FunctionType(double, [vector]), name
        )
        return builder.call(function, [least], fastmath=("nnan", "nsz"))

    return types.float64(labels, u, v, weight), codegen


@njit(**OPTIONS)
def gather(indptr, indices, starts, reach):
    """Positions in ``starts`` in an order where each LANES in turn are near each other.

    The first start that is left takes the nearest others with it, by arcs, among the ``reach`` nearest nodes.
    """
    n = indptr.size - 1
    here = np.full(n, -1, np.int64)  # first position of a node that is left,
    again = np.empty(starts.size, np.int64)  # and the one after a position, if the node is there twice
    for i in range(starts.size - 1, -1, -1):
        again[i], here[starts[i]] = here[starts[i]], i
    order = np.empty(starts.size, np.int64)
    queue, seen = np.empty(n, np.uint32), np.full(n, -1, np.int64)
    found = 0
    for i in range(starts.size):
        if here[starts[i]] < 0:
            continue
        queue[0], seen[starts[i]], first, last = starts[i], i, 0, 1
        places = LANES - found % LANES
        while first < last and places > 0:
            u = queue[first]
            first += 1
            while here[u] >= 0 and places > 0:
                order[found], here[u] = here[u], again[here[u]]
                found += 1
                places -= 1
            for a in range(indptr[u], indptr[u + 1]):
                if last >= reach:
                    break
                v = indices[a]
                if seen[v] != i:
                    seen[v] = i
                    queue[last] = v
                    last += 1
    return order


@njit(**OPTIONS)
def _write(labels, lane, place, limit, row):
    """Copy one lane of labels to its row, in the caller's numbering: node i of the caller is ``place[i]``."""
    lanes = labels.size // place.size
    flat = labels.reshape(-1)
    for i in range(place.size):
        label = flat[place[i] * lanes + lane]
        row[i] = label if label <= limit else np.inf


@njit(**OPTIONS)
def wheel(indptr, indices, weights, place, limit, starts, rows, out, labels, per_length, n_buckets):
    """Distances from ``starts[i]`` to ``out[rows[i]]``, by buckets; return how many were finished.

    A node waits in bucket ``floor(key * per_length)`` modulo ``n_buckets``, a power of two, where its key is the
    least label it got since it was last served. If ``n_buckets >= max(weights) * per_length + 3``, the keys that
    wait at a time fit into one turn of the wheel (lanes may exceed that; then a node is served too early, and
    again). A bucket is a doubly linked list from ``heads[b]``; -1 ends it, ``bucket[v] == -1``: v does not wait.
    """
    n = indptr.size - 1
    lanes = labels.size // n
    flat = labels.reshape(-1)
    heads, bucket = np.full(n_buckets, -1, np.int32), np.full(n, -1, np.int32)
    following, preceding = np.empty(n, np.int32), np.empty(n, np.int32)
    mask = n_buckets - 1
    done = total = 0
    while done < starts.size:
        batch = min(lanes, starts.size - done)
        flat[:] = np.inf
        waiting = turn = served = 0  # nodes in buckets, buckets passed, nodes served
        for lane in range(batch):
            s = np.int64(starts[done + lane])
            flat[s * lanes + lane] = 0.0
            if bucket[s] < 0:
                after = heads[0]
                if after >= 0:
                    preceding[after] = s
                bucket[s], preceding[s], following[s], heads[0] = 0, -1, after, s
                waiting += 1
        while waiting > 0:
            u = heads[turn & mask]
            if u < 0:
                turn += 1
                continue
            served += 1
            if served + turn > GIVE_UP * (n + 100):
                return done
            after = following[u]
            heads[turn & mask] = after
            if after >= 0:
                preceding[after] = -1
            bucket[u] = -1
            waiting -= 1
            label = flat[u]
            for a in range(indptr[u], indptr[u + 1]):
                v = indices[a]
                if labels.ndim == 1:
                    key = label + weights[a]
                    if key >= flat[v] or key > limit:
                        continue
                    flat[v] = key
                else:
                    key = _relax(labels, u, v, weights[a])
                    if key > limit:
                        continue
                new, old = np.int32(np.int64(key * per_length) & mask), bucket[v]
                if old < 0:
                    waiting += 1
                elif old == new or (labels.ndim > 1 and ((old - turn) & mask) <= ((new - turn) & mask)):
                    continue  # waits already, and is served no later
                else:
                    before, after = preceding[v], following[v]
                    if before >= 0:
                        following[before] = after
                    else:
                        heads[old] = after
                    if after >= 0:
                        preceding[after] = before
                after = heads[new]
                if after >= 0:
                    preceding[after] = v
                bucket[v], preceding[v], following[v], heads[new] = new, -1, after, v
        for lane in range(batch):
            _write(labels, lane, place, limit, out[rows[done + lane]])
        done += batch
        total += served
        if labels.ndim > 1 and total * lanes > SLOW * n * done:
            break
    return done


@njit(**OPTIONS)
def heap(indptr, indices, weights, place, limit, starts, rows, out):
    """Distances from ``starts[i]`` to ``out[rows[i]]``, with a 4-ary heap of (label, node)."""
    n = indptr.size - 1
    labels = np.empty(n, np.float64)
    keys = np.full(n + 4, np.inf)  # inf behind the last: four children may always be compared
    nodes, slot = np.empty(n + 4, np.uint32), np.empty(n, np.int32)  # who is where in the heap
    for k in range(starts.size):
        labels[:] = np.inf
        s = starts[k]
        labels[s], keys[0], nodes[0], size = 0.0, 0.0, s, 1
        while size > 0:
            label, u = keys[0], nodes[0]
            size -= 1
            key, node, i = keys[size], nodes[size], 0
            keys[size] = np.inf
            while 4 * i + 1 < size:  # the last goes to the top and sinks
                child, least = 4 * i + 1, keys[4 * i + 1]
                for j in range(4 * i + 2, 4 * i + 5):
                    if keys[j] < least:
                        child, least = j, keys[j]
                if least >= key:
                    break
                keys[i], nodes[i], slot[nodes[child]] = least, nodes[child], i
                i = child
            if size > 0:
                keys[i], nodes[i], slot[node] = key, node, i
            for a in range(indptr[u], indptr[u + 1]):
                v, key = indices[a], label + weights[a]
                if key < labels[v] and key <= limit:
                    if labels[v] == np.inf:
                        i = size
                        size += 1
                    else:
                        i = slot[v]
                    labels[v] = key
                    while i > 0 and keys[(i - 1) >> 2] > key:
                        parent = (i - 1) >> 2
                        keys[i], nodes[i], slot[nodes[parent]] = keys[parent], nodes[parent], i
                        i = parent
                    keys[i], nodes[i], slot[v] = key, v, i
        _write(labels, 0, place, limit, out[rows[k]])
    return starts.size


@njit(**OPTIONS)
def count_arcs(indptr, indices, start, far, limit, labels, queue):
    """Least numbers of arcs from ``start`` into ``labels``, breadth first; ``far`` where there is no path.

    Returns whether all paths were followed to their ends: not those of more than ``limit`` arcs.
    """
    labels[:] = far
    labels[start] = 0
    queue[0], first, last = start, 0, 1
    while first < last:
        u = queue[first]
        first += 1
        label = labels[u] + labels.dtype.type(1)
        if label > limit:
            return False
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            if labels[v] == far:
                labels[v] = label
                queue[last] = v
                last += 1
    return True


@njit(**OPTIONS)
def hops(indptr, indices, place, limit, starts, rows, out):
    """Least numbers of arcs from ``starts[i]`` to ``out[rows[i]]``."""
    labels, queue = np.empty(place.size), np.empty(place.size, np.uint32)
    for k in range(starts.size):
        count_arcs(indptr, indices, starts[k], np.inf, limit, labels, queue)
        _write(labels, 0, place, limit, out[rows[k]])
    return starts.size


# A strip of columns stays in the first-level cache (2 x 4 rows of 512 doubles) while the stops go by.
STRIP = 512


@njit(**OPTIONS)
def minplus(A, B, out):
    """Write ``out[i, j] = min over k of A[i, k] + B[k, j]``; inf (no way) is allowed, NaN is not.

    ``B`` and ``out`` have contiguous rows: the inner loop is one vector add and one vector min per stop, and
    four stops share a load and a store of ``out``.
    """
    n_stops, n_columns = B.shape
    whole = n_stops - n_stops % 4
    for first in range(0, n_columns, STRIP):
        last = min(first + STRIP, n_columns)
        for i in range(len(A)):
            row = out[i, first:last]
            row[:] = np.inf
            for k in range(0, whole, 4):
                a, b, c, d = A[i, k], A[i, k + 1], A[i, k + 2], A[i, k + 3]
                p, q = B[k, first:last], B[k + 1, first:last]
                r, s = B[k + 2, first:last], B[k + 3, first:last]
                for j in range(last - first):
                    row[j] = min(row[j], min(min(a + p[j], b + q[j]), min(c + r[j], d + s[j])))
            for k in range(whole, n_stops):
                a, p = A[i, k], B[k, first:last]
                for j in range(last - first):
                    row[j] = min(row[j], a + p[j])


@njit(**OPTIONS)
def dense_dijkstra(S, source, distance):
    """Shortest path lengths from ``source`` over the finite entries of the dense symmetric matrix ``S``."""
    n = len(S)
    done = np.zeros(n, dtype=np.bool_)
    distance[:] = np.inf
    distance[source] = 0.0
    for _ in range(n):
        best, nearest = np.inf, -1
        for j in range(n):
            if not done[j] and distance[j] < best:
                best, nearest = distance[j], j
        if nearest < 0:
            return
        done[nearest] = True
        row = S[nearest]
        for j in range(n):
            distance[j] = min(distance[j], best + row[j])


@njit(**OPTIONS)
def fill_from_landmarks(S, landmarks, start, stop):
    """Replace infinite entries by the middle of the bounds that the triangle inequality gives.

    ``landmarks[l, i]`` is the distance between landmark l and point i.
    """
    for i in range(start, stop):
        for j in range(len(S)):
            if S[i, j] == np.inf:
                upper, lower = np.inf, 0.0
                for l in range(len(landmarks)):  # noqa: E741
                    upper = min(upper, landmarks[l, i] + landmarks[l, j])
                    lower = max(lower, abs(landmarks[l, i] - landmarks[l, j]))
                S[i, j] = 0.5 * (upper + lower)
