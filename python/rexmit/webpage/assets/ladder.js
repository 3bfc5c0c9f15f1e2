// A connection as a ladder: time downwards, one side left, the other right.

import { colour } from "./theme.js";
import { Tip, Walk, sackOf, told } from "./hover.js";
import { colourOf, drawMark } from "./marks.js";
import { plain } from "./numbers.js";
import { basics, lowerBound, place } from "./plot.js";

const LABEL = 14; // Pixels that a label takes, upright.
const MANY = 4000; // With more packets in view there are no labels.
const FALL = 7; // Pixels that a line falls of which one end is known: two at a time are no double arrow.
const NARROW = 560; // Pixels, across: below, labels are small and have more of the room.

/** Draws a connection's pack in `host`. */
export function showLadder(host, pack, group, { height, label, parted = null }) {
  const rows = columns(pack);
  const drawn = place(host, {
    group,
    label,
    vertical: true,
    axis: "t",
    data: [rows.at, new Array(rows.count).fill(0)],
    keys: (key) => walk.key(key),
    options: () => ({ ...turned(height, pack, host.clientWidth < NARROW), hooks: hooks() }),
  });
  drawn.frame.style.position = "relative";
  const tip = new Tip(drawn.frame);
  const walk = new Walk(pack, group, (row, words) => {
    const plot = drawn.plot();
    const top = plot.valToPos(rows.at[row], "t") + plot.bbox.top / devicePixelRatio;
    tip.show([`Retransmission ${words}`, ...told(pack, row)], plot.width / 2, top, { aloud: true });
  });
  drawn.frame.addEventListener("mouseleave", () => tip.hide());
  function hooks() {
    return {
      draw: [(plot) => draw(plot, rows, pack, parted)],
      setCursor: [
        (plot) => {
          const { left, top } = plot.cursor;
          const row = left < 0 ? -1 : nearest(plot, rows, left, top);
          if (row === -1) tip.hide();
          else {
            const ratio = devicePixelRatio || 1;
            tip.show(told(pack, row), left + plot.bbox.left / ratio, top + plot.bbox.top / ratio);
          }
        },
      ],
    };
  }
  return drawn;
}

function turned(height, pack, narrow) {
  const made = basics({ height, x: "", y: "", xName: "t", horizontal: false });
  const [time, sides] = made.axes;
  Object.assign(time, { side: 3, size: narrow ? 56 : 84, label: "seconds", labelSize: 22 });
  time.values = (_, values) => values.map((value) => `${Number(value.toPrecision(9))}`);
  Object.assign(sides, {
    side: 0,
    size: 48,
    gap: 20,
    font: `${narrow ? 9 : 12}px system-ui, sans-serif`,
    splits: () => [0, 1],
    values: () => [pack.about.client, pack.about.server].map((end) => end.replace(/(:\d+)$/, "\n$1")),
    grid: { show: false },
    ticks: { show: false },
  });
  return {
    ...made,
    cursor: { ...made.cursor, drag: { x: false, y: true, setScale: false }, x: false, y: true },
    scales: { t: { time: false, ori: 1, dir: -1 }, y: { ori: 0, dir: 1, range: narrow ? [-1.25, 2.25] : [-0.75, 1.75] } },
    series: [{ scale: "t" }, { scale: "y", paths: () => null, points: { show: false } }],
  };
}

// Where each packet's line begins and ends; where only one end is known, both are the same.
function columns(pack) {
  const { packets } = pack.tables;
  const names = ["at", "sent", "arrived", "from_server", "gone", "mechanism", "need", "seq", "length", "ack", "mark"];
  const [at, sent, arrived, server, gone, mechanism, need, seq, length, ack, mark] = names.map((name) =>
    packets.column(name),
  );
  const count = packets.rows;
  const begin = new Float64Array(count);
  const end = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    const [from, to] = [sent.at(row), arrived.at(row)];
    begin[row] = from === null ? to : from;
    end[row] = to === null ? from : to;
  }
  return {
    at: at.numbers, begin, end, count, server, gone, mechanism, need, seq, length, ack, mark,
    lasted: begin.reduce((most, from, row) => Math.max(most, end[row] - from), 0),
  };
}

