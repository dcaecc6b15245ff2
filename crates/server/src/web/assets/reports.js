// Days are those of the reader: the server is told the reader's time zone.
"use strict";
(() => {
  const field = document.querySelector("input[name=tz][data-zone]");
  if (!field) return;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const address = new URL(location.href);
  // Where the server does not know it, the server's own stays.
  if (!own || own === field.dataset.zone || address.searchParams.has("tz")) return;
  address.searchParams.set("tz", own);
  location.replace(address);
})();
