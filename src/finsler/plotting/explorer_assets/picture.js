// ---- Picture ---------------------------------------------------------------------------------------------------
const plot = $("plot");
const webgl = (() => {
  try {
    return Boolean(document.createElement("canvas").getContext("webgl"));
  } catch {
    return false;
  }
})();
const solid = m >= 3 && webgl;
const turn = record.turn; // where the drift turns; null where it does not, or so far away that it hardly does
const turns = Boolean(turn) && (m === 2 || solid); // whether that is drawn
const touch = matchMedia("(pointer: coarse)").matches; // there the panel tells what hovering would
const axis = (k) => Float64Array.from({ length: n }, (_, i) => X[i * m + k]);
const height = axis(m - 1);
const across = m > 1 ? axis(0) : new Float64Array(n);
const along = solid ? axis(1) : null;
const at = (points) => {
  const places = { x: points.map((i) => across[i]), y: points.map((i) => (solid ? along : height)[i]) };
  return solid ? { ...places, z: points.map((i) => height[i]) } : places;
};
const narrow = plot.clientWidth < 500;
const ample = n <= 150 ? 10 : n <= 1000 ? 7 : n <= 6000 ? 5 : 3.5;
const size = ample * (narrow ? 0.8 : 1) * (solid ? 0.5 : 1); // plotly's 3-D sizes are larger
const ranges = homeRanges();
const away = Math.max(1, (1.45 * plot.clientHeight) / plot.clientWidth); // a tall window sees less of the width
const front = { eye: { x: 0.95 * away, y: -1.25 * away, z: 0.7 * away }, center: { x: 0, y: 0, z: -0.08 } };
let layout = null;
/** The camera as it stands; plotly tells the layout of a turn of the wheel only at the next one. */
const camera = () => plot._fullLayout?.scene?._scene?.getCamera?.() ?? layout.scene.camera;

function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return [low, high];
}
/** Ranges of the axes that show the whole map, with a margin. */
function homeRanges() {
  const extents = (solid ? [across, along, height] : [across, height]).map((values, k) => (
    extent(turns && turn.seen ? [...values, ...turn.ends.map((end) => end[k])] : values)));
  const span = Math.max(...extents.map(([low, high]) => high - low)) || 1;
  return extents.map(([low, high]) => [low - 0.07 * span, high + 0.07 * span]);
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dark = matchMedia("(prefers-color-scheme: dark)");
function shade(share, stops) {
  const place = share * (stops.length - 1);
  const k = Math.min(Math.floor(place), stops.length - 2);
  const channel = (c) => {
    const [low, high] = [stops[k], stops[k + 1]].map((stop) => parseInt(stop.slice(1 + 2 * c, 3 + 2 * c), 16));
    return Math.round(low + (high - low) * (place - k));
  };
  return `rgb(${channel(0)},${channel(1)},${channel(2)})`;
}

/** Color and mark of each point, and the legend beside them; which, Python decided. */
function paint() {
  const { name, numbers, ends, codes, groups } = columns[state.column];
  const legend = $("legend");
  const key = (paintOf, mark, text) => {
    const entry = element("span", text);
    const dot = element("i", "", mark);
    dot.style.color = paintOf;
    entry.prepend(dot);
    legend.append(entry);
  };
  legend.replaceChildren(element("span", name));
  const { missing } = record;
  let marks, isKnown;
  if (numbers) {
    const stops = record.scale[dark.matches ? "dark" : "light"];
    const bar = element("i", "", "scale");
    bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    if (ends) legend.append(element("span", number(ends[0], 4)), bar, element("span", number(ends[1], 4)));
    const share = (x) => (ends[1] > ends[0] ? (x - ends[0]) / (ends[1] - ends[0]) : 0.5);
    isKnown = Array.from(numbers, Number.isFinite);
    paints = Array.from(numbers, (x, i) => (isKnown[i] ? shade(share(x), stops) : missing));
    marks = isKnown.map(() => "circle");
  } else {
    for (const [word, shown, mark] of groups) key(shown, mark, cut(word, 40));
    isKnown = codes.map((code) => code >= 0);
    paints = codes.map((code) => groups[code]?.[1] ?? missing);
    marks = codes.map((code) => groups[code]?.[2]);
  }
  symbols = marks.map((mark, i) => (isKnown[i] ? mark : "circle-open"));
  if (isKnown.includes(false)) key(missing, "hollow", "unknown");
}
let paints = [], symbols = [];

function traces() {
  const { a, b } = state;
  const kind = solid ? "scatter3d" : "scatter";
  const ink = color("--text");
  const base = { type: kind, hoverinfo: "skip", showlegend: false };
  const ends = [a, b].filter((i) => i !== null);
  const rings = (points, color, extra) => ({
    ...base, ...at(points), mode: "markers",
    marker: { symbol: "circle-open", size: size + extra, color, line: { color, width: 2.5 } },
  });
  const cloud = {
    ...base, type: solid || !webgl ? kind : "scattergl", mode: "markers",
    hoverinfo: touch ? "none" : "text", hovertext: hoverTexts,
    x: across, y: solid ? along : height, ...(solid && { z: height }),
    marker: {
      size, color: paints, symbol: symbols, opacity: 0.95,
      line: { color: color("--back"), width: solid ? 0 : symbols.map((symbol) => (symbol === "circle-open" ? 1.5 : 0.5)) },
    },
  };
  const way = { ...base, ...at(ends), mode: "lines", line: { color: ink, width: solid ? 5 : 2.5 } };
  const arcs = record.geodesic && b !== null ? [arc(a, b), arc(b, a)] : [];
  const dearer = b !== null && distance(a, b) > distance(b, a);
  const waysBent = arcs.map((points, k) => ({ // the way there is whole, the way back dotted
    ...base, mode: "lines", x: points.map(([x]) => x), y: points.map(([, y]) => y),
    line: { color: color((k === 0) === dearer ? "--costly" : "--cheap"), width: 2.5, dash: k ? "dot" : "solid" },
  }));
  if (arcs.length) way.line = { color: color("--quiet"), width: 1, dash: "dot" };
  const marks = {
    ...base, ...at(ends), mode: "markers",
    marker: { size: size + (solid ? 2 : 4), color: ink, line: { color: color("--back"), width: 1.5 } },
  };
  const from = rings(near.from, color("--from"), solid ? 2 : 6);
  const to = rings(near.to, color("--to"), solid ? 5 : 12);
  return [cloud, from, to, way, marks, ...waysBent, ...(turns && solid ? solidTurn(base) : [])];
}

function theme() {
  const lines = { gridcolor: color("--grid"), linecolor: color("--line"), zeroline: false, tickfont: { size: 11 } };
  const titled = (text, more) => ({ ...lines, ...more, title: { text, font: { size: 12 } } });
  const up = turns || !record.has_height ? `x${m}` : solid && narrow ? "height" : "height (up costs more)";
  Object.assign(layout, {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: color("--quiet"), family: getComputedStyle(document.body).fontFamily },
    hoverlabel: {
      bgcolor: color("--panel"), bordercolor: color("--line"), font: { color: color("--text"), size: 13 }, align: "left",
    },
  });
  if (solid) {
    const spans = ranges.map(([low, high]) => high - low);
    const [x, y, z] = spans.map((span) => (1.5 * span) / Math.hypot(...spans)); // as wide as the camera sees
    const ranged = (text, k) => titled(text, { showspikes: false, range: ranges[k].slice() });
    const [xaxis, yaxis, zaxis] = ["x1", "x2", up].map(ranged);
    Object.assign(layout.scene, { xaxis, yaxis, zaxis, aspectmode: "manual", aspectratio: { x, y, z } });
  } else {
    Object.assign(layout.xaxis, m > 1 ? titled("x1") : titled("", { showticklabels: false }));
    Object.assign(layout.yaxis, titled(up));
  }
}

