// ---- Colors and their legend; which color a point gets, Python decided ---------------------------------------------
const color = (name) => getComputedStyle(plot).getPropertyValue(name).trim();
const dark = matchMedia("(prefers-color-scheme: dark)");
let paints = [], symbols = [];

const channels = (text) => (text.startsWith("#") ? [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16))
  : text.match(/[\d.]+/g).slice(0, 3).map(Number));
/** A color that lies between two others. */
function mixed(first, second, share) {
  const [low, high] = [channels(first), channels(second)];
  return `rgb(${low.map((from, c) => Math.round(from + (high[c] - from) * share)).join(",")})`;
}
function shade(share, stops) {
  const place = share * (stops.length - 1);
  const k = Math.min(Math.floor(place), stops.length - 2);
  return mixed(stops[k], stops[k + 1], place - k);
}
const scale = () => record.scale[dark.matches ? "dark" : "light"];
const isMeasured = (name) => unit && name === "height" && record.has_height; // heights are distances

/** Color and mark of each point. */
function paint() {
  const { numbers, ends, codes, groups } = columns[state.column];
  const { missing } = record;
  let marks, isKnown;
  if (numbers) {
    const [stops, share] = [scale(), (x) => (ends[1] > ends[0] ? (x - ends[0]) / (ends[1] - ends[0]) : 0.5)];
    isKnown = Array.from(numbers, Number.isFinite);
    paints = Array.from(numbers, (x, i) => (isKnown[i] ? shade(share(x), stops) : missing));
    marks = isKnown.map(() => "circle");
  } else {
    isKnown = codes.map((code) => code >= 0);
    paints = codes.map((code) => groups[code]?.[1] ?? missing);
    marks = codes.map((code) => groups[code]?.[2]);
  }
  symbols = marks.map((mark, i) => (isKnown[i] ? mark : "circle-open"));
  showLegend(isKnown.includes(false));
}

/** Groups are buttons: one that is pressed stands out on the map. */
function showLegend(someUnknown) {
  const { name, numbers, ends, groups } = columns[state.column];
  const legend = $("legend");
  legend.replaceChildren(element("span", isMeasured(name) ? `${name}, ${unit}` : name, "title"));
  const key = (shown, mark, text, code) => {
    const [entry, dot] = [element(numbers ? "span" : "button", text), element("i", "", mark)];
    dot.style.color = shown;
    entry.prepend(dot);
    if (!numbers) {
      entry.type = "button";
      entry.setAttribute("aria-pressed", state.group === code);
      entry.title = "Show which points these are";
      entry.addEventListener("click", () => {
        state.group = state.group === code ? null : code;
        for (const other of legend.querySelectorAll("button")) other.setAttribute("aria-pressed", other === entry && state.group === code);
        draw();
      });
    }
    legend.append(entry);
  };
  if (numbers && ends) {
    const bar = element("i", "", "scale");
    bar.style.background = `linear-gradient(to right, ${scale().join(", ")})`;
    const whole = element("span", "", "numbers");
    whole.append(element("span", number(ends[0], 4)), bar, element("span", number(ends[1], 4)));
    legend.append(whole);
  }
  for (const [code, [word, shown, mark]] of (groups || []).entries()) key(shown, mark, cut(word, 40), code);
  if (someUnknown) key(record.missing, "hollow", "unknown", -1);
}

/** Points of the group that stands out; null while none does. */
function lit() {
  const { codes } = columns[state.column];
  return state.group === null || !codes ? null : labels.map((_, i) => i).filter((i) => codes[i] === state.group);
}
