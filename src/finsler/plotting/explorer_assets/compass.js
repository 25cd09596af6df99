// ---- The key of the metric: how far the same cost takes you, each way ------------------------------------------------

/** An ellipse with the start in a focus; dotted, the circle that it would be if all ways cost the same. */
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
  const half = swirl ? 26 : wide; // a turned ellipse may need the whole box
  const box = { width: 2 * half + 4, height: 56, viewBox: `${-half - 2} -28 ${2 * half + 4} 56` };
  const picture = svg("svg", { ...box, "aria-hidden": "true" });
  const drawn = svg("g", { transform: `rotate(${90 - angle})` }, picture);
  const focus = -strength * tall; // svg's y points down: the start lies above the center, so that down is longer
  svg("circle", { cy: focus, r: unit, ...line, "stroke-width": 1, "stroke-dasharray": "2 3", opacity: 0.8 }, drawn);
  svg("ellipse", { rx: wide, ry: tall, ...line }, drawn);
  for (const end of [-tall, tall]) {
    const tip = 5 * Math.sign(end);
    svg("path", { d: `M0 ${focus}V${end}M-4 ${end - tip}L0 ${end}L4 ${end - tip}`, ...line }, drawn);
  }
  svg("circle", { cy: focus, r: 3, fill: "currentColor" }, drawn);
  const [costly, cheap] = swirl ? ["the costly way", "the cheap way"] : ["up", "down"];
  const from = swirl ? ` from ${cut(labels[compassPoint()], 20)}` : "";
  const reach = `${number(1 / (1 + strength), 3)} ${costly}, 1 across, ${number(1 / (1 - strength), 3)} ${cheap}`;
  $("compass").replaceChildren(picture, element("figcaption", `How far the same cost takes you${from}: ${reach}`));
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
