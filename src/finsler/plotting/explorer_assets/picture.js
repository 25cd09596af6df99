// ---- Picture: what plotly draws ----------------------------------------------------------------------------------
let layout = null;
const hoverTexts = labels.map((label, i) => {
  const about = told.map((column) => plain(cut(`${column.name}: ${cell(column, i)}`)));
  return [`<b>${plain(cut(label))}</b>`, ...about, ...(doubt(i) ? [plain(doubt(i))] : [])].join("<br>");
});

function traces() {
  const { a, b } = state;
  const [kind, ink, spot] = [inSpace() ? "scatter3d" : "scatter", color("--text"), size()];
  const base = { type: kind, hoverinfo: "skip", showlegend: false };
  const ends = [a, b].filter((i) => i !== null);
  const gl = inSpace() || !webgl ? kind : "scattergl"; // it lies above the rest, in the order of the traces
  const rings = (name, points, color, extra) => ({
    ...base, name, type: gl, ...at(points), mode: "markers",
    marker: { symbol: "circle-open", size: spot + extra, color, line: { color, width: 2.5 } },
  });
  const shown = lit();
  const isLit = shown && new Set(shown);
  const rim = (symbol) => (symbol === "circle-open" ? 1.5 : 0.5);
  const sized = (body, marks) => (inSpace() ? marks.map((mark) => body * (mark === "square" ? 1.6 : 1)) : body); // plotly's are smaller there
  const cloud = {
    ...base, name: "points", type: gl, mode: "markers", ...named(axes()),
    hoverinfo: touch ? "none" : "text", hovertext: hoverTexts,
    marker: {
      size: sized(spot, symbols), symbol: symbols, opacity: 0.95,
      color: isLit ? paints.map((paint, i) => (isLit.has(i) ? paint : mixed(paint, color("--back"), 0.8))) : paints,
      line: { color: color("--back"), width: inSpace() ? 0 : symbols.map(rim) },
    },
  };
  const way = { ...base, name: "way", type: gl, ...at(ends), mode: "lines", line: { color: ink, width: inSpace() ? 5 : 2.5 } };
  const ways = cheapWays(base);
  if (ways.length) way.line = { color: color("--quiet"), width: 1, dash: "dot" };
  const marks = {
    ...base, name: "ends", type: gl, ...at(ends), mode: "markers",
    marker: { size: spot + (inSpace() ? 2 : 4), color: ink, line: { color: color("--back"), width: 1.5 } },
  };
  const from = rings("from", near.from, color("--from"), inSpace() ? 2 : 6);
  const to = rings("to", near.to, color("--to"), inSpace() ? 5 : 12);
  return [
    cloud,
    ...(shown ? [{ ...base, name: "lit", type: gl, mode: "markers", ...at(shown), marker: {
      ...cloud.marker, size: sized(spot + 1, shown.map((i) => symbols[i])), opacity: 1, symbol: shown.map((i) => symbols[i]), color: shown.map((i) => paints[i]),
      line: { ...cloud.marker.line, width: inSpace() ? 0 : 1 },
    } }] : []),
    ...(record.confidence && state.ellipses && state.view === "map"
      ? [{ ...base, name: "ellipses", mode: "lines", ...lines(ellipses()), line: { color: color("--quiet"), width: 1 } }] : []),
    ...(arcs && state.arcs && a !== null && b === null ? [
      arrows(base, "arcs out", leaving(a).map((i) => [a, i]), color("--from"), { width: inSpace() ? 3 : 1.5 }),
      arrows(base, "arcs in", entering(a).map((i) => [i, a]), color("--to"), { width: inSpace() ? 3 : 1.5 }),
    ] : []),
    from, to, way, ...ways, marks,
    ...(turns() && solid ? solidTurn(base) : []),
  ];
}

