// ---- What lies over the points: ellipses of confidence, arcs of the chosen point, the fastest ways along arcs --------
const covariance = record.confidence && new Float64Array(unpack(record.confidence.covariance));
const halfAxes = record.confidence && new Float64Array(unpack(record.confidence.half_axes));
const arcs = record.arcs && {
  first: new Int32Array(unpack(record.arcs.first)), // where the arcs of each point begin in the next two
  ends: new Int32Array(unpack(record.arcs.ends)),
  lengths: new Float64Array(unpack(record.arcs.lengths)),
};
const GAP = [null, null, null];
const around = (steps) => Array.from({ length: steps + 1 }, (_, k) => (2 * Math.PI * k) / steps);
const lines = (pieces) => {
  const points = pieces.flatMap((piece) => [...piece, GAP]);
  return named(axes().map((_, k) => points.map((point) => point[k])));
};

/** How far a point may be off, in words. */
function doubt(i) {
  if (!record.confidence) return "";
  const half = Array.from(halfAxes.subarray(i * m, (i + 1) * m), (x) => `±${measured(x, 2)}`);
  return `within ${half.join(" by ")} (${number(100 * record.confidence.level, 3)}\u00a0%)`;
}

/** Rims: radius L (cos t, sin t), where L L' is the covariance of the axes that are drawn; in space three of them a point. */
function ellipses() {
  const { radius } = record.confidence;
  const rims = [];
  for (let i = 0; i < n; i++) {
    const C = (p, q) => (drawnAxes[p] === null || drawnAxes[q] === null ? 0 : covariance[(i * m + drawnAxes[p]) * m + drawnAxes[q]]);
    const [L, center, d] = [cholesky(C, drawnAxes.length), spotOf(i), drawnAxes.length];
    for (let p = 0; p < d; p++) {
      for (let q = p + 1; q < d; q++) {
        rims.push(around(d > 2 ? 24 : 40).map((t) => (
          center.map((c, k) => c + radius * (L[k][p] * Math.cos(t) + L[k][q] * Math.sin(t))))));
      }
    }
  }
  return rims;
}

/** Places on rims that a view at home shows: all of them, but none farther off than half the width of the points. */
function outermost() {
  const extents = axes().map((values) => extent(values));
  const room = Math.max(...extents.map(([low, high]) => high - low)) / 2;
  const within = (x, k) => Math.min(Math.max(x, extents[k][0] - room), extents[k][1] + room);
  return ellipses().flat().map((place) => place.map(within));
}

/** Lower triangle L with L L' = C, for a C that may be singular. */
function cholesky(C, d) {
  const L = Array.from({ length: d }, () => new Array(d).fill(0));
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) {
      const rest = C(i, j) - dot(L[i].slice(0, j), L[j].slice(0, j));
      if (i === j) L[i][i] = Math.sqrt(Math.max(rest, 0));
      else if (L[j][j] > 0) L[i][j] = rest / L[j][j];
    }
  }
  return L;
}

/** Whether points hide most of the ellipses: on a flat map, those that are smaller lie beneath. */
function areSmall() {
  if (solid || state.view !== "map") return false;
  const [low, high] = (plot._fullLayout || layout).xaxis.range;
  const longest = Array.from({ length: n }, (_, i) => halfAxes[i * m]).sort((p, q) => p - q);
  return (longest[n >> 1] / (high - low)) * plot.clientWidth < size() / 2;
}

// ---- Arcs ------------------------------------------------------------------------------------------------------
const leaving = (i) => Array.from(arcs.ends.subarray(arcs.first[i], arcs.first[i + 1]));
function entering(i) {
  const found = [];
  for (let j = 0; j < n; j++) {
    for (let k = arcs.first[j]; k < arcs.first[j + 1]; k++) if (arcs.ends[k] === i) found.push(j);
  }
  return found;
}
/** A way from one point to another, bent a little to its left on a flat view, so that the way back has its own line. */
function bent(i, j) {
  const [from, to] = [spotOf(i), spotOf(j)];
  if (from.length > 2) return [from, to];
  const [x, y, tall] = [to[0] - from[0], to[1] - from[1], stretch()];
  return between(0, 1, 12).map((t) => {
    const off = 0.36 * t * (1 - t);
    return [from[0] + t * x - off * y * tall, from[1] + t * y + (off * x) / tall];
  });
}
/** Ways of arcs as a trace; on a flat view each ends in an arrowhead. */
function arrows(base, name, pairs, paintOf, line) {
  const pieces = pairs.filter((pair) => pair.every(isPlaced)).map(([i, j]) => bent(i, j));
  const trace = { ...base, name, ...lines(pieces), mode: "lines", line: { color: paintOf, ...line } };
  if (inSpace()) return trace;
  const heads = pieces.flatMap((piece) => [...piece.slice(1).map(() => 0), 10, 0]);
  const marker = { symbol: "arrow", angleref: "previous", size: heads, standoff: size() / 2 + 2, color: paintOf, opacity: 1, line: { width: 0 } };
  return { ...trace, mode: "lines+markers", line: { ...trace.line, backoff: 0 }, marker };
}

// ---- Ways along arcs ---------------------------------------------------------------------------------------------
/** The fastest way from i to j along the arcs and its length, or null; of several, one with the fewest arcs. */
function route(i, j) {
  const [far, steps, before] = [new Float64Array(n).fill(Infinity), new Int32Array(n), new Int32Array(n).fill(-1)];
  const isLess = (p, q) => p[0] < q[0] || (p[0] === q[0] && p[1] < q[1]);
  const heap = [];
  const push = (entry) => {
    let k = heap.push(entry) - 1;
    for (let up; k && isLess(heap[k], heap[(up = (k - 1) >> 1)]); k = up) [heap[k], heap[up]] = [heap[up], heap[k]];
  };
  const pop = () => {
    const [top, last] = [heap[0], heap.pop()];
    if (!heap.length) return top;
    heap[0] = last;
    for (let k = 0, down; (down = 2 * k + 1) < heap.length; k = down) {
      if (down + 1 < heap.length && isLess(heap[down + 1], heap[down])) down++;
      if (!isLess(heap[down], heap[k])) break;
      [heap[k], heap[down]] = [heap[down], heap[k]];
    }
    return top;
  };
  far[i] = 0;
  push([0, 0, i]);
  while (heap.length) {
    const [reached, count, u] = pop();
    if (u === j) break;
    if (reached > far[u] || count > steps[u]) continue;
    for (let k = arcs.first[u]; k < arcs.first[u + 1]; k++) {
      const [v, length] = [arcs.ends[k], reached + arcs.lengths[k]];
      if (length < far[v] || (length === far[v] && count + 1 < steps[v])) {
        [far[v], steps[v], before[v]] = [length, count + 1, u];
        push([length, count + 1, v]);
      }
    }
  }
  if (far[j] === Infinity) return null;
  const points = [j];
  while (points[0] !== i) points.unshift(before[points[0]]);
  return { points, length: far[j] };
}
/** Both ways between the chosen points, if every arc behind the map is here. */
const routes = () => (record.arcs?.complete && state.b !== null ? [route(state.a, state.b), route(state.b, state.a)] : []);
const steps = (points) => points.slice(1).map((end, k) => [points[k], end]);
