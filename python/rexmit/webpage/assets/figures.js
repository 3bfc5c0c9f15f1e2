// Figures: means with their spread, those from elsewhere as open marks, distributions as steps.

import { commandLine, h } from "./dom.js";
import { plain } from "./numbers.js";
import { colour, onTheme } from "./theme.js";
import { basics, Group, place } from "./plot.js";

// What uPlot calls the axes: linear, logarithmic, linear about 0 and logarithmic beyond.
const SCALES = { linear: { distr: 1 }, log: { distr: 3, log: 10 }, asinh: { distr: 4, asinh: 1 } };

/** Shows all figures of `part` in `host`, or the one of that name. */
export function showFigures(host, part, view) {
  host.append(h("h1", {}, "Figures"));
  const shown = part.figures.filter((figure) => !view.figure || figure.name === view.figure);
  for (const figure of shown.length ? shown : part.figures) host.append(drawn(figure));
}

function drawn(figure) {
  const box = h("section", { class: "figure" }, h("h2", {}, figure.title));
  for (const words of figure.notes) box.append(h("p", { class: "dim" }, words));
  const legend = h("div", { class: "legend" });
  box.append(legend);
  const fill = () =>
    legend.replaceChildren(
      ...figure.lines.map((line) => h("span", {}, key(line), `${line.name}${line.of ? `, ${line.of}` : ""}`)),
    );
  // One run, or configuration, alone is told in the notes.
  if (figure.lines.length > 1 || figure.draws !== "marks") {
    fill();
    onTheme(legend, fill);
  }
  const places = [...new Set(figure.lines.flatMap((line) => line.marks.map((mark) => mark.at)))].sort((a, b) => a - b);
  const group = new Group(places[0], places[places.length - 1]);
  const room = (places[places.length - 1] - places[0] || 1) * 0.05;
  group.whole = group.range = figure.ends || [places[0] - room, places[places.length - 1] + room];
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
          if (figure.draws === "marks") made.axes[0].incrs = [1, 2, 5, 10, 20, 50, 100];
          // Of a logarithmic axis uPlot leaves words out where they would not fit, and zeros stay.
          // uPlot counts its own on from the least value, and meets no round one.
          if (figure.x_axis === "log") {
            made.axes[0].splits = (self, axis, least, most) => digits(least, most);
            made.axes[0].filter = (self, splits) => splits;
          }
          if (figure.x_axis !== "linear") made.axes[0].values = (self, splits) => decades(splits, self.scales.x);
          if (figure.y_axis !== "linear") made.axes[1].values = (self, splits) => decades(splits, self.scales.y);
        }
        return {
          ...made,
          scales: {
            // uPlot would go on to the next power of ten.
            x: { time: false, range: (_, least, most) => [least, most], ...SCALES[figure.x_axis] },
            y: { range: heights(figure), ...SCALES[figure.y_axis] },
          },
          series: [{}, { paths: () => null, points: { show: false } }],
          hooks: { draw: [(self) => draw(self, figure)] },
        };
      },
    }),
  );
  const plot = h("div", {});
  box.append(plot, numbers(figure, places), commandLine(figure.command));
  return box;
}

// One to nine times each power of ten within the axis.
function digits(least, most) {
  const splits = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); power++) {
    for (let digit = 1; digit < 10; digit++) splits.push(Number(`${digit}e${power}`));
  }
  return splits.filter((value) => value >= least && value <= most);
}

// A tick has words at 0 and at powers of ten within the axis, and between these where there are few
// of them; uPlot has some beyond its ends.
function decades(splits, scale) {
  const within = (value) => value !== null && value >= scale.min && value <= scale.max;
  const first = (value) => Math.round(Math.abs(value) / 10 ** Math.floor(Math.log10(Math.abs(value)) + 1e-9));
  const tens = splits.filter((value) => within(value) && value !== 0 && first(value) === 1).length;
  const written = tens > 2 ? "1" : tens > 1 ? "125" : "123456789";
  return splits.map((value) => (within(value) && (value === 0 || written.includes(first(value))) ? plain(value) : ""));
}