function start() {
  layout = {
    margin: solid ? { l: 0, r: 0, t: 0, b: 0 } : { l: 58, r: 14, t: 44, b: 42 },
    dragmode: solid ? "turntable" : "pan", // a turntable keeps up up
    hovermode: "closest",
    hoverdistance: touch ? 30 : 20,
    showlegend: false,
  };
  if (solid) layout.scene = { camera: structuredClone(front) }; // plotly keeps, and changes, what it is given
  else {
    layout.xaxis = { range: ranges[0].slice() };
    layout.yaxis = { range: ranges[1].slice(), scaleanchor: "x", scaleratio: 1 };
  }
  paint();
  theme();
  const config = { responsive: true, displayModeBar: false, scrollZoom: true, doubleClick: false };
  Plotly.newPlot(plot, traces(), layout, config).then(() => {
    if (solid) listenForPicks();
    else plot.on("plotly_click", ({ points: [hit] }) => hit && pick(hit.pointNumber));
    if (!solid) plot.on("plotly_relayout", draw);
    draw(); // once more, now that the axes tell where labels have room
    document.documentElement.dataset.ready = "yes";
  });
  addEventListener("resize", () => setTimeout(draw, 150));
  dark.addEventListener("change", () => {
    paint();
    theme();
    drawCompass();
    draw();
  });
}

/** Where the camera sees each point: pixels from the left and the top of the plot, and the depth. */
function projected() {
  const minus = (u, v) => u.map((x, k) => x - v[k]);
  const dot = (u, v) => u.reduce((sum, x, k) => sum + x * v[k], 0);
  const cross = ([a, b, c], [d, e, f]) => [b * f - c * e, c * d - a * f, a * e - b * d];
  const unit = (u) => u.map((x) => x / Math.hypot(...u));
  const xyz = ({ x, y, z }) => [x, y, z];
  const { eye, center, up: zenith = { x: 0, y: 0, z: 1 } } = camera();
  const [position, ratio] = [xyz(eye), xyz(layout.scene.aspectratio)];
  const ahead = unit(minus(xyz(center), position));
  const right = unit(cross(ahead, xyz(zenith)));
  const up = cross(right, ahead);
  const focal = plot.clientHeight / 2 / Math.tan(Math.PI / 8); // plotly's camera sees 45 degrees from top to bottom
  const axes = [across, along, height];
  return (i) => {
    const share = (values, [low, high]) => (values[i] - low) / (high - low);
    const place = axes.map((values, k) => ratio[k] * (share(values, ranges[k]) - 0.5));
    const ray = minus(place, position);
    const depth = dot(ray, ahead);
    const [x, y] = [right, up].map((direction) => (focal * dot(ray, direction)) / depth);
    return [plot.clientWidth / 2 + x, plot.clientHeight / 2 - y, depth];
  };
}

