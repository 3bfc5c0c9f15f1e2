// A whole trace over its time: rate, losses, round trips, answers, whose the time was; who talked in the stretch that is shown.

import { note, range, rangeText, write } from "./address.js";
import { unpack } from "./columns.js";
import { commandLine, h } from "./dom.js";
import { Tip } from "./hover.js";
import { clock, plain, rate, size, span } from "./numbers.js";
import { basics, Group, place } from "./plot.js";
import { colour } from "./theme.js";

const HEIGHT = 128;
const TALKERS = 12;

/** Shows the time line of `part` in `host`. */
export async function showTimeLine(host, part, base, view) {
  const { tables, about } = await unpack(part.time.chunk);
  const steps = tables.steps;
  const wide = about.width_s;
  const group = new Group(0, steps.rows * wide);
  group.whole = group.range = [0, steps.rows * wide];
  const said = h("span", { class: "range" });
  const command = commandLine(part.time.command, "The page of this stretch:");
  const plots = h("div", {});
  const aside = h("aside", {});
  host.append(
    h("h1", {}, "Time line"),
    h("p", { class: "dim" }, `From ${clock(about.start_s).replace(/\.0+$/, "")}${about.start_s > 1e8 ? " UTC" : ""} on, in steps of ${span(wide)}. Mark a stretch with the mouse to see it alone; + and -, arrows and 0 do the same.`),
    h("div", { class: "tools" }, h("button", { type: "button", onclick: () => group.all() }, "All"), h("button", { type: "button", onclick: () => group.zoom(2) }, "Zoom in"), h("button", { type: "button", onclick: () => group.zoom(0.5) }, "Zoom out"), said),
    h("div", { class: "course" }, plots, aside),
    command,
  );
  const stretch = await stretches(part, about.start_s);
  const changed = () => {
    const [from, to] = group.range;
    said.textContent = `${elapsed(from, to - from)} to ${elapsed(to, to - from)}`;
    note({ ...base, view: "time", t: group.isWhole ? null : rangeText(group.range) });
    const ends = group.isWhole ? "" : ` --from ${(about.start_s + from).toFixed(6)} --to ${(about.start_s + to).toFixed(6)}`;
    command.say(part.time.command + ends);
    aside.replaceChildren(...talkers(stretch, group, base, part, about.start_s));
  };
  let waits = false;
  group.listen(() => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      if (plots.isConnected) changed();
    });
  });
  const chosen = range(view.t);
  const tip = new Tip(plots);
  for (const panel of panels(steps, about)) drawn(plots, panel, { group, wide, steps, about, tip });
  if (chosen) group.show(...chosen);
  else changed();
}

// What stands below each other: a title, a unit, and columns as bars on each other, or as marks.
function panels(steps, about) {
  const numbers = (name) => steps.column(name).numbers;
  const some = (name) => numbers(name).some((value) => value > 0);
  const made = [
    { title: "Rate of payload", bars: [[Float64Array.from(numbers("bytes"), (value) => (value * 8) / about.width_s), "line1", ""]], words: rate },
  ];
  const needs = [["needed", "lost", "needed"], ["spurious", "line4", "spurious"], ["unknown", "line9", "not known"]];
  if (needs.some(([name]) => some(name))) {
    made.push({ title: "Retransmissions, packets a step", bars: needs.filter(([name]) => some(name)).map(([name, hue, words]) => [numbers(name), hue, words]), words: plain, whole: true });
  }
  const dots = (title, name, hue) => {
    if (some(`${name}_most_s`)) made.push({ title, marks: [numbers(`${name}_s`), numbers(`${name}_most_s`), hue], words: (value) => span(value) });
  };
  dots("Round trip: median and largest of what began here", "rtt", "line0");
  dots("First byte of an answer: median and largest of what was asked here", "first", "line7");
  if (about.owners.length) {
    const bars = about.owners.map(([name, words], i) => [numbers(name), i < 8 ? `line${OWNED[i]}` : "line10", words]);
    made.push({ title: "Connections that wait, by whose time it is", bars, words: plain });
  }
  return made;
}

// Places in the palette that are told apart side by side.
const OWNED = [1, 2, 0, 4, 3, 7, 6, 8];

