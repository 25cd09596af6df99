// ---- Panel -----------------------------------------------------------------------------------------------------
const near = { from: [], to: [] };

function value(id, text, exact) {
  $(id).textContent = text;
  if (exact === undefined) delete $(id).dataset.value;
  else $(id).dataset.value = exact;
}

function describe(id, i) {
  const about = [...told.map((column) => `${column.name} ${cut(cell(column, i))}`), doubt(i)].filter(Boolean).join(", ");
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
  showArcs();
  showRoutes();
  $("disagree").hidden = b === null || !disagree(a, b);
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
  $("readout").textContent = `${ends} ${measured(there, 4)}, back ${measured(back, 4)}`;
  const ratio = Math.max(there, back) / Math.min(there, back);
  const [from, to] = there > back ? [a, b] : [b, a];
  $("sentence").textContent = there + back === 0 ? "The two points lie on the same spot."
    : !(ratio > 1 + 1e-9) ? "On the map both ways cost the same."
    : `On the map, from ${labels[from]} to ${labels[to]} ${against(from, to)}costs ${number(ratio, 3)} times the way back.`
      + aboutTriangle(from, to);
  const [known, knownBack] = [datum(a, b).value, datum(b, a).value];
  const costlier = Math.max(known, knownBack) / Math.min(known, knownBack);
  $("disagree").textContent = `Map and data disagree about the costlier way: in the data, from ${labels[to]} to ${labels[from]} `
    + `costs ${number(costlier, 3)} times the way back.`;
}

/** How many arcs of A are drawn. */
function showArcs() {
  $("arcs-told").hidden = !arcs || state.a === null || state.b !== null;
  if ($("arcs-told").hidden) return;
  const key = (side, text) => [element("span", "", `dash ${side}`), text];
  const [out, back] = [leaving(state.a).length, entering(state.a).length];
  $("arcs-told").replaceChildren(...key("from", `${plural(out, "arc")} out `), ...key("to", `${plural(back, "arc")} in`));
}

/** The fastest ways along the arcs, there and back, by the points on them. */
function showRoutes() {
  const found = routes();
  $("routes").hidden = !found.length;
  const isCostly = (found[0]?.length ?? Infinity) > (found[1]?.length ?? Infinity);
  $("routes").replaceChildren(...found.map((way, k) => {
    const entry = element("p");
    entry.append(element("span", "", `dash ${k ? "back" : ""} ${(k === 0) === isCostly ? "costly" : "cheap"}`));
    const names = way?.points.map((i) => cut(labels[i], 24)) ?? [];
    const most = names.length > 8 ? [...names.slice(0, 4), `… ${names.length - 7} more …`, ...names.slice(-3)] : names;
    const [there, none] = k ? ["Back", "No way back"] : ["Along the arcs", "No way there"];
    entry.append(way ? `${there}: ${measured(way.length)}, ${plural(names.length - 1, "arc")}: ${most.join(" → ")}` : `${none} along the arcs.`);
    return entry;
  }));
}

/** Fill a list with buttons: one stop for Tab, arrows move inside. */
function fill(list, items, act) {
  const hadFocus = list.contains(document.activeElement);
  list.replaceChildren(...items.map(({ name, text, index, flag }, place) => {
    const button = element("button");
    button.type = "button";
    button.tabIndex = place === 0 ? 0 : -1;
    button.title = name;
    button.dataset.index = index;
    button.append(element("span", name, "name"), element("span", text, "value"));
    if (flag) {
      const mark = element("abbr", "⇄", "flag");
      mark.title = flag;
      button.querySelector(".value").prepend(mark, " ");
    }
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
    fill($(`nearest-${side}`), items, ({ index }) => choose(state.a, index).then(reveal));
    const heading = `${side} ${cut(labels[a], 30)}${unit ? `, ${unit}` : ""}`;
    $(`${side}-heading`).replaceChildren(element("span", "", `ring ${side}`), heading);
  }
  $("near-lists").classList.toggle("stacked", [...near.from, ...near.to].some((i) => labels[i].length > 9));
}

function showFacts(list, rows) {
  for (const [name, text] of rows) {
    list.append(element("dt", name.trim(), name.startsWith(" ") ? "part" : ""), element("dd", text));
  }
}

/** What up means: on the map, and where points are at their real places. */
function showCaption() {
  const ratio = number((1 + alpha) / (1 - alpha), 3);
  $("caption").textContent = swirl ? record.turning : alpha === 0
    ? "This map is symmetric (alpha = 0): the way there costs as much as the way back."
    : `Going up costs more than coming down: straight up costs ${ratio} times as much as straight down `
      + `(alpha = ${number(alpha, 3)}). Level ways cost the same both ways.`;
  const byHeight = columns[state.column].name === "height";
  const up = !record.has_height ? "." : byHeight ? "; up is told by the color, height." : "; color them by height to see up.";
  const here = ` Here points are at their real places${up}`;
  if (state.view !== "map") $("caption").textContent += here;
}

function showOnce() {
  showCaption();
  $("shown").textContent = record.shown;
  $("unit").textContent = unit;
  const notes = record.notes.slice();
  if (m >= 3 && !webgl) notes.push("This browser has no WebGL, so the map is drawn flat: its first axis and the height.");
  $("notes").replaceChildren(...notes.map((note) => element("li", note)));
  columns.forEach(({ name }, c) => $("color").append(new Option(name, c)));
  $("color").value = state.column;
  $("labels").checked = state.labels;
  $("ellipses").parentElement.hidden = !record.confidence;
  $("arcs").parentElement.hidden = !arcs;
  $("view").parentElement.hidden = !places;
  if (places) $("view").lastElementChild.textContent = record.places.geographic ? "on the globe" : "real places";
  $("k").max = Math.max(1, Math.min(50, n - 1));
  fill($("worst"), worst.map(([i, j]) => {
    const wrong = misfit(distance(i, j), datum(i, j));
    const flag = disagree(i, j) ? "map and data disagree about the costlier way" : "";
    return { name: `${labels[i]} → ${labels[j]}`, text: signed(wrong, 3), index: `${i} ${j}`, i, j, flag };
  }), ({ i, j }) => choose(i, j).then(reveal));
  const flagged = worst.some(([i, j]) => disagree(i, j)) ? " ⇄: map and data disagree about the costlier way." : "";
  $("worst-note").textContent = !record.worst ? "The data was not kept with this map."
    : !worst.length ? "The map shows every known pair as it is."
    : `Map minus data${unit ? `, ${unit}` : ""}, ${record.weighted ? "the largest weighted errors" : "the largest errors"} first.${flagged}`;
  showFacts($("fit"), record.fit);
  $("report").hidden = !record.report;
  if (record.report) {
    $("verdict").textContent = record.report.verdict;
    showFacts($("facts"), record.report.rows);
  }
}

