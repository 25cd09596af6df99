// ---- View: where points are drawn, on the map (flat or in space) or at their real places; and what is in sight -----
const plot = $("plot");
const webgl = (() => {
  try {
    return Boolean(document.createElement("canvas").getContext("webgl"));
  } catch {
    return false;
  }
})();
const solid = m >= 3 && webgl; // whether the map is drawn in space
const inSpace = () => solid && state.view === "map";
const touch = matchMedia("(pointer: coarse)").matches; // there the panel tells what hovering would
const isNarrow = () => plot.clientWidth < 500;
const ample = n <= 150 ? 10 : n <= 1000 ? 7 : n <= 6000 ? 5 : 3.5;
const size = () => ample * (isNarrow() ? 0.8 : 1) * (inSpace() ? (isNarrow() ? 0.4 : 0.5) : 1); // plotly's 3-D sizes are larger

const axis = (k) => Float64Array.from({ length: n }, (_, i) => X[i * m + k]);
const height = axis(m - 1);
const across = m > 1 ? axis(0) : new Float64Array(n);
const mapAxes = solid ? [across, axis(1), height] : [across, height];
const drawnAxes = solid ? [0, 1, m - 1] : m > 1 ? [0, m - 1] : [null, 0]; // which coordinates these are
const places = record.places && [record.places.x, record.places.y].map((packed) => new Float64Array(unpack(packed)));
const axes = () => (state.view === "map" ? mapAxes : places);
const named = ([x, y, z]) => (z === undefined ? { x, y } : { x, y, z });
/** Places of some points, as plotly takes them. */
const at = (points) => named(axes().map((values) => points.map((i) => values[i])));
const spotOf = (i) => axes().map((values) => values[i]);
const isPlaced = (i) => spotOf(i).every(Number.isFinite);
/** How much longer a unit of the second axis is than one of the first: degrees of longitude shrink towards the poles. */
const stretch = () => (state.view === "map" ? 1 : record.places.stretch);

function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) if (value < low || value > high) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return [low, high];
}
/** Ranges of the axes that show the whole view, with a margin. */
function homeRanges() {
  const rims = record.confidence && state.view === "map" ? outermost() : [];
  const ends = [...(turns() && turn.seen ? turn.ends : []), ...rims];
  const extents = axes().map((values, k) => extent([...values, ...ends.map((end) => end[k])]));
  const unit = [1, stretch(), 1];
  const span = Math.max(...extents.map(([low, high], k) => (high - low) * unit[k])) || 1;
  return extents.map(([low, high], k) => [low - (0.07 * span) / unit[k], high + (0.07 * span) / unit[k]]);
}
let ranges = null; // those of the view at home; set by start() and setView()

// ---- In space --------------------------------------------------------------------------------------------------
const minus = (u, v) => u.map((x, k) => x - v[k]);
const dot = (u, v) => u.reduce((sum, x, k) => sum + x * v[k], 0);
const cross = ([a, b, c], [d, e, f]) => [b * f - c * e, c * d - a * f, a * e - b * d];
const unitVector = (u) => u.map((x) => x / Math.hypot(...u));
const xyz = ({ x, y, z }) => [x, y, z];
/** The camera as it stands; plotly tells the layout of a turn of the wheel only at the next one. */
const camera = () => plot._fullLayout?.scene?._scene?.getCamera?.() ?? layout.scene.camera;

