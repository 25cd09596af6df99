// The explorer's script is the body of one function, explorer(root, record, Plotly): these files in a row, in the order of
// SCRIPTS in explorer.py. `root` is the document, a shadow root or an element that holds body.html; `record` is what Python
// wrote. This part reads the record, and measures; it draws nothing.

const $ = (id) => root.querySelector(`#${id}`);
const { labels, drift, swirl, unit, dimension: m } = record;
const n = labels.length;
const alpha = swirl ? 0 : drift[m - 1]; // of a drift that turns, the arrows of the key would tell one place only
const X = new Float64Array(unpack(record.coordinates));
const columns = record.columns.map((column) => ( // of numbers or of words, one a point
  column.numbers ? { ...column, numbers: new Float64Array(unpack(column.numbers)) } : column));
const data = record.data && new Float32Array(unpack(record.data.values));
const worst = record.worst || [];
const worstData = new Map(worst.map(([i, j, value]) => [i * n + j, value]));

function unpack(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

// ---- Measuring -------------------------------------------------------------------------------------------------
const climb = new Float64Array(n); // drift . x
for (let i = 0; i < n; i++) for (let k = 0; k < m; k++) climb[i] += drift[k] * X[i * m + k];

/** Cost of the cheapest way over a chord, an arc, without its skew part; straight where ways are. */
function chord(e) {
  const kappa = record.geodesic ? Math.abs(swirl[1][0]) : 0;
  const t = Math.min(kappa * e, 1);
  return t < 1e-4 ? e * (1 - t * t / 6) : (Math.asin(t) + t * Math.sqrt(1 - t * t)) / (2 * kappa);
}

/** Distance on the map from i to j: ||x_j - x_i|| + (drift + swirl x_i) . (x_j - x_i). */
function distance(i, j) {
  let square = 0, turn = 0;
  for (let k = 0; k < m; k++) {
    const u = X[j * m + k] - X[i * m + k];
    square += u ** 2;
    if (swirl) for (let l = 0; l < m; l++) turn += swirl[k][l] * X[i * m + l] * u;
  }
  return chord(Math.sqrt(square)) + (climb[j] - climb[i]) + turn;
}

/** What the data says from i to j: a value, a bound ("at least"), or a word for why there is neither. */
function datum(i, j) {
  let value = worstData.get(i * n + j); // in full precision, and there even if the matrix is not
  if (value === undefined && data) value = data[i * n + j] * record.data.unit;
  if (value === undefined) return { word: record.without_data };
  if (Number.isNaN(value)) return { word: "unknown" };
  if (value === Infinity) return { word: "unreachable" };
  return value < 0 ? { bound: -value } : { value };
}

function misfit(map, { value, bound }) {
  return bound === undefined ? map - value : Math.min(0, map - bound);
}

/** Whether map and data disagree about which way is the costlier one; data come in single precision. */
function disagree(i, j) {
  const [there, back] = [datum(i, j).value, datum(j, i).value];
  if (there === undefined || back === undefined) return false;
  const [map, known] = [distance(i, j) - distance(j, i), there - back];
  const tells = Math.abs(known) > 1e-6 * (there + back) && Math.abs(map) > 1e-9 * (distance(i, j) + distance(j, i));
  return tells && map * known < 0;
}

function nearest(a, k, way) {
  const far = Float64Array.from({ length: n }, (_, i) => way(a, i));
  const order = Array.from({ length: n }, (_, i) => i).filter((i) => i !== a);
  return order.sort((i, j) => far[i] - far[j] || i - j).slice(0, k).map((i) => [i, far[i]]);
}

// ---- Words -----------------------------------------------------------------------------------------------------
function number(x, digits = 5) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "unknown" : x > 0 ? "∞" : "−∞";
  const rounded = Math.abs(x) >= 10 ** digits && Math.abs(x) < 1e15 ? Math.round(x) : Number(x.toPrecision(digits));
  return String(rounded).replaceAll("-", "−");
}
const signed = (x, digits) => (x > 0 ? "+" : "") + number(x, digits);
const measured = (x, digits) => number(x, digits) + (unit ? `\u00a0${unit}` : "");
const cut = (text, most = 60) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
const plural = (k, word) => `${k.toLocaleString("en")} ${word}${k === 1 ? "" : "s"}`;
/** Plotly reads some HTML in its texts; this makes any text plain. */
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function cell(column, i) {
  return column.numbers ? number(column.numbers[i]) : (column.words[i] ?? "unknown");
}

const told = columns.filter((column, c) => c !== (record.has_height ? 1 : 0)); // all but the share of the stress

// ---- State: the chosen points a and b, and how the map is shown --------------------------------------------------
const state = {
  a: null, b: null, k: 5, column: record.start, group: null, labels: record.named, ellipses: true, arcs: true, view: "map",
};

function choose(a, b) {
  Object.assign(state, { a, b });
  showPair();
  showNearest();
  if (swirl) drawCompass();
  return draw();
}
/** The first choice is A, the second B, the third begins anew. */
function pick(i) {
  if (state.a === null || state.b !== null) choose(i, null);
  else if (i !== state.a) choose(state.a, i);
}
function swap() {
  if (state.b !== null) choose(state.b, state.a);
}
