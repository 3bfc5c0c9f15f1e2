// Below the sequence numbers: bytes in flight and the window; round trips, the RTO and timers.

import { colour } from "./theme.js";
import { h } from "./dom.js";
import { size, span } from "./numbers.js";
import { basics, place } from "./plot.js";

/** Draws both lanes of a connection's pack in `host`. */
export function showLanes(host, pack, group, { height }) {
  const bytes = joined(pack, ["flight", "window"]);
  const times = joined(pack, ["rtt", "rto", "timers"]);
  const windowWords = pack.about.scaled ? "peer's window" : "peer's window, as in the header";
  lane(host, group, bytes, {
    height,
    label: `Bytes in flight and ${windowWords}, over time`,
    y: "bytes",
    told: size,
    x: times ? "" : "seconds since the first packet",
    series: [
      { label: "in flight (sent, not acknowledged)", name: "flight", stepped: true },
      { label: windowWords, name: "window", stepped: true, dash: [6, 3] },
    ],
  });
  lane(host, group, times, {
    height,
    label: "Round trips, the RTO that RFC 6298 makes of them, and timers that ran out, over time",
    y: "time",
    told: span,
    x: "seconds since the first packet",
    series: [
      { label: "round trips of what was sent once", name: "rtt", points: 4 },
      { label: "RTO by RFC 6298 from these, without a least value", name: "rto", stepped: true, dash: [6, 3] },
      { label: "timers that ran out, as measured", name: "timers", points: 9 },
    ],
  });
}

function joined(pack, names) {
  const tables = names.map((name) => {
    const table = pack.tables[name];
    return [Array.from(table.column("at").numbers), Array.from(table.column("value").numbers)];
  });
  return tables.some(([at]) => at.length) ? uPlot.join(tables) : null;
}

function lane(host, group, data, { height, label, y, told, x, series }) {
  if (data === null) return;
  const there = (_, i) => data[i + 1].some((value) => value !== null && value !== undefined);
  const legend = h(
    "div",
    { class: "legend small" },
    series.filter(there).map((one) => h("span", { class: `key ${one.name}` }, one.label)),
  );
  host.append(legend);
  place(host, {
    group,
    label,
    data,
    options: () => {
      const made = basics({ height: x ? height + 22 : height, x, y });
      made.axes[1].values = (_, values) => values.map((value) => (value === null ? "" : told(value)));
      made.axes[0].values = (_, values) => values.map((value) => `${Number(value.toPrecision(9))}`);
      return {
        ...made,
        scales: { x: { time: false }, y: { range: (_, low, high) => [0, (high || 1) * 1.08] } },
        series: [{}, ...series.map((one) => drawnAs(one))],
      };
    },
  });
}

function drawnAs({ name, stepped, dash, points }) {
  const made = { stroke: colour(name), width: 1.5, dash, spanGaps: true, points: { show: false } };
  if (stepped) made.paths = uPlot.paths.stepped({ align: 1 });
  if (points) {
    made.paths = () => null;
    made.points = { show: true, size: points, fill: colour(name), stroke: colour(name) };
  }
  return made;
}
