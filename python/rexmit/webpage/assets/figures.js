// Figures of a run: its means with their spread, and what the paper printed as open marks.

import { commandLine, h } from "./dom.js";
import { plain } from "./numbers.js";
import { colour, onTheme } from "./theme.js";
import { basics, Group, place } from "./plot.js";

const MARKS = ["circle", "square", "triangle", "diamond", "down", "plus"];

/** Shows all figures of `part` in `host`, or the one of that name. */
export function showFigures(host, part, view) {
  host.append(h("h1", {}, "Figures"));
  const shown = part.figures.filter((figure) => !view.figure || figure.name === view.figure);
  for (const figure of shown.length ? shown : part.figures) host.append(drawn(figure));
}

function drawn(figure) {
  const configs = [...new Set(figure.lines.map((line) => line.name))];
  const look = (line) => ({ colour: `line${configs.indexOf(line.name) % 6}`, mark: MARKS[configs.indexOf(line.name) % 6] });
  const box = h("section", { class: "figure" }, h("h2", {}, figure.title));
  for (const words of figure.notes) box.append(h("p", { class: "dim" }, words));
  const legend = h("div", { class: "legend" });
  box.append(legend);
  const fill = () =>
    legend.replaceChildren(
      ...figure.lines.map((line) => h("span", {}, key(line, look(line)), `${line.name}${line.printed ? ", the paper" : ""}`)),
    );
  fill();
  onTheme(legend, fill);
  const places = [...new Set(figure.lines.flatMap((line) => line.marks.map((mark) => mark.at)))].sort((a, b) => a - b);
  const group = new Group(places[0], places[places.length - 1]);
  const room = (places[places.length - 1] - places[0] || 1) * 0.05;
  group.whole = group.range = [places[0] - room, places[places.length - 1] + room];
  const most = Math.max(...figure.lines.flatMap((line) => line.marks.map((mark) => mark.value + mark.spread)));
  requestAnimationFrame(() =>
    place(plot, {
      group,
      label: `${figure.title}. ${figure.y} by ${figure.x}. The numbers stand in the table below.`,
      data: [places, places.map(() => 0)],
      options: () => {
        const made = basics({ height: 360, x: figure.x, y: figure.y });
        if (figure.ticks) {
          made.axes[0].splits = () => figure.ticks.map(([at]) => at);
          made.axes[0].values = () => figure.ticks.map(([, words]) => words);
        } else {
          made.axes[0].incrs = [1, 2, 5, 10, 20, 50, 100];
        }
        return {
          ...made,
          scales: { x: { time: false }, y: { range: [0, most * 1.06 || 1] } },
          series: [{}, { paths: () => null, points: { show: false } }],
          hooks: { draw: [(self) => figure.lines.forEach((line, i) => drawLine(self, line, look(line), i, figure.lines.length, figure.ticks !== null))] },
        };
      },
    }),
  );
  const plot = h("div", {});
  box.append(plot, numbers(figure, places), commandLine(figure.command));
  return box;
}

function drawLine(plot, line, { colour: name, mark }, number, count, words) {
  const { ctx } = plot;
  const ratio = devicePixelRatio || 1;
  const here = colour(name);
  // Marks of one place stand beside each other.
  const off = (number - (count - 1) / 2) * (words ? 12 : 2) * ratio;
  const at = (one) => [plot.valToPos(one.at, "x", true) + off, plot.valToPos(one.value, "y", true)];
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = here;
  ctx.lineWidth = 1.6 * ratio;
  // Between words there is nothing.
  if (!line.printed && !words) {
    ctx.beginPath();
    line.marks.forEach((one, i) => (i ? ctx.lineTo(...at(one)) : ctx.moveTo(...at(one))));
    ctx.globalAlpha = 0.45;
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
  for (const one of line.marks) {
    const [x, y] = at(one);
    if (one.spread) {
      ctx.beginPath();
      const [top, bottom] = [one.value + one.spread, one.value - one.spread].map((v) => plot.valToPos(v, "y", true));
      ctx.moveTo(x, top);
      ctx.lineTo(x, bottom);
      for (const end of [top, bottom]) {
        ctx.moveTo(x - 3 * ratio, end);
        ctx.lineTo(x + 3 * ratio, end);
      }
      ctx.stroke();
    }
    trace(ctx, mark, x, y, (line.printed ? 7 : 4) * ratio);
    if (line.printed) ctx.stroke();
    else ctx.fill();
  }
  ctx.restore();
}

function trace(ctx, mark, x, y, r) {
  ctx.beginPath();
  if (mark === "circle") ctx.arc(x, y, r, 0, 2 * Math.PI);
  else if (mark === "square") ctx.rect(x - r, y - r, 2 * r, 2 * r);
  else {
    const corners = {
      triangle: [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
      down: [[0, 1.2], [1.1, -0.8], [-1.1, -0.8]],
      diamond: [[0, -1.3], [1.1, 0], [0, 1.3], [-1.1, 0]],
      plus: [[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4], [0.4, 1.1], [-0.4, 1.1], [-0.4, 0.4], [-1.1, 0.4], [-1.1, -0.4], [-0.4, -0.4]],
    }[mark];
    corners.forEach(([dx, dy], i) => (i ? ctx.lineTo(x + dx * r, y + dy * r) : ctx.moveTo(x + dx * r, y + dy * r)));
    ctx.closePath();
  }
}

function key(line, { colour: name, mark }) {
  const canvas = h("canvas", { class: "icon", "aria-hidden": "true" });
  const ratio = devicePixelRatio || 1;
  canvas.width = canvas.height = 16 * ratio;
  const ctx = canvas.getContext("2d");
  ctx.strokeStyle = ctx.fillStyle = colour(name);
  ctx.lineWidth = 1.6 * ratio;
  trace(ctx, mark, 8 * ratio, 8 * ratio, (line.printed ? 6 : 4.5) * ratio);
  if (line.printed) ctx.stroke();
  else ctx.fill();
  return canvas;
}

function numbers(figure, places) {
  const words = new Map((figure.ticks || []).map(([at, text]) => [at, text]));
  const cell = (line, at) => {
    const mark = line.marks.find((one) => one.at === at);
    if (!mark) return "";
    return plain(Number(mark.value.toFixed(4))) + (mark.spread ? ` ± ${plain(Number(mark.spread.toFixed(4)))}` : "");
  };
  return h(
    "details",
    {},
    h("summary", {}, "The numbers"),
    h(
      "div",
      { class: "wide" },
      h(
        "table",
        { class: "numbers" },
        h("tr", {}, h("th", { scope: "col" }, figure.x), figure.lines.map((line) => h("th", { scope: "col" }, `${line.name}${line.printed ? ", the paper" : ""}`))),
        places.map((at) => h("tr", {}, h("th", { scope: "row" }, words.get(at) || plain(at)), figure.lines.map((line) => h("td", {}, cell(line, at))))),
      ),
    ),
  );
}
