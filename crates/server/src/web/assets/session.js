// A session that has ended, here or elsewhere, is told, with the way back to this page.
"use strict";
const danluSession = {
  isOver: false,

  // Whether an answer is the page where people log in, or says that we are not logged in.
  hasEnded(answer) {
    const isLogin = answer.redirected && new URL(answer.url).pathname === "/login";
    if (isLogin || answer.status === 401) this.end();
    return this.isOver;
  },

  end() {
    this.isOver = true;
    const told = document.getElementById("session-ended");
    if (!told) return;
    const here = location.pathname + location.search;
    told.querySelector("a").href = `/login?next=${encodeURIComponent(here)}`;
    told.hidden = false;
    const offline = document.getElementById("offline");
    if (offline) offline.hidden = true;
  },
};
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr } = event.detail;
  const isLogin = new URL(xhr.responseURL || location.href).pathname === "/login" && location.pathname !== "/login";
  if (!isLogin && xhr.status !== 401) return;
  event.detail.shouldSwap = false;
  danluSession.end();
});
