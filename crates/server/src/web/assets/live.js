// Fetches the live parts of a page anew when the server says that something has changed.
// One connection for each visible page only: browsers allow few of them to one server.
"use strict";
(() => {
  const live = document.getElementById("live");
  if (!live) return;
  const offline = document.getElementById("offline");
  let source = null;

  const changed = () => htmx.trigger(document.body, "news");

  function open() {
    if (source || document.hidden) return;
    source = new EventSource("/live");
    source.addEventListener("hello", () => {
      offline.hidden = true;
      // What happened while nobody listened, or since the page was written.
      changed();
    });
    source.addEventListener("changed", changed);
    source.addEventListener("error", () => {
      close();
      offline.hidden = document.hidden;
      setTimeout(open, 2000);
    });
  }

  function close() {
    if (source) source.close();
    source = null;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);

  // What somebody has opened, ticked or is typing stays as it is when its surroundings are replaced.
  let kept = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    const target = event.detail.target;
    if (target.id !== "live") return;
    const typing = target.contains(document.activeElement) && document.activeElement.matches("input:not([type=checkbox]), textarea, select");
    if (typing) event.detail.shouldSwap = false;
    kept = {
      open: [...target.querySelectorAll("details[open][id]")].map((it) => it.id),
      ticked: [...target.querySelectorAll("input[type=checkbox][id]:checked")].map((it) => it.id),
    };
  });
  document.addEventListener("htmx:afterSwap", () => {
    if (!kept) return;
    for (const id of kept.open) document.getElementById(id)?.setAttribute("open", "");
    for (const id of kept.ticked) {
      const box = document.getElementById(id);
      if (box) box.checked = true;
    }
    kept = null;
    document.dispatchEvent(new Event("danlu:restored"));
  });

  // How busy GPUs are changes without anybody's doing.
  if ("refresh" in live.dataset) setInterval(() => source && changed(), 10000);
  // htmx looks for what to listen to when the page is whole: a hello before that would be lost.
  const begin = () => setTimeout(open);
  if (document.readyState === "complete") begin();
  else window.addEventListener("load", begin);
})();