function drawn(host, panel, { group, wide, steps, about, tip }) {
  const legend = (panel.bars || []).filter(([, , words]) => words).map(([, hue, words]) => h("span", {}, swatch(hue), words));
  host.append(h("h2", {}, panel.title));
  if (legend.length) host.append(h("div", { class: "legend" }, legend));
  const tops = Float64Array.from({ length: steps.rows }, (_, i) =>
    panel.marks ? panel.marks[1][i] || 0 : panel.bars.reduce((sum, [values]) => sum + values[i], 0),
  );
  // uPlot asks for the height before it has noted the new range.
  const height = () => {
    const [from, to] = group.range;
    const shown = tops.subarray(Math.floor(from / wide), Math.ceil(to / wide));
    return [0, (shown.reduce((one, other) => Math.max(one, other), 0) || 1) * 1.06];
  };
  const { frame, plot } = place(host, {
    group,
    label: `${panel.title}. Arrows move, + and - zoom, 0 shows all.`,
    data: [[0, steps.rows * wide], [0, 0]],
    options: () => {
      const made = basics({ height: HEIGHT, x: "", y: "" });
      made.axes[0].values = (self, splits) => splits.map((at) => elapsed(at, self.scales.x.max - self.scales.x.min));
      made.axes[1].values = (self, splits) => splits.map(panel.words);
      made.axes[1].space = 28;
      if (panel.whole) made.axes[1].incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100000];
      return {
        ...made,
        scales: { x: { time: false, range: (_, least, top) => [least, top] }, y: { range: height } },
        series: [{}, { paths: () => null, points: { show: false } }],
        hooks: { draw: [(self) => draw(self, panel, wide)] },
      };
    },
  });
  frame.addEventListener("mousemove", (event) => {
    const over = plot().over.getBoundingClientRect();
    const step = Math.floor(plot().posToVal(event.clientX - over.left, "x") / wide);
    if (step < 0 || step >= steps.rows) return tip.hide();
    const box = host.getBoundingClientRect();
    return tip.show(told(steps, about, step), event.clientX - box.left, event.clientY - box.top);
  });
  frame.addEventListener("mouseleave", () => tip.hide());
}

function swatch(hue) {
  const box = h("span", { class: "swatch", "aria-hidden": "true" });
  box.style.background = `var(--${hue})`;
  return box;
}

function draw(plot, panel, wide) {
  const { ctx, bbox } = plot;
  const [left, right] = ["min", "max"].map((end) => plot.scales.x[end]);
  const [first, last] = [Math.max(0, Math.floor(left / wide)), Math.ceil(right / wide)];
  const [x, y] = [(at) => plot.valToPos(at, "x", true), (value) => plot.valToPos(value, "y", true)];
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  const ratio = devicePixelRatio || 1;
  if (panel.marks) {
    const [median, most, hue] = panel.marks;
    ctx.fillStyle = ctx.strokeStyle = colour(hue);
    ctx.lineWidth = ratio;
    for (let step = first; step < Math.min(last, median.length); step++) {
      if (Number.isNaN(median[step])) continue;
      const middle = x((step + 0.5) * wide);
      ctx.globalAlpha = 0.5;
      ctx.beginPath();
      ctx.moveTo(middle, y(median[step]));
      ctx.lineTo(middle, y(most[step]));
      ctx.stroke();
      ctx.globalAlpha = 1;
      ctx.beginPath();
      ctx.arc(middle, y(median[step]), 2.2 * ratio, 0, 2 * Math.PI);
      ctx.fill();
    }
  } else {
    const below = new Float64Array(panel.bars[0][0].length);
    for (const [values, hue] of panel.bars) {
      ctx.fillStyle = colour(hue);
      for (let step = first; step < Math.min(last, values.length); step++) {
        if (!values[step]) continue;
        const [from, to] = [Math.round(x(step * wide)), Math.round(x((step + 1) * wide))];
        const [bottom, top] = [y(below[step]), y(below[step] + values[step])];
        ctx.fillRect(from, top, Math.max(to - from, ratio), Math.max(bottom - top, 0.5 * ratio));
        below[step] += values[step];
      }
    }
  }
  ctx.restore();
}

// A step in words.
function told(steps, about, step) {
  const at = (name) => steps.column(name).at(step);
  const wide = about.width_s;
  const lines = [`${elapsed(step * wide, wide)} to ${elapsed((step + 1) * wide, wide)}`, rate((at("bytes") * 8) / wide)];
  for (const [name, words] of [["needed", "needed"], ["spurious", "spurious"], ["unknown", "of unknown need"]]) {
    if (at(name)) lines.push(`${plain(at(name))} ${at(name) === 1 ? "retransmission" : "retransmissions"}, ${words}`);
  }
  for (const [name, words] of [["rtt", "round trip"], ["first", "first byte of an answer"]]) {
    if (at(`${name}_s`) !== null) lines.push(`${words}: median ${span(at(`${name}_s`))}, largest ${span(at(`${name}_most_s`))}`);
  }
  const waits = about.owners.map(([name, words]) => [at(name), words]).filter(([value]) => value >= 0.005).sort((a, b) => b[0] - a[0]);
  for (const [value, words] of waits.slice(0, 3)) lines.push(`${Number(value.toPrecision(2))} waiting: ${words}`);
  return lines;
}

