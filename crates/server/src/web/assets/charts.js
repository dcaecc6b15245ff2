// Use and memory of a task's GPUs over the last ten minutes.
"use strict";
(() => {
  const section = document.getElementById("charts");
  if (!section) return;
  const place = section.querySelector(".plots");
  const SPAN = 600;
  const plots = [];
  const colours = ["--mine", "--others", "--free", "--outside", "--attention"];
  // As it is seen now: the name stands for a light and a dark one.
  const colour = (name) => {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    section.append(probe);
    const seen = getComputedStyle(probe).color;
    probe.remove();
    return seen;
  };

  // Samples of several GPUs on one line of time; what is not seen to change is as it was.
  function series(usage, field, scale) {
    const times = new Set([usage.now]);
    usage.gpus.forEach((gpu) => gpu.at.forEach((at) => times.add(at)));
    const x = [...times].sort((a, b) => a - b);
    const lines = usage.gpus.map((gpu) => {
      let place = 0;
      let last = null;
      return x.map((at) => {
        while (place < gpu.at.length && gpu.at[place] <= at) {
          const value = gpu[field][place];
          last = value === null ? null : value / scale;
          place += 1;
        }
        return last;
      });
    });
    return [x.map((at) => at / 1000), ...lines];
  }

  function plot(title, usage, most) {
    const box = document.createElement("div");
    place.append(box);
    const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    const lines = usage.gpus.map((gpu, at) => ({ label: gpu.name, stroke: colour(colours[at % colours.length]), width: 2, points: { show: false } }));
    const clock = (seconds) => new Date(seconds * 1000).toTimeString().slice(0, 5);
    const chart = new uPlot({
      title,
      width: box.clientWidth,
      height: 150,
      cursor: { y: false },
      legend: { show: true, live: false },
      scales: { x: { range: () => [Date.now() / 1000 - SPAN, Date.now() / 1000] }, y: { range: [0, most] } },
      axes: [{ ...axis, values: (_, at) => at.map(clock), space: 70 }, { ...axis, size: 40 }],
      series: [{}, ...lines],
    }, [[]], box);
    window.addEventListener("resize", () => chart.setSize({ width: box.clientWidth, height: 150 }));
    return chart;
  }

  async function refresh() {
    if (document.hidden) return;
    const answer = await fetch(section.dataset.source, { headers: { accept: "application/json" } }).catch(() => null);
    if (!answer || !answer.ok) return;
    const usage = await answer.json();
    if (!usage.gpus.some((gpu) => gpu.at.length)) return;
    section.hidden = false;
    if (!plots.length) {
      const most = Math.max(...usage.gpus.map((gpu) => gpu.memory_total)) / 2 ** 30;
      plots.push(plot(section.dataset.use, usage, 100), plot(section.dataset.memory, usage, most));
    }
    plots[0].setData(series(usage, "utilization", 1));
    plots[1].setData(series(usage, "memory", 2 ** 30));
  }

  refresh();
  setInterval(() => {
    if (document.querySelector("#live .pill.runs")) refresh();
  }, 5000);
})();
