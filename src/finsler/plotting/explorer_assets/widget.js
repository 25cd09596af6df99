// The widget of a notebook: the page in a frame that may run its script and nothing else. What is chosen on the page comes
// as a message from the frame, see bridge.js, and goes on to Python.

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.title = "Map";
  frame.style.cssText = "width:100%;border:0;display:block";
  const resize = () => { frame.style.height = `${model.get("height")}px`; };
  resize();
  frame.srcdoc = model.get("_page");
  const listen = (event) => {
    const chosen = event.source === frame.contentWindow && event.data && event.data.finslerChosen;
    if (!Array.isArray(chosen) || chosen.length > 2 || !chosen.every(Number.isInteger)) return;
    model.set("_chosen", chosen);
    model.save_changes();
  };
  window.addEventListener("message", listen);
  model.on("change:height", resize);
  el.append(frame);
  return () => {
    window.removeEventListener("message", listen);
    model.off("change:height", resize);
  };
}

export default { render };
