// ---- Buttons and keys ------------------------------------------------------------------------------------------
const clear = () => choose(null, null);
$("swap").addEventListener("click", swap);
$("clear").addEventListener("click", clear);
$("zoom-in").addEventListener("click", () => zoom(1 / 1.4));
$("zoom-out").addEventListener("click", () => zoom(1.4));
$("zoom-home").addEventListener("click", goHome);
$("save").addEventListener("click", savePicture);
$("view").addEventListener("change", (event) => setView(event.target.value));
$("color").addEventListener("change", (event) => {
  Object.assign(state, { column: Number(event.target.value), group: null });
  paint();
  showCaption();
  draw();
});
for (const layer of ["labels", "ellipses", "arcs"]) {
  $(layer).addEventListener("change", (event) => {
    state[layer] = event.target.checked;
    draw();
  });
}
$("k").addEventListener("input", (event) => {
  const k = Math.floor(Number(event.target.value));
  if (!(k >= 1)) return;
  state.k = Math.min(k, 50);
  showNearest();
  draw();
});
for (const id of ["nearest-from", "nearest-to", "worst"]) $(id).addEventListener("keydown", moveInList);
root.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") clear();
  else if (event.target.matches("input:not([type=checkbox]), select")) return;
  else if (event.key === "/") {
    event.preventDefault();
    search.focus();
  } else if (event.key.toLowerCase() === "s") swap();
});

showOnce();
showPair();
drawCompass();
return { ready: start(), state, choose, distance, projected, route };