/** Clicks and taps on a 3-D map; plotly itself misses short ones, and most taps. */
function listenForPicks() {
  let down = null;
  plot.addEventListener("pointerdown", (event) => (down = event.isPrimary ? event : null), true);
  plot.addEventListener("pointerup", (event) => {
    const moved = down ? Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) : Infinity;
    const reach = event.pointerType === "touch" ? 24 : 10;
    if (moved > reach / 2 || event.button !== 0) return;
    const box = plot.getBoundingClientRect();
    const [project, body] = [projected(), size + 1];
    const hits = labels.map((_, i) => {
      const [x, y, depth] = project(i);
      const off = Math.hypot(x + box.left - event.clientX, y + box.top - event.clientY);
      return { i, depth, off: Math.max(body, off) }; // of those that it meets, the foremost; else the nearest
    }).filter(({ off, depth }) => depth > 0 && off < reach);
    if (hits.length) pick(hits.sort((p, q) => p.off - q.off || p.depth - q.depth)[0].i);
  }, true);
}

function draw() {
  (solid ? layout.scene : layout).annotations = [...annotations(), ...(turns ? ringLabels() : [])];
  if (turns && !solid) layout.shapes = flatTurn();
  if (solid) layout.scene.camera = camera();
  return Plotly.react(plot, traces(), layout);
}

function zoom(factor) {
  if (solid) {
    const { x, y, z } = camera().eye;
    return Plotly.relayout(plot, { "scene.camera.eye": { x: x * factor, y: y * factor, z: z * factor } });
  }
  const { xaxis, yaxis } = plot._fullLayout;
  const grown = ([low, high]) => [low, high].map((end) => (low + high) / 2 + (factor * (end - (low + high) / 2)));
  return Plotly.relayout(plot, { "xaxis.range": grown(xaxis.range), "yaxis.range": grown(yaxis.range) });
}

function goHome() {
  const flat = { "xaxis.range": ranges[0].slice(), "yaxis.range": ranges[1].slice() };
  return Plotly.relayout(plot, solid ? { "scene.camera": structuredClone(front) } : flat);
}

/** How far one unit of cost reaches in each direction: an ellipse with the start in a focus. */
function drawCompass() {
  const [strength, angle] = compassDrift();
  $("compass").hidden = !strength;
  if (!strength) return;
  const svg = (tag, attributes, parent) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (parent) parent.append(made);
    return made;
  };
  const unit = 24 * (1 - strength ** 2); // pixels; keeps the ellipse 48 long
  const [tall, wide] = [unit / (1 - strength ** 2), unit / Math.sqrt(1 - strength ** 2)];
  const line = { fill: "none", stroke: "currentColor", "stroke-width": 1.5 };
  const half = swirl ? 24 : wide; // a turned ellipse may need the whole box
  const box = { width: 2 * half + 4, height: 52, viewBox: `${-half - 2} -26 ${2 * half + 4} 52` };
  const picture = svg("svg", { ...box, "aria-hidden": "true" });
  const drawn = svg("g", { transform: `rotate(${90 - angle})` }, picture);
  const focus = -strength * tall; // svg's y points down: the start lies above the center, so that down is longer
  svg("ellipse", { rx: wide, ry: tall, ...line }, drawn);
  for (const end of [-tall, tall]) {
    const tip = 5 * Math.sign(end);
    svg("path", { d: `M0 ${focus}V${end}M-4 ${end - tip}L0 ${end}L4 ${end - tip}`, ...line }, drawn);
  }
  svg("circle", { cy: focus, r: 3, fill: "currentColor" }, drawn);
  const from = swirl ? ` from ${cut(labels[compassPoint()], 20)}` : "";
  $("compass").replaceChildren(picture, element("figcaption", `how far the same cost takes you${from}, each way`));
}
/** Where the drift turns, the compass is that of A; before there is one, that of the point where the drift is largest. */
function compassPoint() {
  if (state.a !== null) return state.a;
  const sizes = labels.map((_, i) => Math.hypot(...driftAt(i)));
  return sizes.indexOf(extent(sizes)[1]);
}
/** Strength and direction, in degrees from the first axis, of the drift that the compass shows: 0 where it shows none. */
function compassDrift() {
  if (!swirl) return [alpha, 90];
  if (m !== 2) return [0, 0];
  const [x, y] = driftAt(compassPoint());
  return [Math.min(Math.hypot(x, y), 0.98), (Math.atan2(y, x) * 180) / Math.PI];
}