function draw(plot, rows, pack, parted) {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio || 1;
  const x = (value) => plot.valToPos(value, "y", true);
  const y = (value) => plot.valToPos(value, "t", true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  const { min, max } = plot.scales.t;
  // What began before may end here.
  const from = lowerBound(rows.at, min - rows.lasted);
  const to = Math.min(rows.count, lowerBound(rows.at, max + rows.lasted) + 1);
  ctx.strokeStyle = colour("text");
  ctx.lineWidth = ratio;
  for (const side of [0, 1]) line(ctx, x(side), bbox.top, x(side), bbox.top + bbox.height);
  const free = [-Infinity, -Infinity];
  const kept = to - from <= MANY ? keptFree(rows, from, to, y) : null;
  ctx.font = `${(plot.width < NARROW ? 9 : 11) * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  for (let row = from; row < to; row++) {
    arrow(ctx, rows, row, x, y, ratio);
    if (kept !== null) words(plot, rows, pack, row, { free, kept: kept[row - from] }, x, y, ratio);
  }
  if (parted !== null) {
    ctx.strokeStyle = colour("parted");
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    ctx.lineWidth = 2 * ratio;
    line(ctx, bbox.left, y(parted), bbox.left + bbox.width, y(parted));
  }
  ctx.restore();
}

function isImportant(rows, row) {
  return Boolean(rows.mechanism.numbers[row] || rows.gone.numbers[row] || rows.mark.numbers[row]);
}

// For each packet the place of the next label on its side that has to be there.
function keptFree(rows, from, to, y) {
  const next = [Infinity, Infinity];
  const kept = new Array(to - from);
  for (let row = to - 1; row >= from; row--) {
    const side = rows.server.numbers[row];
    kept[row - from] = next[side];
    if (isImportant(rows, row)) next[side] = y(rows.begin[row]);
  }
  return kept;
}

function line(ctx, x1, y1, x2, y2) {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}

function colourAt(rows, row) {
  if (rows.gone.numbers[row]) return colour("lost");
  if (rows.mechanism.numbers[row]) return colourOf(rows.mechanism.at(row));
  return colour(rows.length.numbers[row] ? "data" : "ack");
}

function arrow(ctx, rows, row, x, y, ratio) {
  const out = rows.server.numbers[row] === 1;
  const [side, other] = out ? [1, 0] : [0, 1];
  const lost = rows.gone.numbers[row] !== 0;
  const [x1, y1] = [x(side), y(rows.begin[row])];
  const x2 = lost ? (x(side) + x(other)) / 2 : x(other);
  const y2 = y(rows.end[row]) + (rows.begin[row] === rows.end[row] ? FALL * ratio : 0);
  const here = colourAt(rows, row);
  ctx.strokeStyle = here;
  ctx.fillStyle = here;
  ctx.lineWidth = (rows.mechanism.numbers[row] ? 2 : 1.2) * ratio;
  line(ctx, x1, y1, x2, y2);
  const angle = Math.atan2(y2 - y1, x2 - x1);
  if (lost) {
    const arm = 4 * ratio;
    line(ctx, x2 - arm, y2 - arm, x2 + arm, y2 + arm);
    line(ctx, x2 - arm, y2 + arm, x2 + arm, y2 - arm);
  } else {
    ctx.beginPath();
    ctx.moveTo(x2, y2);
    for (const turn of [2.75, -2.75]) {
      ctx.lineTo(x2 + 8 * ratio * Math.cos(angle + turn), y2 + 8 * ratio * Math.sin(angle + turn));
    }
    ctx.closePath();
    ctx.fill();
  }
  if (rows.mechanism.numbers[row]) {
    const hollow = rows.need.at(row) === "spurious";
    drawMark(ctx, rows.mechanism.at(row), x1, y1, 5 * ratio, hollow, colour("ground"));
  }
}

// What a packet says stands on its sender's side, where there is room.
function words({ ctx, bbox }, rows, pack, row, { free, kept }, x, y, ratio) {
  const side = rows.server.numbers[row];
  const at = y(rows.begin[row]);
  const marked = rows.mark.numbers[row];
  const important = isImportant(rows, row);
  if (at < free[side] || (!important && (at < free[side] + 2 * ratio || at + LABEL * ratio > kept))) return;
  const length = rows.length.numbers[row];
  const parts = [];
  if (length) parts.push(`${plain(rows.seq.at(row))}–${plain(rows.seq.at(row) + length)}`);
  else if (rows.ack.at(row) !== null) parts.push(`ACK ${plain(rows.ack.at(row))}`);
  const blocks = sackOf(pack, row);
  if (blocks.length) parts.push(`SACK ${blocks.map((pair) => pair.map(plain).join("–")).join(", ")}`);
  if (marked) parts.push(rows.mark.at(row));
  if (rows.mechanism.numbers[row]) parts.push(rows.mechanism.at(row));
  if (rows.gone.numbers[row]) parts.push(rows.gone.at(row));
  ctx.fillStyle = marked && !rows.mechanism.numbers[row] ? colour("warning") : important ? colourAt(rows, row) : colour("text");
  ctx.textAlign = side ? "left" : "right";
  const place = x(side) + (side ? 9 : -9) * ratio;
  const room = side ? bbox.left + bbox.width - place : place - bbox.left;
  // The last part says most.
  while (parts.length > 1 && ctx.measureText(parts.join("  ")).width > room) parts.shift();
  ctx.fillText(parts.join("  "), place, at);
  free[side] = at + LABEL * ratio;
}

function nearest(plot, rows, left, top) {
  const [from, to] = [top - 400, top + 400].map((at) => plot.posToVal(at, "t"));
  const xs = [0, 1].map((side) => plot.valToPos(side, "y"));
  let [best, least] = [-1, 10];
  const first = lowerBound(rows.at, Math.min(from, to) - rows.lasted);
  for (let row = first; row < rows.count && rows.at[row] <= Math.max(from, to); row++) {
    const out = rows.server.numbers[row] === 1;
    const [x1, x2] = out ? [xs[1], xs[0]] : xs;
    const share = Math.min(1, Math.max(0, (left - x1) / (x2 - x1)));
    const when = rows.begin[row] + share * (rows.end[row] - rows.begin[row]);
    const far = Math.abs(plot.valToPos(when, "t") - top);
    if (far < least) [best, least] = [row, far];
  }
  return best;
}