// Seconds since the beginning, with as many digits as a range of this width needs.
function elapsed(seconds, wide) {
  if (wide < 120) return `${seconds.toFixed(Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(wide)))))} s`;
  const whole = Math.round(seconds);
  const two = (value) => String(value).padStart(2, "0");
  const minutes = `${two(Math.floor((whole / 60) % 60))}:${two(whole % 60)}`;
  return whole < 3600 && wide < 3600 ? minutes : `${Math.floor(whole / 3600)}:${minutes}`;
}

// Connections and retransmissions of the part by their times since its beginning.
async function stretches(part, start) {
  const of = async (name) => {
    const spec = part.tables.find((table) => table.name === name);
    return spec ? (await unpack(spec.chunk)).tables.rows : null;
  };
  const [connections, again] = [await of("connections"), await of("retransmissions")];
  const ends = (name) => Float64Array.from(connections.column(name).numbers, (at) => at - start);
  const rows = new Map();
  connections.column("number").numbers.forEach((number, row) => rows.set(number, row));
  const hosts = Array.from({ length: connections.rows }, (_, row) => connections.column("flow").at(row).split(" > ").map((end) => end.replace(/:\d+$/, "")));
  return {
    from: ends("start_s"),
    to: ends("end_s"),
    bytes: connections.column("bytes").numbers,
    hosts,
    again: again ? Array.from({ length: again.rows }, (_, i) => [again.column("time_s").at(i) - start, rows.get(again.column("number").at(i))]) : [],
  };
}

// Who talked in the stretch that is shown, most payload first.
function talkers(stretch, group, base, part, start) {
  const [from, to] = group.range;
  const found = new Map();
  let many = 0;
  const count = (row, name, value) => {
    for (const host of new Set(stretch.hosts[row])) {
      if (!found.has(host)) found.set(host, { host, bytes: 0, connections: 0, again: 0 });
      found.get(host)[name] += value;
    }
  };
  for (let row = 0; row < stretch.from.length; row++) {
    const [begin, end] = [stretch.from[row], stretch.to[row]];
    if (end < from || begin > to) continue;
    many++;
    const part_of = end > begin ? (Math.min(end, to) - Math.max(begin, from)) / (end - begin) : 1;
    count(row, "connections", 1);
    count(row, "bytes", stretch.bytes[row] * part_of);
  }
  let again = 0;
  for (const [at, row] of stretch.again) {
    if (at < from || at > to || row === undefined) continue;
    again++;
    count(row, "again", 1);
  }
  const most = [...found.values()].sort((a, b) => b.bytes - a.bytes || (a.host < b.host ? -1 : 1));
  const [low, high] = [start + from, start + to].map((at) => at.toFixed(6));
  const link = (table, filter, words) => h("a", { href: write({ ...base, table, filter: group.isWhole ? null : filter }) }, words);
  const head = (words, number) => h("th", { scope: "col", class: number ? "number" : null }, words);
  return [
    h("h2", {}, "Top talkers"),
    h("p", {}, link("connections", `start_s<=${high} end_s>=${low}`, `${plain(many)} ${many === 1 ? "connection" : "connections"}`), ", ", again ? link("retransmissions", `time_s>=${low} time_s<=${high}`, `${plain(again)} ${again === 1 ? "retransmission" : "retransmissions"}`) : "no retransmission", " in this stretch."),
    h("div", { class: "wide" }, h("table", { class: "printed" },
      h("thead", {}, h("tr", {}, head("host"), head("payload", true), head("conn.", true), head("retr.", true))),
      h("tbody", {}, most.slice(0, TALKERS).map((one) => h("tr", {}, h("td", {}, one.host), h("td", { class: "number" }, size(Math.round(one.bytes))), h("td", { class: "number" }, plain(one.connections)), h("td", { class: "number" }, plain(one.again))))))),
    most.length > TALKERS ? h("p", { class: "dim" }, `and ${plain(most.length - TALKERS)} more hosts`) : "",
    h("p", { class: "dim" }, "Payload of requests and answers stands where it was sent; all else is spread over its connection's time. The longest wait for an owner stands where it was, shorter ones are spread. The talkers' payload is spread."),
  ];
}
