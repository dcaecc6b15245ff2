// The log of a run, as it is printed: followed, searched.
"use strict";
(() => {
  const screen = document.getElementById("terminal");
  if (!screen) {
    // The log comes with a run: one look at the whole page whenever the state is another.
    const state = () => document.querySelector("#live .pill")?.textContent;
    const before = state();
    if (document.getElementById("no-log")) {
      document.addEventListener("danlu:refreshed", () => {
        if (state() !== before) location.reload();
      });
    }
    return;
  }
  const tools = document.getElementById("log-tools");
  const search = document.getElementById("log-search");
  const follow = document.getElementById("log-follow");
  const hits = document.getElementById("log-hits");
  const state = document.getElementById("log-state");
  const attempts = document.getElementById("attempts");
  const download = document.getElementById("log-download");
  const TAIL_LINES = 4000;
  let attempt = attempts.dataset.newest;

  let terminal = new Terminal();
  let decoder = new TextDecoder();
  let offset = null;
  let source = null;
  let over = false;
  let drawing = false;
  let hit = -1;
  let rows = [];
  let droppedBefore = 0;
  let lastTop = 0;

  function address() {
    const url = new URL(screen.dataset.source, location.href);
    if (offset === null) url.searchParams.set("tail", TAIL_LINES);
    else url.searchParams.set("offset", offset);
    return url;
  }

  function open() {
    if (source || over || document.hidden) return;
    source = new EventSource(address());
    source.addEventListener("data", (event) => {
      const news = JSON.parse(event.data);
      const bytes = Uint8Array.from(atob(news.base64), (letter) => letter.charCodeAt(0));
      if (offset === null && news.offset > bytes.length) state.dataset.isCut = "yes";
      offset = news.offset;
      terminal.write(decoder.decode(bytes, { stream: true }));
      draw();
    });
    source.addEventListener("end", () => {
      over = true;
      close();
      tell();
      draw();
    });
    source.addEventListener("error", () => {
      close();
      setTimeout(open, 2000);
    });
    tell();
  }

  function close() {
    if (source) source.close();
    source = null;
  }

  function restart() {
    close();
    terminal = new Terminal();
    decoder = new TextDecoder();
    [offset, over, hit, droppedBefore, rows, lastTop] = [null, false, -1, 0, [], 0];
    delete state.dataset.isCut;
    screen.textContent = "";
    screen.classList.remove("ended");
    follow.checked = true;
    open();
  }

  function tell() {
    const cut = state.dataset.isCut ? ` · ${state.dataset.cut}` : "";
    state.textContent = (over ? state.dataset.ended : state.dataset.live) + cut;
  }

  function draw() {
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => {
      drawing = false;
      paint();
    });
  }

  // Only lines that have changed are made anew.
  function paint() {
    if (rows.length === 0) screen.textContent = "";
    const gone = terminal.dropped - droppedBefore;
    droppedBefore = terminal.dropped;
    rows.splice(0, gone).forEach((row) => row.remove());
    for (let at = Math.min(terminal.dirtyFrom, rows.length); at < terminal.lines.length; at += 1) {
      const fresh = rowOf(terminal.lines[at]);
      if (rows[at]) rows[at].replaceWith(fresh);
      else screen.append(fresh);
      rows[at] = fresh;
    }
    terminal.dirtyFrom = terminal.lines.length;
    if (search.value) mark();
    if (follow.checked) screen.scrollTop = screen.scrollHeight;
    // Only steps of the reader count: not that lines were dropped.
    lastTop = screen.scrollTop;
  }

  function rowOf(line) {
    const row = document.createElement("div");
    for (const piece of Terminal.pieces(line)) {
      const span = document.createElement("span");
      if (piece.style) span.className = piece.style;
      span.textContent = piece.text;
      row.append(span);
    }
    if (!line.length) row.textContent = "\u200b";
    return row;
  }

  // Whole lines are marked: colours within them stay.
  function mark() {
    const wanted = search.value.toLowerCase();
    const found = rows.filter((row) => {
      const is = wanted !== "" && row.textContent.toLowerCase().includes(wanted);
      row.classList.toggle("hit", is);
      row.classList.remove("here");
      return is;
    });
    hits.textContent = wanted === "" ? "" : `${found.length ? Math.max(0, hit) + 1 : 0} / ${found.length}`;
    return found;
  }

  function next(step) {
    const found = mark();
    if (!found.length) return;
    hit = (hit + step + found.length) % found.length;
    follow.checked = false;
    found[hit].classList.add("here");
    found[hit].scrollIntoView({ block: "center" });
    hits.textContent = `${hit + 1} / ${found.length}`;
  }

  search.addEventListener("input", () => {
    hit = -1;
    mark();
  });
  tools.addEventListener("submit", (event) => {
    event.preventDefault();
    next(1);
  });
  follow.addEventListener("change", draw);
  // Any step up stops following, whatever made it; the end starts it again.
  screen.addEventListener("scroll", () => {
    const isNearEnd = screen.scrollTop + screen.clientHeight >= screen.scrollHeight - 30;
    if (screen.scrollTop < lastTop) follow.checked = false;
    else if (isNearEnd) follow.checked = true;
    lastTop = screen.scrollTop;
  }, { passive: true });
  // The end moves on while the browser scrolls there.
  screen.addEventListener("keydown", (event) => {
    if (event.key !== "End") return;
    follow.checked = true;
    draw();
  });
  // A task that runs again: its newest attempt is the one to look at, unless another was chosen.
  document.addEventListener("danlu:refreshed", () => {
    const newest = attempts.dataset.newest;
    if ("pinned" in attempts.dataset || newest === undefined || newest === attempt) return;
    attempt = newest;
    for (const link of [screen.dataset, download]) {
      const name = link === download ? "href" : "source";
      const url = new URL(link[name], location.href);
      url.searchParams.set("run", attempt);
      link[name] = url.pathname + url.search;
    }
    restart();
  });
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  tools.hidden = false;
  screen.scrollTop = screen.scrollHeight;
  open();
})();
