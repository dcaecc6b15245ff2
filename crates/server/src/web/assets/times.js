// Times in the reader's own zone, and lengths of time that go on.
"use strict";
(() => {
  const two = (number) => String(number).padStart(2, "0");

  function clock(date) {
    return `${two(date.getHours())}:${two(date.getMinutes())}`;
  }

  function shown(date) {
    const now = new Date();
    if (date.toDateString() === now.toDateString()) return clock(date);
    const day = `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    const year = date.getFullYear() === now.getFullYear() ? "" : `${date.getFullYear()}-`;
    return `${year}${day} ${clock(date)}`;
  }

  function length(seconds) {
    const days = Math.floor(seconds / 86400);
    const rest = `${Math.floor(seconds / 3600) % 24}`;
    const small = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
    return days > 0 ? `${days}-${two(rest)}:${small}` : `${rest}:${small}`;
  }

  function tick() {
    if (document.hidden) return;
    for (const element of document.querySelectorAll("[data-since]")) {
      const seconds = Math.floor((Date.now() - Date.parse(element.dataset.since)) / 1000);
      element.textContent = length(Math.max(0, seconds));
    }
  }

  function localize() {
    for (const element of document.querySelectorAll("time[datetime]")) {
      const date = new Date(element.dateTime);
      if (Number.isNaN(date.getTime())) continue;
      const text = shown(date);
      if (element.textContent !== text) element.textContent = text;
      element.title = date.toLocaleString(document.documentElement.lang);
    }
    tick();
  }

  localize();
  document.addEventListener("htmx:afterSwap", localize);
  document.addEventListener("danlu:refreshed", localize);
  setInterval(tick, 1000);
})();
