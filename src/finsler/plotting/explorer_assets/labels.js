// ---- Labels beside the points ----------------------------------------------------------------------------------
const FEW = 25; // labels that a map should have at least: beyond, labels may cover points that have none
const MOST = 200; // labels at once
const LONGEST = 24; // letters of a label
const CELL = 40; // pixels; what a label may meet is looked up in cells of this width

/** Labels as annotations, A and B first, then as many as fit; there are more when zoomed in. */
function annotations() {
  const ends = [state.a, state.b].filter((i) => i !== null && isPlaced(i));
  const ringed = new Set([...near.from, ...near.to]);
  const shown = lit(); // of a group that stands out, labels belong to it
  const others = state.labels ? (shown || labels.map((_, i) => i)).filter((i) => !ends.includes(i)) : [];
  const asked = [...ends, ...others].map((i, place) => {
    const [text, end] = [cut(labels[i], LONGEST), place < ends.length];
    return {
      i, end, text,
      half: end ? 4.2 * (text.length + 2) + 2 : 3.3 * text.length + 2, // half of about the width, in pixels
      tall: end ? 9 : 7, // half of the height
      reach: size() / 2 + (end ? 5 : ringed.has(i) ? 9 : 3), // what the point itself covers
    };
  });
  const found = placed(asked);
  const drawn = found.filter(({ end }) => !end).length;
  $("labels-told").textContent = !state.labels || drawn === others.length ? "" : `${drawn} of ${others.length.toLocaleString("en")}`;
  return found.map(({ i, end, text, dx, dy, covers }) => ({
    ...named(spotOf(i)), xshift: dx, yshift: -dy, showarrow: false, captureevents: false,
    text: end ? `<b>${i === state.a ? "A" : "B"}</b> ${plain(text)}` : plain(text),
    font: end ? { size: 14, color: color("--text") } : { size: 11, color: color(covers ? "--text" : "--quiet") },
    bgcolor: covers ? color("--veil") : "rgba(0,0,0,0)", borderpad: covers ? 1 : 0,
  }));
}

/** Where points are in the picture, in pixels, and whether they are in sight. */
function screen() {
  if (inSpace()) {
    const see = projected();
    return { width: plot.clientWidth, depth: plot.clientHeight, spot: (i) => { const [x, y] = see(i); return { x, y }; } };
  }
  const { xaxis, yaxis } = plot._fullLayout || layout;
  const [[left, right], [bottom, top]] = [xaxis.range, yaxis.range];
  const { l, r, t, b } = layout.margin;
  const [width, depth] = [plot.clientWidth - l - r, plot.clientHeight - t - b];
  const toPixels = (x, y) => [((x - left) / (right - left)) * width, ((top - y) / (top - bottom)) * depth];
  const spot = (i) => { const [x, y] = toPixels(...spotOf(i)); return { x, y }; };
  return { width, depth, spot, toPixels };
}

/** Boxes (x, y, half, tall) that can be asked which of them meet another one. */
function grid() {
  const cells = new Map();
  const around = ({ x, y, half, tall }) => {
    const keys = [];
    for (let c = Math.floor((x - half) / CELL); c <= Math.floor((x + half) / CELL); c++) {
      for (let r = Math.floor((y - tall) / CELL); r <= Math.floor((y + tall) / CELL); r++) keys.push(c * 65536 + r);
    }
    return keys;
  };
  return {
    add(box) {
      for (const key of around(box)) cells.has(key) ? cells.get(key).push(box) : cells.set(key, [box]);
    },
    meets: (box, but) => around(box).some((key) => cells.get(key)?.some((other) => (
      (but === undefined || other.i !== but) && Math.abs(other.x - box.x) < box.half + other.half && Math.abs(other.y - box.y) < box.tall + other.tall))),
  };
}

/** Those labels that find a side of their point where they cover no label and no point; A and B always get one.
 * Where the points are too close for that, some labels far from each other cover points. */
function placed(asked) {
  const { width, depth, spot, toPixels } = screen();
  const inView = ({ end, x, y }) => end || (x > 0 && x < width && y > 0 && y < depth);
  const seen = asked.map((label) => ({ ...label, ...spot(label.i) })).filter(inView);
  const [taken, bodies] = [grid(), grid()];
  for (const { i, x, y, reach } of seen) bodies.add({ i, x, y, half: Math.max(reach - 2, 0), tall: Math.max(reach - 4, 0) });
  if (lit()) for (let i = 0; i < n; i++) if (isPlaced(i)) bodies.add({ i, ...spot(i), half: size() / 2, tall: size() / 2 });
  if (seen.filter(({ end }) => end).length === 2) for (const box of alongSegment(spot(state.a), spot(state.b))) taken.add(box);
  if (turns() && toPixels) for (const box of ringSpots(toPixels)) taken.add(box);

  const found = [];
  const settle = (label, apart, mayCover) => {
    const { i, end, half, tall, reach } = label;
    const [beside, above] = [reach + half, -reach - tall];
    const isLower = end && [state.a, state.b].some((j) => j !== null && axes().at(-1)[j] > axes().at(-1)[i]);
    const outward = isLower ? -above : above; // away from the other end
    const [level, steep] = [[[beside, 0], [-beside, 0]], [[0, above], [0, -above]]];
    const sides = end ? [[0, outward], ...level, [0, -outward]] : [...level, ...steep];
    const isFree = ([dx, dy]) => {
      const box = { x: label.x + dx, y: label.y + dy, half: half + apart, tall: tall + apart };
      return box.x > half && box.x + half < width && !taken.meets(box) && (mayCover || !bodies.meets(box, i));
    };
    const free = sides.find(isFree);
    if (!free && !end) return false;
    const [dx, dy] = free || sides[0];
    taken.add({ x: label.x + dx, y: label.y + dy, half, tall });
    found.push({ ...label, dx, dy, covers: mayCover || !free });
    return true;
  };
  const left = seen.filter((label) => label.end || found.length < MOST ? !settle(label, 0, false) : false);
  for (const label of left) if (found.length < Math.min(FEW, n)) settle(label, 24, true);
  return found;
}

/** Spots on the segment between A and B, which is to stay in sight. */
function alongSegment(from, to) {
  const share = Array.from({ length: 91 }, (_, k) => (k + 5) / 100);
  return share.map((t) => ({ x: from.x + t * (to.x - from.x), y: from.y + t * (to.y - from.y), half: 0, tall: 0 }));
}
