// ---- Panel -----------------------------------------------------------------------------------------------------
const near = { from: [], to: [] };

function value(id, text, exact) {
  $(id).textContent = text;
  if (exact === undefined) delete $(id).dataset.value;
  else $(id).dataset.value = exact;
}

function describe(id, i) {
  const about = told.map((column) => `${column.name} ${cut(cell(column, i))}`).join(", ");
  $(id).replaceChildren(element("strong", labels[i]), element("span", about, "quiet"));
  $(id).dataset.index = i;
}

function showPair() {
  const { a, b } = state;
  $("swap").disabled = b === null;
  $("clear").disabled = a === null;
  $("measured").hidden = a === null;
  $("distances").hidden = $("sentence").hidden = b === null;
  $("point-b").parentElement.hidden = b === null;
  $("readout").hidden = b === null;
  $("hint").hidden = b !== null;
  const first = "Choose a point, then another: click, tap or search.";
  $("hint").textContent = a === null ? first : "Now choose a second point.";
  if (a !== null) describe("point-a", a);
  if (b === null) return;
  describe("point-b", b);
  for (const [way, i, j] of [["ab", a, b], ["ba", b, a]]) {
    const [map, known] = [distance(i, j), datum(i, j)];
    value(`map-${way}`, number(map), map);
    if (known.word) {
      value(`data-${way}`, known.word);
      value(`error-${way}`, "–");
      continue;
    }
    const wrong = misfit(map, known);
    const isBound = known.bound !== undefined;
    const share = wrong && known.value ? ` (${signed((100 * wrong) / known.value, 2)}\u00a0%)` : "";
    const exact = isBound ? known.bound : known.value;
    value(`data-${way}`, (isBound ? "at least " : "") + number(exact), exact);
    value(`error-${way}`, isBound && wrong === 0 ? "none: far enough" : signed(wrong, 3) + share, wrong);
  }
  const [there, back] = [distance(a, b), distance(b, a)];
  const ends = `${cut(labels[a], 20)} → ${cut(labels[b], 20)}`;
  $("readout").textContent = `${ends} ${number(there, 4)}, back ${number(back, 4)}`;
  const ratio = Math.max(there, back) / Math.min(there, back);
  const [from, to] = there > back ? [a, b] : [b, a];
  $("sentence").textContent = there + back === 0 ? "The two points lie on the same spot."
    : !(ratio > 1 + 1e-9) ? "On the map both ways cost the same."
    : `On the map, from ${labels[from]} to ${labels[to]} ${against(from, to)}costs ${number(ratio, 3)} times the way back.`
      + aboutTriangle(from, to);
}

/** Fill a list with buttons: one stop for Tab, arrows move inside. */
function fill(list, items, act) {
  const hadFocus = list.contains(document.activeElement);
  list.replaceChildren(...items.map(({ name, text, index }, place) => {
    const button = element("button");
    button.type = "button";
    button.tabIndex = place === 0 ? 0 : -1;
    button.title = name;
    button.dataset.index = index;
    button.append(element("span", name, "name"), element("span", text, "value"));
    button.addEventListener("click", () => act(items[place]));
    const row = element("li");
    row.append(button);
    return row;
  }));
  if (hadFocus && items.length) list.querySelector("button").focus();
}

function moveInList(event) {
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const now = buttons.indexOf(document.activeElement);
  const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (next === undefined || !buttons[next]) return;
  event.preventDefault();
  buttons[now].tabIndex = -1;
  buttons[next].tabIndex = 0;
  buttons[next].focus();
}

let nearKey = "";
function showNearest() {
  const { a, k } = state;
  const key = `${a} ${k}`;
  if (key === nearKey) return; // the lists, and the focus in them, stay
  nearKey = key;
  $("near-lists").hidden = a === null;
  $("near-hint").hidden = a !== null;
  near.from = near.to = [];
  if (a === null) return;
  for (const [side, way] of [["from", distance], ["to", (i, j) => distance(j, i)]]) {
    const found = nearest(a, k, way);
    near[side] = found.map(([i]) => i);
    const items = found.map(([i, far]) => ({ name: labels[i], text: number(far, 4), index: i }));
    fill($(`nearest-${side}`), items, ({ index }) => choose(state.a, index));
    $(`${side}-heading`).replaceChildren(element("span", "", `ring ${side}`), `${side} ${cut(labels[a], 30)}`);
  }
  $("near-lists").classList.toggle("stacked", [...near.from, ...near.to].some((i) => labels[i].length > 9));
}

function showFacts(list, rows) {
  for (const [name, text] of rows) {
    list.append(element("dt", name.trim(), name.startsWith(" ") ? "part" : ""), element("dd", text));
  }
}