/** Ways there and back where they are not straight: arcs of circles where the drift turns, or along the arcs of a network. */
function cheapWays(base) {
  const { a, b } = state;
  if (b === null) return [];
  const looks = (isCostly, isBack) => ({ color: color(isCostly ? "--costly" : "--cheap"), width: inSpace() ? 5 : 2.5, dash: isBack ? "dot" : "solid" });
  const names = ["way there", "way back"]; // the way there is whole, the way back dotted
  if (record.geodesic && state.view === "map") {
    const isCostly = distance(a, b) > distance(b, a);
    return [arc(a, b), arc(b, a)].map((points, k) => (
      { ...base, name: names[k], ...lines([points]), mode: "lines", line: looks((k === 0) === isCostly, k) }));
  }
  const [there, back] = routes();
  const isCostly = (there?.length ?? Infinity) > (back?.length ?? Infinity);
  return [there, back].flatMap((found, k) => {
    if (!found) return [];
    const { color: paintOf, ...line } = looks((k === 0) === isCostly, k);
    return [arrows(base, names[k], steps(found.points), paintOf, line)];
  });
}

function theme() {
  const look = { gridcolor: color("--grid"), linecolor: color("--line"), zeroline: false, tickfont: { size: 11 } };
  const titled = (text, more) => ({ ...look, ...more, title: { text: plain(text), font: { size: 12 } } });
  const of = (text) => (unit ? `${text}, ${cut(unit, 20)}` : text);
  Object.assign(layout, {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: color("--quiet"), family: getComputedStyle(plot).fontFamily },
    hoverlabel: {
      bgcolor: color("--panel"), bordercolor: color("--line"), font: { color: color("--text"), size: 13 }, align: "left",
    },
  });
  const up = turns() || !record.has_height ? of(`x${m}`)
    : of(inSpace() ? "height" : "height (up costs more)");
  if (inSpace()) {
    const [x, y, z] = boxSides();
    const ranged = (text, k) => titled(text, { showspikes: false, range: ranges[k].slice() });
    const [xaxis, yaxis, zaxis] = [of("x1"), of("x2"), up].map(ranged);
    Object.assign(layout.scene, { xaxis, yaxis, zaxis, aspectmode: "manual", aspectratio: { x, y, z } });
  } else if (state.view === "places") {
    const degrees = record.places.geographic ? { ticksuffix: "°" } : {};
    Object.assign(layout.xaxis, titled(cut(record.places.names[0], 40), degrees));
    Object.assign(layout.yaxis, titled(cut(record.places.names[1], 40), degrees));
  } else {
    Object.assign(layout.xaxis, m > 1 ? titled(of("x1")) : titled("", { showticklabels: false }));
    Object.assign(layout.yaxis, titled(up));
  }
}

/** The layout of a view, at home. */
function newLayout() {
  ranges = homeRanges();
  layout = {
    margin: inSpace() ? { l: 0, r: 0, t: 0, b: 0 } : { l: 58, r: 14, t: 44, b: 42 },
    dragmode: inSpace() ? "turntable" : "pan", // a turntable keeps up up
    hovermode: "closest",
    hoverdistance: touch ? 30 : 20,
    showlegend: false,
  };
  if (inSpace()) layout.scene = { camera: frontCamera() };
  else {
    layout.xaxis = { range: ranges[0].slice() };
    layout.yaxis = { range: ranges[1].slice(), scaleanchor: "x", scaleratio: stretch() };
  }
  theme();
}

function draw() {
  (inSpace() ? layout.scene : layout).annotations = [...annotations(), ...(turns() ? ringLabels() : [])];
  $("ellipses-told").textContent = record.confidence && state.ellipses && areSmall() ? "smaller than the points" : "";
  if (!inSpace()) layout.shapes = turns() ? flatTurn() : [];
  else layout.scene.camera = camera();
  return Plotly.react(plot, traces(), layout);
}

/** Show the map, or the points where they really are. */
function setView(view) {
  state.view = view;
  newLayout();
  showCaption();
  showPair();
  return Plotly.react(plot, traces(), layout).then(draw); // labels need the new axes
}

