// On the page inside a widget: tells the notebook around it which points are chosen, as their numbers on the page. It reads
// what the panel shows, so that the page itself need not know of widgets.
{
  const panel = document.getElementById("pair");
  let last = "";
  const tell = () => {
    const chosen = ["point-a", "point-b"].map((id) => document.getElementById(id))
      .filter((place) => place.dataset.index !== undefined && !place.closest("[hidden]"))
      .map((place) => Number(place.dataset.index));
    if (String(chosen) === last) return;
    last = String(chosen);
    window.parent.postMessage({ finslerChosen: chosen }, "*"); // numbers only: whoever hears them learns nothing
  };
  new MutationObserver(tell).observe(panel, { attributes: true, subtree: true, childList: true });
}