function showOnce() {
  const ratio = number((1 + alpha) / (1 - alpha), 3);
  $("caption").textContent = swirl ? record.turning : alpha === 0
    ? "This map is symmetric (alpha = 0): the way there costs as much as the way back."
    : `Going up costs more than coming down: straight up costs ${ratio} times as much as straight down `
      + `(alpha = ${number(alpha, 3)}). Level ways cost the same both ways.`;
  const notes = record.notes.slice();
  if (m >= 3 && !webgl) notes.push("This browser has no WebGL, so the map is drawn flat: its first axis and the height.");
  $("notes").replaceChildren(...notes.map((note) => element("li", note)));
  columns.forEach(({ name }, c) => $("color").append(new Option(name, c)));
  $("color").value = state.column;
  $("labels").checked = state.labels;
  $("labels").parentElement.hidden = solid && n > LABELS_3D;
  $("k").max = Math.max(1, Math.min(50, n - 1));
  fill($("worst"), worst.map(([i, j]) => {
    const wrong = misfit(distance(i, j), datum(i, j));
    return { name: `${labels[i]} → ${labels[j]}`, text: signed(wrong, 3), index: `${i} ${j}`, i, j };
  }), ({ i, j }) => choose(i, j));
  $("worst-note").textContent = !record.worst ? "The data was not kept with this map."
    : !worst.length ? "The map shows every known pair as it is."
    : `Map minus data, ${record.weighted ? "the largest weighted errors" : "the largest errors"} first.`;
  showFacts($("fit"), record.fit);
  $("report").hidden = !record.report;
  if (record.report) {
    $("verdict").textContent = record.report.verdict;
    showFacts($("facts"), record.report.rows);
  }
}

// ---- Search ----------------------------------------------------------------------------------------------------
const search = $("search");
const matches = $("matches");
const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const folded = labels.map(fold);
const twins = new Set(labels).size < n;
let found = [], active = 0;

function find() {
  const asked = fold(search.value.trim());
  const rank = (text) => (text === asked ? 0 : text.startsWith(asked) ? 1 : text.includes(asked) ? 2 : 3);
  const ranked = asked ? folded.map((text, i) => [rank(text), i]).filter(([r]) => r < 3) : [];
  const hits = ranked.sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  found = hits.slice(0, 8).map(([, i]) => i);
  active = 0;
  matches.replaceChildren(...found.map((i, place) => {
    const option = element("li", twins ? `${labels[i]} (point ${i})` : labels[i]);
    option.id = `match-${place}`;
    option.setAttribute("role", "option");
    option.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the focus in the field
    option.addEventListener("click", () => take(place));
    return option;
  }));
  if (asked && !found.length) matches.append(element("li", "no point is called that", "none"));
  if (hits.length > found.length) matches.append(element("li", `and ${hits.length - found.length} more`, "none"));
  openMatches(Boolean(asked));
}
function openMatches(open) {
  matches.hidden = !open;
  search.setAttribute("aria-expanded", open);
  found.forEach((_, place) => $(`match-${place}`).setAttribute("aria-selected", place === active));
  if (open && found.length) search.setAttribute("aria-activedescendant", `match-${active}`);
  else search.removeAttribute("aria-activedescendant");
}
function take(place) {
  if (found[place] === undefined) return;
  pick(found[place]);
  closeSearch();
}
function closeSearch() {
  search.value = "";
  find();
}

search.addEventListener("input", find);
search.addEventListener("focus", () => search.value && openMatches(true));
search.addEventListener("blur", () => openMatches(false));
search.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && found.length) {
    active = (active + step + found.length) % found.length;
    openMatches(true);
  } else if (event.key === "Enter") take(active);
  else if (event.key === "Escape" && search.value) {
    closeSearch();
    event.stopPropagation(); // the first Escape empties the field, the next one clears the points
  } else return;
  event.preventDefault();
});

// ---- Buttons and keys ------------------------------------------------------------------------------------------
const clear = () => choose(null, null);
$("swap").addEventListener("click", swap);
$("clear").addEventListener("click", clear);
$("zoom-in").addEventListener("click", () => zoom(1 / 1.4));
$("zoom-out").addEventListener("click", () => zoom(1.4));
$("zoom-home").addEventListener("click", goHome);
$("color").addEventListener("change", (event) => {
  state.column = Number(event.target.value);
  paint();
  draw();
});
$("labels").addEventListener("change", (event) => {
  state.labels = event.target.checked;
  draw();
});
$("k").addEventListener("input", (event) => {
  const k = Math.floor(Number(event.target.value));
  if (!(k >= 1)) return;
  state.k = Math.min(k, 50);
  showNearest();
  draw();
});
for (const id of ["nearest-from", "nearest-to", "worst"]) $(id).addEventListener("keydown", moveInList);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") return clear();
  if (event.target.matches("input:not([type=checkbox]), select")) return;
  if (event.key === "/") {
    event.preventDefault();
    search.focus();
  } else if (event.key.toLowerCase() === "s") swap();
});

window.explorer = { distance, projected }; // for tests, and for the curious at the console
showOnce();
showPair();
drawCompass();
start();
