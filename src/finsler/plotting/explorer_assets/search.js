// ---- Search: labels first, then what is known of the points -------------------------------------------------------
const search = $("search");
const matches = $("matches");
const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const folded = labels.map(fold);
const twins = new Set(labels).size < n;
let found = [], active = 0;

let foldedWords = null; // of each point the words about it, with their column; made when first asked for
function wordsAbout(i) {
  const worded = columns.filter(({ words }) => words);
  foldedWords ??= labels.map((_, j) => worded.flatMap((column) => (
    column.words[j] === null ? [] : [{ column, text: fold(column.words[j]) }])));
  return foldedWords[i];
}

/** Points that match: how well, and by which column if not by the label. Of numbers, only the whole number matches. */
function hitsOf(asked) {
  const rank = (text) => (text === asked ? 0 : text.startsWith(asked) ? 1 : text.includes(asked) ? 2 : 9);
  const numbers = told.filter((column) => column.numbers);
  const hits = [];
  for (let i = 0; i < n; i++) {
    const own = rank(folded[i]);
    if (own < 9) {
      hits.push({ i, rank: own });
      continue;
    }
    const about = wordsAbout(i).map(({ column, text }) => ({ i, column, rank: 3 + rank(text) }));
    for (const column of numbers) if (fold(cell(column, i)).replace("−", "-") === asked) about.push({ i, column, rank: 3 });
    const best = about.sort((p, q) => p.rank - q.rank)[0];
    if (best?.rank < 9) hits.push(best);
  }
  return hits.sort((p, q) => p.rank - q.rank || p.i - q.i);
}

function find() {
  const asked = fold(search.value.trim());
  const hits = asked ? hitsOf(asked) : [];
  found = hits.slice(0, 8).map(({ i }) => i);
  active = 0;
  matches.replaceChildren(...hits.slice(0, 8).map(({ i, column }, place) => {
    const option = element("li", twins ? `${labels[i]} (point ${i})` : labels[i]);
    if (column) option.append(" ", element("span", `${cut(column.name, 20)}: ${cut(cell(column, i), 40)}`, "quiet"));
    option.id = `match-${place}`;
    option.setAttribute("role", "option");
    option.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the focus in the field
    option.addEventListener("click", () => take(place));
    return option;
  }));
  if (asked && !found.length) matches.append(element("li", "no point is called that, or has it among its attributes", "none"));
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
/** Choose a point and leave the field: keys then mean what the page says. */
function take(place) {
  if (found[place] === undefined) return;
  pick(found[place]);
  reveal();
  closeSearch();
}
function closeSearch() {
  search.value = "";
  find();
  plot.focus({ preventScroll: true });
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
  else if (event.key === "Escape") {
    closeSearch();
    event.stopPropagation(); // the first Escape leaves the field, the next one clears the points
  } else return;
  event.preventDefault();
});