// Both ends of the y axis.
function heights(figure) {
  if (figure.draws === "steps") return [0, 100];
  const ends = figure.lines.flatMap((line) =>
    line.marks.flatMap((mark) => [mark.value + mark.spread, mark.to === null ? mark.value : mark.to]),
  );
  const least = Math.min(...figure.lines.flatMap((line) => line.marks.map((mark) => mark.value)));
  // A mark at 0 is whole where the axis goes on below it.
  const low = figure.y_axis === "asinh" ? Math.min(-0.4, least * 1.3) : Math.min(0, least * 1.06);
  return [low, Math.max(...ends) * 1.06 || 1];
}

function draw(plot, figure) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  if (figure.draws !== "marks") ctx.clip();
  const configs = [...new Set(figure.lines.filter((line) => line.shape).map((line) => line.name))];
  for (const line of figure.lines) {
    ctx.strokeStyle = ctx.fillStyle = colour(`line${line.colour}`);
    if (line.shape) drawMarks(plot, figure, line, shift(plot, figure, configs, line.name));
    else drawPath(plot, figure, line);
  }
  ctx.restore();
}

// Marks of one place stand beside each other, those from elsewhere with ours; no further apart
// than they have to, and nearer to their place than to the next.
function shift(plot, figure, configs, name) {
  const ratio = devicePixelRatio || 1;
  if (figure.draws !== "marks") return 0;
  const step = plot.valToPos(1, "x", true) - plot.valToPos(0, "x", true);
  const apart = Math.min((figure.ticks ? 14 : 9) * ratio, (0.84 * step) / configs.length);
  return (configs.indexOf(name) - (configs.length - 1) / 2) * apart;
}

function drawPath(plot, figure, line) {
  const { ctx } = plot;
  const ratio = devicePixelRatio || 1;
  ctx.lineWidth = 1.6 * ratio;
  ctx.setLineDash(line.dashed ? [6 * ratio, 4 * ratio] : []);
  ctx.beginPath();
  let height = plot.valToPos(0, "y", true);
  line.marks.forEach((one, i) => {
    const [x, y] = [plot.valToPos(one.at, "x", true), plot.valToPos(one.value, "y", true)];
    if (figure.draws === "steps") {
      if (i) ctx.lineTo(x, height);
      else ctx.moveTo(x, height);
      ctx.lineTo(x, y);
      height = y;
    } else if (i) ctx.lineTo(x, y);
    else ctx.moveTo(x, y);
  });
  ctx.stroke();
  ctx.setLineDash([]);
}

