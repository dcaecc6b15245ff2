// What a run, a GPU or a machine uses over time: stepped lines, drag to look closer, live while it goes on.
"use strict";
(() => {
  const section = document.getElementById("charts");
  if (!section) return;
  const place = section.querySelector(".plots");
  const empty = section.querySelector(".empty");
  const titles = JSON.parse(section.dataset.titles);
  const colours = ["--mine", "--others", "--free", "--outside", "--attention"];
  const REFRESH = 5000;
  const ALL = "all";
  const MOST_ATTEMPTS = 12;
  // Each is one plot; metrics of the administrator's own come after these.
  const GROUPS = [
    ["gpu_utilization", ["gpu_utilization"]], ["gpu_memory", ["gpu_memory"]], ["gpu_temperature", ["gpu_temperature"]], ["gpu_power", ["gpu_power"]],
    ["cpu", ["cpu"]], ["cores", ["cores"]], ["memory", ["memory", "memory_used"]], ["load", ["load"]],
    ["disk", ["disk_read", "disk_written"]], ["network", ["network_received", "network_sent"]],
  ];
  const LEFT_OUT = ["memory_total", "disk_used", "disk_total"];
  let plots = new Map();
  // What is looked at: an attempt, and the last so many milliseconds, a part that was chosen, or all.
  const view = { run: section.dataset.run || null, last: Number(section.dataset.last) || null, part: null };

  const colour = (name) => {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    section.append(probe);
    const seen = getComputedStyle(probe).color;
    probe.remove();
    return seen;
  };

  function grouped(series) {
    const known = new Set(GROUPS.flatMap(([, metrics]) => metrics).concat(LEFT_OUT));
    const own = [...new Set(series.map((one) => one.metric).filter((metric) => !known.has(metric)))].map((metric) => [metric, [metric]]);
    return GROUPS.concat(own).map(([id, metrics]) => ({ id, lines: series.filter((one) => metrics.includes(one.metric)) })).filter((group) => group.lines.length);
  }

  // In units that people read.
  const scaleOf = (unit) => (unit === "MiB" ? { by: 1024, unit: "GiB" } : unit === "KiB/s" ? { by: 1024, unit: "MiB/s" } : { by: 1, unit });

  // Several lines on one line of time. A value holds until the next; what was not seen for long is not known.
  function data(lines, to) {
    const times = new Set();
    lines.forEach((line) => line.at.forEach((at) => times.add(at)));
    lines.forEach((line) => {
      line.at.forEach((at, here) => {
        const next = here + 1 < line.at.length ? line.at[here + 1] : to;
        if (next - at > 3 * line.step) times.add(Math.min(at + line.step, to));
      });
      const last = line.at[line.at.length - 1];
      if (to > last && to - last <= 3 * line.step) times.add(to);
    });
    const x = [...times].sort((a, b) => a - b);
    const values = lines.map((line) => {
      const { by } = scaleOf(line.unit);
      let here = -1;
      return x.map((at) => {
        while (here + 1 < line.at.length && line.at[here + 1] <= at) here += 1;
        if (here < 0 || line.mean[here] === null) return null;
        const until = here + 1 < line.at.length ? line.at[here + 1] : to;
        if (until - line.at[here] > 3 * line.step && at >= line.at[here] + line.step) return null;
        return line.mean[here] / by;
      });
    });
    return [x.map((at) => at / 1000), ...values];
  }

  const two = (number) => String(number).padStart(2, "0");
  function moment(seconds, span) {
    const at = new Date(seconds * 1000);
    const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
    if (span > 2 * 86400) return `${at.getMonth() + 1}-${two(at.getDate())}`;
    return span < 600 ? `${clock}:${two(at.getSeconds())}` : clock;
  }
  const number = (value, unit) => (value === null || value === undefined ? "–" : `${value.toFixed(value < 10 && unit !== "%" ? 1 : 0)} ${unit}`.trim());

  const nameOf = (line, group) => {
    const same = group.lines.filter((one) => one.of === line.of).length > 1;
    return same ? titles[line.metric] || line.metric : line.of;
  };

  function plot(group, answer) {
    const box = document.createElement("div");
    place.append(box);
    const { unit } = scaleOf(group.lines[0].unit);
    const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    const lines = group.lines.map((line, at) => ({
      label: nameOf(line, group),
      stroke: colour(colours[at % colours.length]),
      width: 1.5,
      points: { show: false },
      paths: uPlot.paths.stepped({ align: 1 }),
      value: (_, value, line, at) => (at === null ? "" : number(value, unit === "cores" ? "" : unit)),
    }));
    const known = group.lines.map((line) => line.most).filter((most) => most);
    const { by } = scaleOf(group.lines[0].unit);
    const most = known.length === group.lines.length ? Math.max(...known) / by : null;
    const title = (titles[group.id] || group.id) + (unit && unit !== "cores" ? `, ${unit}` : "");
    const chart = new uPlot({
      title,
      width: box.clientWidth,
      height: 150,
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => () => show({ part: null, last: null }) } },
      legend: { show: true, live: true },
      scales: { x: { range: () => [chartRange[0] / 1000, chartRange[1] / 1000] }, y: { range: (_, low, high) => [0, most || Math.max(high * 1.1, 0.1)] } },
      axes: [{ ...axis, values: (self, at) => at.map((one) => moment(one, self.scales.x.max - self.scales.x.min)), space: 60, size: 30 }, { ...axis, size: 44 }],
      series: [{ label: titles.time, value: (self, at) => (at === null ? "" : moment(at, 0)) }, ...lines],
      hooks: { draw: [mark], setSelect: [(self) => {
        if (self.select.width < 4) return;
        const [from, to] = [self.select.left, self.select.left + self.select.width].map((at) => Math.round(self.posToVal(at, "x") * 1000));
        self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        show({ part: [from, to], last: null });
      }] },
    }, data(group.lines, answer.to), box);
    new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height: 150 })).observe(box);
    return chart;
  }

  // Where attempts begin, when several are looked at.
  let marks = [];
  function mark(self) {
    const { ctx, bbox } = self;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("--dim");
    ctx.font = `${11 * devicePixelRatio}px system-ui`;
    ctx.textAlign = "left";
    ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const { attempt, started } of marks) {
      if (started < chartRange[0] || started > chartRange[1]) continue;
      const x = Math.round(self.valToPos(started / 1000, "x", true));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.fillText(`#${attempt}`, x + 3 * devicePixelRatio, bbox.top + 11 * devicePixelRatio);
    }
    ctx.restore();
  }

  let chartRange = [0, 1];
  let asked = 0;
  async function refresh() {
    const ask = ++asked;
    const usage = view.run === ALL ? await all() : await one(view.run);
    if (usage && ask === asked) draw(usage);
  }

  async function one(run) {
    const query = new URLSearchParams({ points: Math.max(200, Math.min(1000, Math.round(place.clientWidth))) });
    if (run) query.set("run", run);
    if (view.part) [["from", view.part[0]], ["to", view.part[1]]].forEach(([name, at]) => query.set(name, at));
    else if (view.last) query.set("from", section.dataset.ends ? Number(section.dataset.ends) - view.last : Date.now() - view.last);
    const answer = await fetch(`${section.dataset.source}?${query}`, { headers: { accept: "application/json" } }).catch(() => null);
    return answer && answer.ok ? answer.json() : null;
  }

  // The newest attempts one after the other, as one life.
  async function all() {
    const newest = await one(null);
    if (!newest) return null;
    const known = newest.attempts.filter((it) => it.started).slice(-MOST_ATTEMPTS);
    const earlier = known.filter((it) => it.attempt !== newest.attempt);
    const answers = (await Promise.all(earlier.map((it) => one(it.attempt)))).filter((it) => it);
    const lines = new Map();
    for (const usage of [...answers, newest]) {
      for (const line of usage.series) {
        const key = `${line.of}/${line.metric}`;
        const before = lines.get(key);
        lines.set(key, before ? { ...line, step: Math.max(before.step, line.step), at: before.at.concat(line.at), mean: before.mean.concat(line.mean) } : line);
      }
    }
    const whole = known.length ? [known[0].started, known[known.length - 1].ended || newest.now] : [newest.from, newest.to];
    const [from, to] = view.part || (view.last ? [Math.max(whole[0], whole[1] - view.last), whole[1]] : whole);
    return { ...newest, from, to, attempt: ALL, marks: known, series: [...lines.values()] };
  }

  function draw(usage) {
    marks = usage.marks || [];
    chartRange = [usage.from, Math.max(usage.to, usage.from + 1000)];
    section.hidden = false;
    const groups = grouped(usage.series);
    empty.hidden = groups.length > 0;
    attempts(usage);
    const key = (group) => `${group.id} ${group.lines.map((line) => `${line.of}/${line.metric}`).join()}`;
    const wanted = new Set(groups.map(key));
    if ([...plots.keys()].some((one) => !wanted.has(one)) || groups.some((group) => !plots.has(key(group)))) {
      plots.forEach((chart) => chart.destroy());
      place.replaceChildren();
      plots = new Map(groups.map((group) => [key(group), plot(group, usage)]));
      return;
    }
    groups.forEach((group) => plots.get(key(group)).setData(data(group.lines, usage.to)));
  }

  // A tab for each attempt, where there are several.
  const tabs = section.querySelector(".attempts");
  function attempts(usage) {
    const all = usage.attempts || [];
    if (!tabs || all.length < 2) return;
    const now = all.find((one) => one.attempt === usage.attempt);
    section.dataset.ends = now && now.ended ? now.ended : "";
    const button = (run, words) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = words;
      made.setAttribute("aria-pressed", String(run === usage.attempt));
      made.addEventListener("click", () => show({ run: String(run), part: null, last: null }));
      return made;
    };
    const buttons = [button(ALL, tabs.dataset.all)].concat(all.map((one) => button(one.attempt, tabs.dataset.word.replace("#", one.attempt))));
    if (buttons.map((one) => one.outerHTML).join() === [...tabs.children].map((one) => one.outerHTML).join()) return;
    tabs.replaceChildren(...buttons);
  }

  function show(change) {
    Object.assign(view, change);
    const chosen = view.part ? "" : String(view.last || "");
    section.querySelectorAll("[data-range]").forEach((button) => button.setAttribute("aria-pressed", String(!view.part && button.dataset.range === chosen)));
    refresh();
  }

  section.querySelectorAll("[data-range]").forEach((button) => button.addEventListener("click", () => show({ last: Number(button.dataset.range) || null, part: null })));
  const goesOn = () => !section.dataset.follows || document.querySelector(section.dataset.follows);
  show({});
  let went = goesOn();
  setInterval(() => {
    const goes = goesOn();
    // Once more after the end, for the last samples.
    if (!document.hidden && !view.part && (goes || went)) refresh();
    went = goes;
  }, REFRESH);
})();
