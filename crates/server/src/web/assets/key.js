// Over plain HTTP every change comes with a key that the server tells once, when somebody logs in. The cookie of the session goes
// to every port of the host; what is kept here does not.
"use strict";
(() => {
  const NAME = "danlu-key";
  const meta = (name) => document.querySelector(`meta[name="${name}"]`);
  const told = meta("danlu-key");
  if (told) {
    localStorage.setItem(NAME, told.content);
    location.replace(meta("danlu-next").content);
    return;
  }
  const key = localStorage.getItem(NAME);
  const page = meta("csrf");
  // Over HTTPS the page has it.
  if (!key || !page || page.content) return;
  document.addEventListener("submit", (event) => {
    const field = event.target.querySelector('input[name="csrf"]');
    if (field) field.value = key;
  }, true);
  document.addEventListener("htmx:configRequest", (event) => {
    event.detail.headers["X-CSRF-Token"] = key;
    if ("csrf" in event.detail.parameters) event.detail.parameters.csrf = key;
  });
})();
