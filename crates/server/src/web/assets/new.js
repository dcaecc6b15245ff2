// The form of a new task: scripts from files, and a table instead of lines for sweeps.
"use strict";
(() => {
  const form = document.getElementById("new");
  if (!form) return;
  const file = document.getElementById("file");
  file.closest(".upload").hidden = false;
  file.addEventListener("change", async () => {
    const chosen = file.files[0];
    if (!chosen) return;
    const name = document.getElementById("name");
    document.getElementById("script").value = await chosen.text();
    if (!name.value) name.value = chosen.name;
    form.dispatchEvent(new Event("input", { bubbles: true }));
  });

  const sweep = document.getElementById("sweep");
  const lines = document.getElementById("grid");
  const words = sweep.dataset;
  const foot = document.createElement("p");
  const count = document.createElement("span");
  count.className = "dim";

  function row(name, values) {
    const line = document.createElement("div");
    const input = (value, label) => {
      const it = document.createElement("input");
      it.value = value;
      it.setAttribute("aria-label", label);
      it.placeholder = label;
      it.spellcheck = false;
      line.append(it);
    };
    input(name, words.name);
    input(values, words.values);
    const remove = document.createElement("button");
    remove.type = "button";
    remove.textContent = words.remove;
    remove.addEventListener("click", () => {
      line.remove();
      write();
      form.dispatchEvent(new Event("input", { bubbles: true }));
    });
    line.append(remove);
    foot.before(line);
  }

  function size(values) {
    return values.split(",").reduce((sum, part) => {
      const range = /^\s*(\d+)\.\.(\d+)\s*$/.exec(part);
      return sum + (range && +range[2] >= +range[1] ? range[2] - range[1] + 1 : 1);
    }, 0);
  }

  function write() {
    const rows = [...sweep.querySelectorAll("div")].map((line) => [...line.querySelectorAll("input")].map((it) => it.value.trim()));
    const given = rows.filter(([name, values]) => name && values);
    lines.value = given.map(([name, values]) => `${name}=${values}`).join("\n");
    const all = given.reduce((product, [, values]) => product * size(values), 1);
    count.textContent = given.length ? `${all} ${words.count}` : "";
  }

  const add = document.createElement("button");
  add.type = "button";
  add.textContent = words.add;
  add.addEventListener("click", () => row("", ""));
  foot.append(add, count);
  sweep.append(foot);
  for (const line of lines.value.split("\n").filter(Boolean)) {
    const at = line.indexOf("=");
    row(line.slice(0, at), line.slice(at + 1));
  }
  if (!sweep.querySelector("div")) row("", "");
  sweep.addEventListener("input", write);
  sweep.hidden = false;
  const label = lines.closest(".field");
  label.querySelector("label").hidden = true;
  lines.hidden = true;
  write();
})();