function start() {
  paint();
  newLayout();
  const config = { responsive: false, displayModeBar: false, scrollZoom: true, doubleClick: false };
  let width = plot.clientWidth;
  return Plotly.newPlot(plot, traces(), layout, config).then(() => {
    listenForPicks();
    plot.on("plotly_click", ({ points: [hit] }) => hit && !inSpace() && pick(hit.pointNumber));
    plot.on("plotly_relayout", draw);
    new ResizeObserver(() => { // also when the legend takes a second row
      if (!plot.clientWidth) return; // hidden
      Plotly.Plots.resize(plot).then(() => {
        if (inSpace() && width !== plot.clientWidth) goHome();
        width = plot.clientWidth;
        theme();
        draw();
      });
    }).observe(plot);
    dark.addEventListener("change", () => {
      paint();
      theme();
      drawCompass();
      draw();
    });
    return draw(); // once more, now that the axes tell where labels have room
  });
}

/** Clicks and taps on a 3-D map; plotly itself misses short ones, and most taps. */
function listenForPicks() {
  let down = null;
  plot.addEventListener("pointerdown", (event) => (down = event.isPrimary ? event : null), true);
  plot.addEventListener("pointerup", (event) => {
    if (!inSpace()) return;
    const moved = down ? Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) : Infinity;
    const reach = event.pointerType === "touch" ? 24 : 10;
    if (moved > reach / 2 || event.button !== 0) return;
    const box = plot.getBoundingClientRect();
    const [project, body] = [projected(), size() + 1];
    const hits = labels.map((_, i) => {
      const [x, y, depth] = project(i);
      const off = Math.hypot(x + box.left - event.clientX, y + box.top - event.clientY);
      return { i, depth, off: Math.max(body, off) }; // of those that it meets, the foremost; else the nearest
    }).filter(({ off, depth }) => depth > 0 && off < reach);
    if (hits.length) pick(hits.sort((p, q) => p.off - q.off || p.depth - q.depth)[0].i);
  }, true);
}

// ---- Save --------------------------------------------------------------------------------------------------------
const TITLE = 40; // pixels

/** The picture as it stands, with its title and the key of its colors, which the page shows beside it. */
function savedFigure() {
  const { name, numbers, ends, groups } = columns[state.column];
  const kind = { type: inSpace() ? "scatter3d" : "scatter", mode: "markers", hoverinfo: "skip", ...named(axes().map(() => [null])) };
  const keys = (groups || []).map(([word, shown, symbol]) => (
    { ...kind, name: plain(cut(word, 40)), showlegend: true, marker: { color: shown, symbol, size: 9 } }));
  const title = plain(cut(isMeasured(name) ? `${name}, ${unit}` : name, 30));
  if (numbers && ends) {
    const stops = scale().map((stop, k, all) => [k / (all.length - 1), stop]);
    const colorbar = { title: { text: title, side: "right" }, thickness: 12, len: 0.6, outlinewidth: 0 };
    keys.push({ ...kind, showlegend: false, marker: { color: [ends[0]], cmin: ends[0], cmax: ends[1], colorscale: stops, showscale: true, colorbar } });
  }
  const beside = numbers ? 90 : 60 + 7 * Math.max(name.length, ...groups.map(([word]) => word.length), 0); // pixels of the key
  const margin = { ...layout.margin, t: layout.margin.t + TITLE, r: layout.margin.r + Math.min(beside, 320) };
  const saved = {
    ...structuredClone(layout), margin, paper_bgcolor: color("--back"), showlegend: keys.length > 0 && !numbers,
    title: { text: plain(cut(record.title, 100)), font: { size: 16, color: color("--text") } },
    legend: { title: { text: title }, itemsizing: "constant" },
    width: plot.clientWidth + margin.r - layout.margin.r, height: plot.clientHeight + TITLE, // the map keeps its size, and labels fit
  };
  return { data: [...traces(), ...keys], layout: saved, config: {} };
}
function savePicture() {
  const filename = record.title.normalize("NFKD").replace(/[^\w-]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 60) || "map";
  const figure = savedFigure();
  const { width, height } = figure.layout;
  return Plotly.downloadImage(figure, { format: "png", filename, width, height, scale: 2 });
}
