// The time–sequence picture: data, what was acknowledged, SACK blocks, retransmissions.

import { h } from "./dom.js";
import { colour } from "./theme.js";
import { Tip, Walk, sackOf, told } from "./hover.js";
import { drawMark } from "./marks.js";
import { basics, lowerBound, place } from "./plot.js";
import { size } from "./numbers.js";

const NEAR = 14; // Pixels around the pointer.

/**
 * Draws a connection's pack in `host`, what the data's sender sent, and below it what the other side
 * sent where that retransmitted, too; `parted` is the time at which it and another part.
 */
export function showSequence(host, pack, group, { height, parted = null, label }) {
  const server = pack.about.data_from_server;
  if (!retransmitted(pack, !server)) return sequence(host, pack, group, server, { height, parted, label });
  for (const side of [server, !server]) {
    const words = `What the ${side ? "server" : "client"} sent`;
    host.append(h("h2", { class: "side" }, words));
    sequence(host, pack, group, side, { height: side === server ? height : height * 0.6, parted, label: `${words}. ${label}` });
  }
  return undefined;
}

function retransmitted(pack, server) {
  const { packets } = pack.tables;
  const [mechanism, mine] = [packets.column("mechanism").numbers, packets.column("from_server").numbers];
  return mechanism.some((code, row) => code !== 0 && (mine[row] === 1) === server);
}

function sequence(host, pack, group, server, { height, parted, label }) {
  const rows = columns(pack, server);
  const drawn = place(host, {
    group,
    label,
    data: [rows.at, rows.low, rows.high, rows.acknowledged],
    keys: (key) => walk.key(key),
    options: () => ({
      ...withSeries(basics({ height, x: "", y: "sequence number" })),
      hooks: {
        draw: [(plot) => draw(plot, rows, pack, parted)],
        setCursor: [(plot) => pointed(plot)],
      },
    }),
  });
  drawn.frame.style.position = "relative";
  const tip = new Tip(drawn.frame);
  const walk = new Walk(pack, group, (row, words) => {
    const plot = drawn.plot();
    const [x, y] = [plot.valToPos(rows.at[row], "x"), plot.valToPos(rows.top[row], "y")];
    tip.show([`Retransmission ${words}`, ...told(pack, row)], x + plot.bbox.left / devicePixelRatio, y, { aloud: true });
  });
  function pointed(plot) {
    const { left, top } = plot.cursor;
    const row = left < 0 ? -1 : nearest(plot, rows, left, top);
    if (row === -1) tip.hide();
    else tip.show(told(pack, row), left + plot.bbox.left / devicePixelRatio, top);
  }
  drawn.frame.addEventListener("mouseleave", () => tip.hide());
  return drawn;
}

function withSeries(options) {
  const silent = { paths: () => null, points: { show: false } };
  const [x, y] = options.axes;
  y.values = (_, values) => values.map((value) => (value === null ? "" : size(value).replace(" B", "")));
  x.values = (_, values) => values.map((value) => `${Number(value.toPrecision(9))}`);
  return {
    ...options,
    scales: { x: { time: false }, y: { range: (_, low, high) => padded(low, high) } },
    series: [{}, { ...silent }, { ...silent }, { ...silent }],
  };
}

function padded(low, high) {
  if (low === null) return [0, 1];
  const room = Math.max((high - low) * 0.06, 1);
  return [low - room, high + room];
}

// What is drawn of each packet: data from low to high, or up to where it acknowledges.
function columns(pack, server) {
  const { packets } = pack.tables;
  const at = packets.column("at").numbers;
  const count = packets.rows;
  const mine = packets.column("from_server");
  const [seq, length, ack] = ["seq", "length", "ack"].map((name) => packets.column(name));
  const low = new Array(count).fill(null);
  const high = new Array(count).fill(null);
  const acknowledged = new Array(count).fill(null);
  const top = new Float64Array(count);
  let reached = null;
  const gone = packets.column("gone").numbers;
  let sent = 0;
  for (let row = 0; row < count; row++) {
    if ((mine.numbers[row] === 1) === server) sent = Math.max(sent, seq.numbers[row] + length.numbers[row]);
  }
  // An acknowledgement of what was never sent is none (RFC 9293, 3.10.7.4). Where the capture shows
  // one direction nothing is known of that.
  const most = sent || Infinity;
  for (let row = 0; row < count; row++) {
    if ((mine.numbers[row] === 1) === server) {
      top[row] = seq.numbers[row] + length.numbers[row];
      if (length.numbers[row]) {
        low[row] = seq.numbers[row];
        high[row] = top[row];
      }
    } else {
      const value = ack.at(row);
      top[row] = value === null ? 0 : value;
      if (value !== null && value <= most && !gone[row]) {
        // An acknowledgement that came late takes nothing back.
        reached = reached === null ? value : Math.max(reached, value);
        acknowledged[row] = reached;
      }
    }
  }
  return {
    at, low, high, acknowledged, top, count, gone,
    goneWords: packets.column("gone"),
    mechanism: packets.column("mechanism"),
    need: packets.column("need"),
  };
}

