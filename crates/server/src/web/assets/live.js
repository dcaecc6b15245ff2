// Fetches the live parts of a page anew when the server says that something has changed.
// One connection for each visible page only: browsers allow few of them to one server.
"use strict";
(() => {
  const live = document.getElementById("live");
  if (!live) return;
  const offline = document.getElementById("offline");
  let source = null;
  let underWay = false;
  let again = false;

  // One at a time: what changes meanwhile is fetched after it.
  async function changed() {
    if (underWay) {
      again = true;
      return;
    }
    underWay = true;
    try {
      await refresh();
    } catch {
      // The connection that tells of changes says whether the server is there.
    }
    underWay = false;
    if (again) {
      again = false;
      changed();
    }
  }

  async function refresh() {
    const answer = await fetch(location.pathname + location.search, { headers: { "X-Danlu-Live": "1" } });
    if (danluSession.hasEnded(answer)) return;
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-part]")) {
      const newer = fresh.getElementById(part.id);
      if (newer) morph(part, newer);
    }
    document.dispatchEvent(new Event("danlu:refreshed"));
  }

  function open() {
    if (source || document.hidden || danluSession.isOver) return;
    source = new EventSource(live.dataset.events ?? "/live");
    source.addEventListener("hello", () => {
      offline.hidden = true;
      // What happened while nobody listened, or since the page was written.
      changed();
    });
    source.addEventListener("changed", changed);
    source.addEventListener("error", async () => {
      close();
      // A server that is there and does not know us any more is not a silent one.
      const answer = await fetch("/live", { method: "HEAD" }).catch(() => null);
      if (answer && danluSession.hasEnded(answer)) return;
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

  // How busy GPUs are changes without anybody's doing.
  if ("refresh" in live.dataset) setInterval(() => source && changed(), 10000);
  if (document.readyState === "complete") open();
  else window.addEventListener("load", open);
})();