function drawMarks(plot, figure, line, off) {
  const { ctx } = plot;
  const ratio = devicePixelRatio || 1;
  const at = (one) => [plot.valToPos(one.at, "x", true) + off, plot.valToPos(one.value, "y", true)];
  ctx.lineWidth = 1.6 * ratio;
  // Between words, or bins, there is nothing.
  if (!line.of && !figure.ticks && figure.draws === "marks") {
    ctx.beginPath();
    line.marks.forEach((one, i) => (i ? ctx.lineTo(...at(one)) : ctx.moveTo(...at(one))));
    ctx.globalAlpha = 0.45;
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
  for (const one of line.marks) {
    const [x, y] = at(one);
    const ends = one.to === null ? (one.spread ? [one.value - one.spread, one.value + one.spread] : []) : [one.value, one.to];
    if (ends.length) {
      const [first, last] = ends.map((value) => plot.valToPos(value, "y", true));
      ctx.beginPath();
      ctx.moveTo(x, first);
      ctx.lineTo(x, last);
      for (const end of one.to === null ? [first, last] : [last]) {
        ctx.moveTo(x - 3 * ratio, end);
        ctx.lineTo(x + 3 * ratio, end);
      }
      ctx.stroke();
    }
    trace(ctx, line.shape, x, y, (line.of ? 7 : 4) * ratio);
    if (one.few) {
      ctx.fillStyle = colour("ground");
      ctx.fill();
      ctx.fillStyle = ctx.strokeStyle;
    }
    if (line.of || one.few) ctx.stroke();
    else ctx.fill();
  }
}

function trace(ctx, mark, x, y, r) {
  ctx.beginPath();
  if (mark === "circle") ctx.arc(x, y, r, 0, 2 * Math.PI);
  else if (mark === "square") ctx.rect(x - r, y - r, 2 * r, 2 * r);
  else {
    const around = (count, turn, inner = 1) =>
      [...Array(count).keys()].map((i) => {
        const [angle, far] = [turn + (2 * Math.PI * i) / count, i % 2 ? inner : 1];
        return [1.15 * far * Math.sin(angle), -1.15 * far * Math.cos(angle)];
      });
    const plus = [[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4], [0.4, 1.1], [-0.4, 1.1], [-0.4, 0.4], [-1.1, 0.4], [-1.1, -0.4], [-0.4, -0.4]];
    const corners = {
      triangle: [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
      down: [[0, 1.2], [1.1, -0.8], [-1.1, -0.8]],
      diamond: [[0, -1.3], [1.1, 0], [0, 1.3], [-1.1, 0]],
      left: [[-1.2, 0], [0.8, 1.1], [0.8, -1.1]],
      right: [[1.2, 0], [-0.8, 1.1], [-0.8, -1.1]],
      plus,
      cross: plus.map(([dx, dy]) => [0.75 * (dx - dy), 0.75 * (dx + dy)]),
      star: around(10, 0, 0.45),
      hexagon: around(6, 0),
      pentagon: around(5, 0),
    }[mark];
    corners.forEach(([dx, dy], i) => (i ? ctx.lineTo(x + dx * r, y + dy * r) : ctx.moveTo(x + dx * r, y + dy * r)));
    ctx.closePath();
  }
}

function key(line) {
  const canvas = h("canvas", { class: "icon", "aria-hidden": "true" });
  const ratio = devicePixelRatio || 1;
  canvas.width = canvas.height = 16 * ratio;
  const ctx = canvas.getContext("2d");
  ctx.strokeStyle = ctx.fillStyle = colour(`line${line.colour}`);
  ctx.lineWidth = 1.6 * ratio;
  if (!line.shape) {
    ctx.lineWidth = 2 * ratio;
    ctx.setLineDash(line.dashed ? [4 * ratio, 3 * ratio] : []);
    ctx.beginPath();
    ctx.moveTo(0, 8 * ratio);
    ctx.lineTo(16 * ratio, 8 * ratio);
    ctx.stroke();
    return canvas;
  }
  trace(ctx, line.shape, 8 * ratio, 8 * ratio, (line.of ? 6 : 4.5) * ratio);
  if (line.of) ctx.stroke();
  else ctx.fill();
  return canvas;
}

// Of a distribution, where so many percent of it lie below.
const PERCENTS = [5, 25, 50, 75, 90, 95, 99];

function percentiles(figure) {
  const at = (line, percent) => {
    const found = line.marks.find((mark) => mark.value >= percent);
    return found ? plain(Number(found.at.toPrecision(4))) : "";
  };
  return [
    h("tr", {}, h("th", { scope: "col" }, `percentile of ${figure.x}`), figure.lines.map((line) => h("th", { scope: "col" }, line.name))),
    ...PERCENTS.map((percent) => h("tr", {}, h("th", { scope: "row" }, `${percent} %`), figure.lines.map((line) => h("td", {}, at(line, percent))))),
  ];
}

function numbers(figure, places) {
  if (figure.draws === "steps") {
    return h("details", {}, h("summary", {}, "The numbers"), h("div", { class: "wide" }, h("table", { class: "numbers" }, percentiles(figure))));
  }
  const words = new Map((figure.ticks || []).map(([at, text]) => [at, text]));
  const cell = (line, at) => {
    const mark = line.marks.find((one) => one.at === at);
    if (!mark) return "";
    const beside = mark.to !== null ? `, 95th percentile ${plain(Number(mark.to.toFixed(4)))}` : mark.spread ? ` ± ${plain(Number(mark.spread.toFixed(4)))}` : "";
    return plain(Number(mark.value.toFixed(4))) + beside;
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
        h("tr", {}, h("th", { scope: "col" }, figure.x), figure.lines.map((line) => h("th", { scope: "col" }, `${line.name}${line.of ? `, ${line.of}` : ""}`))),
        places.map((at) => h("tr", {}, h("th", { scope: "row" }, words.get(at) || plain(Number(at.toPrecision(5)))), figure.lines.map((line) => h("td", {}, cell(line, at))))),
      ),
    ),
  );
}