function draw(plot, rows, pack, parted) {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio || 1;
  const x = (value) => plot.valToPos(value, "x", true);
  const y = (value) => plot.valToPos(value, "y", true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  const from = Math.max(0, lowerBound(rows.at, plot.scales.x.min) - 1);
  const to = Math.min(rows.count, lowerBound(rows.at, plot.scales.x.max) + 1);
  sacks(ctx, rows, pack, from, to, x, y, ratio);
  acknowledgements(ctx, rows, from, to, x, y, ratio);
  segments(ctx, rows, from, to, x, y, ratio);
  retransmissions(ctx, rows, from, to, x, y, ratio);
  if (parted !== null) {
    ctx.strokeStyle = colour("parted");
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    ctx.lineWidth = 2 * ratio;
    line(ctx, x(parted), bbox.top, x(parted), bbox.top + bbox.height);
  }
  ctx.restore();
}

function line(ctx, x1, y1, x2, y2) {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}

function acknowledgements(ctx, rows, from, to, x, y, ratio) {
  ctx.strokeStyle = colour("ack");
  ctx.lineWidth = 1.5 * ratio;
  ctx.beginPath();
  let last = null;
  // What was acknowledged before the first of them here.
  for (let row = from - 1; row >= 0 && last === null; row--) last = rows.acknowledged[row];
  let begun = false;
  for (let row = from; row < to; row++) {
    const value = rows.acknowledged[row];
    if (value === null || value === last) continue;
    const at = x(rows.at[row]);
    if (!begun) ctx.moveTo(last === null ? at : -1e4, y(last === null ? value : last));
    begun = true;
    if (last !== null) ctx.lineTo(at, y(last));
    ctx.lineTo(at, y(value));
    last = value;
  }
  if (last !== null) {
    if (!begun) ctx.moveTo(-1e4, y(last));
    ctx.lineTo(1e5, y(last));
  }
  ctx.stroke();
}

function sacks(ctx, rows, pack, from, to, x, y, ratio) {
  ctx.strokeStyle = colour("sack");
  ctx.lineWidth = 1.5 * ratio;
  ctx.beginPath();
  sackOf(pack, 0);
  for (let row = from; row < to; row++) {
    for (const [left, right] of pack.sacks.get(row) || []) {
      if (rows.acknowledged[row] === null) continue;
      ctx.moveTo(x(rows.at[row]), y(left));
      ctx.lineTo(x(rows.at[row]), y(right));
    }
  }
  ctx.stroke();
}

// Data stands upright from its first number to its last; what falls into one column is one line.
function segments(ctx, rows, from, to, x, y, ratio) {
  ctx.lineWidth = 2 * ratio;
  for (const lost of [false, true]) {
    ctx.strokeStyle = colour(lost ? "lost" : "data");
    ctx.beginPath();
    let [column, least, most] = [null, 0, 0];
    const flush = () => {
      if (column === null) return;
      ctx.moveTo(column, Math.max(least, most + 2 * ratio));
      ctx.lineTo(column, most);
    };
    for (let row = from; row < to; row++) {
      if (rows.low[row] === null || Boolean(rows.gone[row]) !== lost) continue;
      if (rows.mechanism.numbers[row] && !lost) continue;
      const here = Math.round(x(rows.at[row]));
      const [bottom, top] = [y(rows.low[row]), y(rows.high[row])];
      if (here === column && bottom >= most - 1.5 * ratio && top <= least + 1.5 * ratio) {
        least = Math.max(least, bottom);
        most = Math.min(most, top);
      } else {
        flush();
        [column, least, most] = [here, bottom, top];
      }
    }
    flush();
    ctx.stroke();
  }
}

function retransmissions(ctx, rows, from, to, x, y, ratio) {
  const ground = colour("ground");
  const seen = new Set();
  const radius = 5 * ratio;
  for (let row = from; row < to; row++) {
    const lost = rows.gone[row];
    if (rows.low[row] === null) continue;
    const [px, py] = [x(rows.at[row]), y(rows.low[row])];
    if (rows.mechanism.numbers[row]) {
      const word = rows.mechanism.at(row);
      // Marks on the very same place hide each other: one is enough.
      const key = `${word}${rows.need.numbers[row]} ${Math.round(px / 2)} ${Math.round(py / 2)}`;
      if (seen.has(key)) continue;
      seen.add(key);
      drawMark(ctx, word, px, py, radius, rows.need.at(row) === "spurious", ground);
    }
    if (lost) {
      ctx.strokeStyle = colour("lost");
      ctx.lineWidth = 1.6 * ratio;
      const arm = 4 * ratio;
      const top = y(rows.high[row]);
      line(ctx, px - arm, top - arm, px + arm, top + arm);
      line(ctx, px - arm, top + arm, px + arm, top - arm);
    }
  }
}

function nearest(plot, rows, left, top) {
  const [from, to] = [left - NEAR, left + NEAR].map((at) => plot.posToVal(at, "x"));
  let [best, least] = [-1, NEAR * NEAR];
  for (let row = lowerBound(rows.at, from); row < rows.count && rows.at[row] <= to; row++) {
    if (rows.low[row] === null && rows.acknowledged[row] === null) continue;
    const dx = plot.valToPos(rows.at[row], "x") - left;
    const high = plot.valToPos(rows.top[row], "y");
    const low = rows.low[row] === null ? high : plot.valToPos(rows.low[row], "y");
    const dy = top < high ? high - top : top > low ? top - low : 0;
    // A retransmission is meant before what lies below it.
    const far = (dx * dx + dy * dy) * (rows.mechanism.numbers[row] ? 0.3 : 1);
    if (far < least) [best, least] = [row, far];
  }
  return best;
}
