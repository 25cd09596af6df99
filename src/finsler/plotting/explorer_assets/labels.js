// ---- Labels beside the points ----------------------------------------------------------------------------------
const LABELS_2D = 200; // with more points than this in view, a flat map labels only A and B,
const LABELS_3D = 80; // and so does a 3-D map of more than this
const LONGEST = 24; // letters of a label

/** Labels as annotations, A and B first; a flat map gets as many as fit, and more when zoomed in. */
function annotations() {
  const ends = [state.a, state.b].filter((i) => i !== null);
  const ringed = new Set([...near.from, ...near.to]);
  const wanted = state.labels && (!solid || n <= LABELS_3D);
  const others = wanted ? labels.map((_, i) => i).filter((i) => !ends.includes(i)) : [];
  const asked = [...ends.map((i) => ({ i, end: true })), ...others.map((i) => ({ i, end: false }))].map(({ i, end }) => {
    const text = cut(labels[i], LONGEST);
    return {
      i, end, text,
      half: end ? 4.2 * (text.length + 2) + 2 : 3.3 * text.length + 2, // half of about the width, in pixels
      tall: end ? 9 : 7, // half of the height
      reach: size / 2 + (end ? 5 : ringed.has(i) ? 9 : 3), // what the point itself covers
    };
  });
  const found = solid ? asked.map((label) => ({ ...label, dx: 0, dy: -17 })) : placed(asked);
  return found.map(({ i, end, text, dx, dy }, place) => ({
    x: across[i], y: (solid ? along : height)[i], ...(solid && { z: height[i] }),
    xshift: dx, yshift: -dy, showarrow: false, captureevents: false,
    text: end ? `<b>${"AB"[place]}</b> ${plain(text)}` : plain(text),
    font: end ? { size: 14, color: color("--text") } : { size: 11, color: color("--quiet") },
    bgcolor: solid && end ? color("--back") : "rgba(0,0,0,0)",
  }));
}

/** Those labels that find a side of their point where they cover no label and no point; A and B always get one. */
function placed(asked) {
  const { xaxis, yaxis } = plot._fullLayout || layout;
  const [[left, right], [bottom, top]] = [xaxis.range, yaxis.range];
  const { l, r, t, b } = layout.margin;
  const [width, depth] = [plot.clientWidth - l - r, plot.clientHeight - t - b];
  const spot = (i) => ({
    x: ((across[i] - left) / (right - left)) * width,
    y: ((top - height[i]) / (top - bottom)) * depth,
  });
  const inView = ({ end, x, y }) => end || (x > 0 && x < width && y > 0 && y < depth);
  const seen = asked.map((label) => ({ ...label, ...spot(label.i) })).filter(inView);
  const taken = state.b === null ? [] : alongSegment(spot(state.a), spot(state.b));
  if (turns) taken.push(...ringSpots((x, y) => [((x - left) / (right - left)) * width, ((top - y) / (top - bottom)) * depth]));

  const isFree = (label, [dx, dy]) => {
    const [x, y] = [label.x + dx, label.y + dy];
    const meets = (other, wide, high) => Math.abs(other.x - x) < label.half + wide && Math.abs(other.y - y) < label.tall + high;
    const covers = (other) => meets(other, other.half, other.tall);
    const hides = (other) => other.i !== label.i && meets(other, other.reach - 2, other.reach - 4);
    return x > label.half && x + label.half < width && !taken.some(covers) && !seen.some(hides);
  };
  const candidates = seen.length > LABELS_2D ? seen.filter(({ end }) => end) : seen;
  return candidates.flatMap((label) => {
    const { i, end, half, tall, reach } = label;
    const [beside, above] = [reach + half, -reach - tall];
    const isLower = end && [state.a, state.b].some((j) => j !== null && height[j] > height[i]);
    const outward = isLower ? -above : above; // away from the other end
    const [level, steep] = [[[beside, 0], [-beside, 0]], [[0, above], [0, -above]]];
    const sides = end ? [[0, outward], ...level, [0, -outward]] : [...level, ...steep];
    const side = sides.find((offset) => isFree(label, offset)) || (end && sides[0]);
    if (!side) return [];
    const [dx, dy] = side;
    taken.push({ x: label.x + dx, y: label.y + dy, half, tall });
    return [{ ...label, dx, dy }];
  });
}

/** Spots on the segment between A and B, which is to stay in sight. */
function alongSegment(from, to) {
  const share = Array.from({ length: 91 }, (_, k) => (k + 5) / 100);
  return share.map((t) => ({ x: from.x + t * (to.x - from.x), y: from.y + t * (to.y - from.y), half: 0, tall: 0 }));
}