/** Sides of the box, as wide as the camera sees. */
function boxSides() {
  const spans = ranges.map(([low, high]) => high - low);
  return spans.map((span) => (1.5 * span) / Math.hypot(...spans));
}
/** Where a camera sees a place, given in units of the box from its middle: pixels from the left and the top; the depth. */
function lens({ eye, center, up: zenith = { x: 0, y: 0, z: 1 } }) {
  const position = xyz(eye);
  const ahead = unitVector(minus(xyz(center), position));
  const right = unitVector(cross(ahead, xyz(zenith)));
  const up = cross(right, ahead);
  const focal = plot.clientHeight / 2 / Math.tan(Math.PI / 8); // plotly's camera sees 45 degrees from top to bottom
  return (place) => {
    const ray = minus(place, position);
    const depth = dot(ray, ahead);
    const [x, y] = [right, up].map((direction) => (focal * dot(ray, direction)) / depth);
    return [plot.clientWidth / 2 + x, plot.clientHeight / 2 - y, depth];
  };
}
/** Where the camera sees each point. */
function projected() {
  const [see, sides] = [lens(camera()), boxSides()];
  return (i) => see(mapAxes.map((values, k) => {
    const [low, high] = ranges[k];
    return sides[k] * ((values[i] - low) / (high - low) - 0.5);
  }));
}
/** The camera in front, as near as the whole box, with room for numbers and titles of the axes, is in sight. */
function frontCamera() {
  const halves = boxSides().map((side) => side / 2);
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((c) => halves.map((half, k) => (c & (1 << k) ? half : -half)));
  const direction = unitVector([0.95, -1.25, 0.7]);
  const right = unitVector(cross(direction.map((x) => -x), [0, 0, 1]));
  const [left, end, top, bottom] = isNarrow() ? [66, 50, 16, 44] : [84, 56, 16, 48]; // pixels beside, above and below
  const [wide, tall] = [plot.clientWidth - left - end, plot.clientHeight - top - bottom];
  const cameraAt = (far, across, up) => {
    const center = right.map((x, k) => across * x + (k === 2 ? up : 0));
    return { center: named(center), eye: named(center.map((c, k) => c + far * direction[k])) };
  };
  const fit = (far) => { // move until the box is in the middle of its room
    let [across, up, fits] = [0, 0, false];
    for (let step = 0; step < 5; step++) {
      const seen = corners.map(lens(cameraAt(far, across, up)));
      const [[x, y], [z, w]] = [extent(seen.map((spot) => spot[0])), extent(seen.map((spot) => spot[1]))];
      const perPixel = (far * 2 * Math.tan(Math.PI / 8)) / plot.clientHeight;
      fits = y - x <= wide && w - z <= tall;
      across += ((x + y) / 2 - (left + wide / 2)) * perPixel;
      up -= ((z + w) / 2 - (top + tall / 2)) * perPixel;
    }
    return { fits, camera: cameraAt(far, across, up) };
  };
  let [near, far] = [0.8, 10];
  for (let step = 0; step < 24; step++) {
    const half = (near + far) / 2;
    if (fit(half).fits) far = half;
    else near = half;
  }
  return fit(far).camera;
}

// ---- What is in sight --------------------------------------------------------------------------------------------
function zoom(factor) {
  if (inSpace()) {
    const { eye, center } = camera();
    const moved = xyz(eye).map((x, k) => xyz(center)[k] + factor * (x - xyz(center)[k]));
    return Plotly.relayout(plot, { "scene.camera.eye": named(moved) });
  }
  const { xaxis, yaxis } = plot._fullLayout;
  const grown = ([low, high]) => [low, high].map((end) => (low + high) / 2 + (factor * (end - (low + high) / 2)));
  return Plotly.relayout(plot, { "xaxis.range": grown(xaxis.range), "yaxis.range": grown(yaxis.range) });
}

function goHome() {
  const flat = () => ({ "xaxis.range": ranges[0].slice(), "yaxis.range": ranges[1].slice() });
  return Plotly.relayout(plot, inSpace() ? { "scene.camera": frontCamera() } : flat());
}

/** Bring the chosen points into sight: the view moves, and widens if it must; the page scrolls to the map. */
function reveal() {
  plot.scrollIntoView({ block: "nearest" });
  const ends = [state.a, state.b].filter((i) => i !== null && isPlaced(i));
  if (!ends.length) return null;
  if (inSpace()) {
    const inside = ([x, y, depth]) => depth > 0 && x > 15 && x < plot.clientWidth - 15 && y > 15 && y < plot.clientHeight - 15;
    return ends.map(projected()).every(inside) ? null : goHome();
  }
  const { xaxis, yaxis } = plot._fullLayout;
  const seen = [xaxis.range, yaxis.range];
  const needed = axes().map((values) => extent(ends.map((i) => values[i])));
  const isSeen = seen.every(([low, high], k) => {
    const edge = 0.03 * (high - low);
    return needed[k][0] > low + edge && needed[k][1] < high - edge;
  });
  if (isSeen) return null;
  const grow = Math.max(1, ...seen.map(([low, high], k) => (needed[k][1] - needed[k][0]) / (0.7 * (high - low))));
  const moved = seen.map(([low, high], k) => {
    const [middle, half] = [(needed[k][0] + needed[k][1]) / 2, (grow * (high - low)) / 2];
    return [middle - half, middle + half];
  });
  return Plotly.relayout(plot, { "xaxis.range": moved[0], "yaxis.range": moved[1] });
}
