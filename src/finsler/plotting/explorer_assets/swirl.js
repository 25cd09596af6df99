// ---- A drift that turns: its center or axis, rings with what they cost, arrows along the cheap way ---------------
const turn = record.turn; // where the drift turns; null where it does not, or so far away that it hardly does
const turns = () => Boolean(turn) && state.view === "map" && (m === 2 || solid); // whether that is drawn
const place = (i) => Array.from({ length: m }, (_, k) => X[i * m + k]);
const driftAt = (i) => drift.map((w, k) => w + (swirl ? dot(swirl[k], place(i)) : 0));
const onRing = (radius, angle) => (
  turn.center.map((c, k) => c + radius * (Math.cos(angle) * turn.p[k] + Math.sin(angle) * turn.q[k])));
const between = (from, to, n) => Array.from({ length: n + 1 }, (_, k) => from + ((to - from) * k) / n);
const rim = () => turn.rings.at(-1).radius;

/** A point less the center, as seen along the axis: its two coordinates in the plane that turns. */
function seenAlong(i) {
  const u = place(i).map((x, k) => x - turn.center[k]);
  return [dot(u, turn.p), dot(u, turn.q)];
}
/** Area of the triangle that two points make with the center, above 0 for the costly way round. */
function area(i, j) {
  const [[a, b], [c, d]] = [seenAlong(i), seenAlong(j)];
  return (a * d - b * c) / 2;
}

/** Cheapest way from i to j in the plane: an arc of radius 1/(2 kappa), on the left where kappa is above 0. */
function arc(i, j) {
  const [a, b] = [place(i), place(j)];
  const [x, y] = b.map((end, k) => end - a[k]);
  const e = Math.hypot(x, y);
  const half = Math.asin(Math.max(-1, Math.min(1, swirl[1][0] * e)));
  if (Math.abs(half) < 1e-9) return [a, b];
  const radius = e / (2 * Math.sin(half));
  return between(-half, half, 32).map((t) => {
    const [along, left] = [radius * Math.sin(t), radius * (Math.cos(t) - Math.cos(half))];
    return [(a[0] + b[0]) / 2 + (along * x - left * y) / e, (a[1] + b[1]) / 2 + (along * y + left * x) / e];
  });
}

// ---- Flat ------------------------------------------------------------------------------------------------------
const path = (points, end = "") => points.map(([x, y], k) => `${k ? "L" : "M"}${x},${y}`).join("") + end;

function flatTurn() {
  const shape = (points, line, more) => ({ type: "path", path: path(points), line, layer: "below", ...more });
  const shapes = [];
  if (state.b !== null) {
    const corners = [turn.center, place(state.a), place(state.b)];
    const line = { color: color("--cheap"), width: 1 };
    shapes.push({ type: "path", path: path(corners, "Z"), line, fillcolor: color("--shaded"), layer: "below" });
  }
  turn.rings.forEach(({ radius, arrows }, k) => {
    const ring = between(0, 2 * Math.PI, 120).map((angle) => onRing(radius, angle));
    shapes.push(shape(ring, { color: color("--quiet"), width: 1, dash: "6px,5px" }));
    for (const [tail, head] of arrows) {
      const shaft = between(tail, head, 12).map((angle) => onRing(radius, angle));
      shapes.push(shape(shaft, { color: color("--cheap"), width: arrowWidth(k) }));
    }
  });
  return shapes;
}
const arrowWidth = (k) => (isNarrow() ? 0.75 : 1) * (1.5 + (1.5 * (k + 1)) / turn.rings.length);

/** Where labels of rings are, in pixels, for the labels of points to keep off. */
function ringSpots(toPixels) {
  return turn.rings.map(({ radius }) => {
    const [x, y] = toPixels(...onRing(radius, turn.label_angle));
    return { x, y, half: 22, tall: 8 };
  });
}

