// Ticks in a list of tasks: all at once, and how many there are.
"use strict";
(() => {
  const boxes = () => [...document.querySelectorAll("input[name=id]")];

  function count() {
    const chosen = boxes().filter((box) => box.checked).length;
    const shown = document.getElementById("chosen");
    if (shown) shown.textContent = chosen;
    for (const button of document.querySelectorAll(".bulk button")) button.disabled = chosen === 0;
  }

  document.addEventListener("change", (event) => {
    if (event.target.id === "all") boxes().forEach((box) => (box.checked = event.target.checked));
    count();
  });
  document.addEventListener("danlu:refreshed", count);
  window.addEventListener("pageshow", count);
  count();
})();