/** Labels of the rings; on a flat map also the cross at the center, and the heads of the arrows. */
function ringLabels() {
  const where = ([x, y, z]) => (solid ? { x, y, z } : { x, y });
  const base = { showarrow: false, captureevents: false };
  const told = solid && isNarrow() ? turn.rings.slice(-1) : turn.rings; // there the others would lie upon each other
  const made = told.map(({ radius, label }) => ({
    ...base, ...where(onRing(radius, turn.label_angle)), text: label,
    font: { size: 12, color: color("--text") }, bgcolor: color("--back"), opacity: 0.9,
  }));
  if (solid) return made;
  if (turn.seen) made.push({ ...base, ...where(turn.center), text: "<b>+</b>", font: { size: 26, color: color("--text") } });
  turn.rings.forEach(({ radius, arrows }, k) => {
    for (const [tail, head] of arrows) {
      // Plotly leaves out heads of arrows that are short in pixels, so these are of a length in pixels.
      const [tip, before] = [onRing(radius, head), onRing(radius, head + 0.06 * (tail - head))];
      const [x, y] = tip.map((c, axis) => c - before[axis]);
      const long = 14 / Math.hypot(x, y);
      made.push({
        ...base, ...where(tip), ax: -long * x, ay: long * y, text: "", showarrow: true,
        arrowhead: 2, arrowsize: 1.4, arrowwidth: arrowWidth(k), arrowcolor: color("--cheap"), standoff: 0,
      });
    }
  });
  return made;
}

// ---- In space --------------------------------------------------------------------------------------------------
/** Axis, rings and arrows, and the triangle of A and B in the plane of the rings, as one sees it along the axis. */
function solidTurn(base) {
  const drawn = (pieces, line) => ({ ...base, ...lines(pieces), mode: "lines", line });
  const rings = turn.rings.map(({ radius }) => between(0, 2 * Math.PI, 120).map((angle) => onRing(radius, angle)));
  const size = 0.07 * rim();
  const arrows = turn.rings.flatMap(({ radius, arrows: ends }) => ends.flatMap(([tail, head]) => {
    const behind = head + (Math.sign(tail - head) * 1.6 * size) / radius;
    const wings = [size, -size].map((side) => onRing(radius + side, behind));
    return [between(tail, head, 12).map((angle) => onRing(radius, angle)), [wings[0], onRing(radius, head), wings[1]]];
  }));
  const made = [
    drawn([turn.ends], { color: color("--text"), width: 4 }),
    drawn(rings, { color: color("--quiet"), width: 2, dash: "dash" }),
    drawn(arrows, { color: color("--cheap"), width: 6 }),
  ];
  if (Math.abs(turn.beta) > 0.005) { // along the axis one way costs more: the arrow shows the cheap one, as on the rings
    const [tip, other] = turn.beta > 0 ? turn.ends : turn.ends.toReversed();
    const on = (share, side = 0) => tip.map((c, k) => c + share * (other[k] - c) + side * turn.p[k]);
    const head = [on(0.08, size), tip, on(0.08, -size)];
    made.push(drawn([[on(0.2), tip], head], { color: color("--cheap"), width: 6 }));
  }
  if (state.b === null) return made;
  const feet = [state.a, state.b].map((i) => {
    const [s, t] = seenAlong(i);
    return turn.center.map((c, k) => c + s * turn.p[k] + t * turn.q[k]);
  });
  const [x, y, z] = [0, 1, 2].map((k) => [turn.center, ...feet].map((corner) => corner[k]));
  made.push({ type: "mesh3d", x, y, z, i: [0], j: [1], k: [2], color: color("--cheap"), opacity: 0.3, hoverinfo: "skip", showscale: false });
  made.push(drawn([[turn.center, ...feet, turn.center], [place(state.a), feet[0]], [place(state.b), feet[1]]],
    { color: color("--cheap"), width: 2, dash: "dot" }));
  return made;
}

// ---- Words -----------------------------------------------------------------------------------------------------
/** How the costlier way of a pair runs. */
function against(from, to) {
  if (!swirl) return "goes up and ";
  return turns() && 4 * turn.kappa * area(from, to) > 0.5 * (distance(from, to) - distance(to, from)) ? "goes against the arrows and " : "";
}
function aboutTriangle(from, to) {
  if (!turns()) return "";
  const [shown, all] = [4 * turn.kappa * area(from, to), distance(from, to) - distance(to, from)];
  const triangle = `4 kappa times the area of the shaded triangle, ${number(Math.abs(area(from, to)), 4)}`;
  if (Math.abs(all - shown) < 1e-3 * Math.abs(all)) return ` The difference, ${number(all, 4)}, is ${triangle}.`;
  return ` Of the difference, ${number(all, 4)}, ${number(shown, 4)} is ${triangle}; the rest is made by the drift along the axis.`;
}
