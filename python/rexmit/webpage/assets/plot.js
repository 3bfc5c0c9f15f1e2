// Plots over one axis of time: what zooms or pans one of a group moves all of them.

import { colour, onTheme } from "./theme.js";
import { h } from "./dom.js";

/** Plots that show the same time, and the range that they show. */
export class Group {
  #plots = [];
  #listeners = [];
  #moving = false;

  constructor(from, to) {
    // One instant alone has no width.
    const room = Math.max(to - from, 1e-6) * 0.02;
    this.whole = [from - room, to + room];
    this.range = this.whole;
  }

  /** Calls `moved(range)` after each change. */
  listen(moved) {
    this.#listeners.push(moved);
  }

  /** The range is the whole. */
  get isWhole() {
    return this.range[0] === this.whole[0] && this.range[1] === this.whole[1];
  }

  /** Adds a plot; `axis` is the name of its scale of time. */
  add(plot, axis) {
    this.#plots.push({ plot, axis });
  }

  /** Takes out plots that were thrown away. */
  drop(plot) {
    this.#plots = this.#plots.filter((one) => one.plot !== plot);
  }

  /** Shows this range in all plots, within the whole. */
  show(from, to) {
    if (this.#moving) return;
    const [least, most] = this.whole;
    const wide = Math.min(Math.max(to - from, (most - least) * 1e-7, 1e-9), most - least);
    const start = Math.min(Math.max(from, least), most - wide);
    this.range = [start, start + wide];
    this.#moving = true;
    for (const { plot, axis } of this.#plots) {
      plot.setScale(axis, { min: this.range[0], max: this.range[1] });
    }
    this.#moving = false;
    for (const moved of this.#listeners) moved(this.range);
  }

  /** Narrower by a factor around a time; wider where it is below 1. */
  zoom(factor, around) {
    const [from, to] = this.range;
    const middle = around === undefined ? (from + to) / 2 : around;
    this.show(middle - (middle - from) / factor, middle + (to - middle) / factor);
  }

  /** Moves by a share of the range. */
  pan(share) {
    const [from, to] = this.range;
    this.show(from + share * (to - from), to + share * (to - from));
  }

  /** Shows all. */
  all() {
    this.show(...this.whole);
  }
}

/** Options of uPlot that all plots have: axes in the theme's colours, no legend of its own. */
export function basics({ height, x, y, xName = "x", horizontal = true }) {
  const axis = (label, more) => ({
    stroke: colour("text"),
    grid: { stroke: colour("grid"), width: 1 },
    ticks: { stroke: colour("grid"), width: 1, size: 5 },
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    label,
    labelSize: label ? 22 : 0,
    ...more,
  });
  return {
    width: 600,
    height,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: !horizontal },
    axes: [axis(x, { scale: xName, size: 34 }), axis(y, { scale: "y", size: 74 })],
  };
}

/**
 * A plot in a place of its own, made anew for another theme and as wide as the place.
 * `options()` gives uPlot's options, `data` its columns; `group` is what it moves with.
 */
export function place(host, { options, data, group, axis = "x", label, keys, vertical = false }) {
  const frame = h("div", { class: "plot", tabindex: "0", role: "group", "aria-label": label });
  host.append(frame);
  let plot = null;
  const make = () => {
    if (plot) {
      group.drop(plot);
      plot.destroy();
    }
    const made = options();
    made.width = Math.max(240, frame.clientWidth || host.clientWidth || 600);
    made.hooks = { ...made.hooks };
    made.hooks.setSelect = [
      ...(made.hooks.setSelect || []),
      (self) => selected(self, group, axis, vertical),
    ];
    plot = new uPlot(made, data, frame);
    plot.setScale(axis, { min: group.range[0], max: group.range[1] });
    group.add(plot, axis);
    handle(plot, group, axis, vertical);
  };
  make();
  onTheme(frame, make);
  const resize = new ResizeObserver(() => {
    if (!frame.isConnected) return resize.disconnect();
    const wide = Math.max(240, frame.clientWidth);
    if (Math.abs(wide - plot.width) > 1) plot.setSize({ width: wide, height: plot.height });
  });
  resize.observe(frame);
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (keyed(event.key, group, vertical) || (keys && keys(event.key))) event.preventDefault();
  });
  return { frame, plot: () => plot };
}

function keyed(key, group, vertical) {
  const [back, on] = vertical ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  if (key === back) group.pan(-0.2);
  else if (key === on) group.pan(0.2);
  else if (key === "+" || key === "=") group.zoom(2);
  else if (key === "-") group.zoom(0.5);
  else if (key === "0") group.all();
  else return false;
  return true;
}

// A stretch that was marked with the mouse.
function selected(plot, group, axis, vertical) {
  const [at, wide] = vertical
    ? [plot.select.top, plot.select.height]
    : [plot.select.left, plot.select.width];
  if (wide > 4) {
    const ends = [plot.posToVal(at, axis), plot.posToVal(at + wide, axis)];
    group.show(Math.min(...ends), Math.max(...ends));
  }
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

// The wheel zooms; with Shift, or the middle button, the mouse pans; two clicks show all.
function handle(plot, group, axis, vertical) {
  const over = plot.over;
  const at = (event) => {
    const box = over.getBoundingClientRect();
    return plot.posToVal(vertical ? event.clientY - box.top : event.clientX - box.left, axis);
  };
  over.addEventListener(
    "wheel",
    (event) => {
      // A page in which the pointer passes a plot still scrolls.
      if (!event.ctrlKey && !event.shiftKey && document.activeElement !== over.closest(".plot")) return;
      event.preventDefault();
      if (event.shiftKey) group.pan(Math.sign(event.deltaY || event.deltaX) * 0.1);
      else group.zoom(event.deltaY < 0 ? 1.25 : 0.8, at(event));
    },
    { passive: false },
  );
  over.addEventListener("dblclick", () => group.all());
  over.addEventListener(
    "mousedown",
    (event) => {
      over.closest(".plot").focus({ preventScroll: true });
      if (!event.shiftKey && event.button !== 1) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      let last = at(event);
      const move = (moved) => {
        const by = last - at(moved);
        group.show(group.range[0] + by, group.range[1] + by);
        last = at(moved);
      };
      const end = () => {
        removeEventListener("mousemove", move);
        removeEventListener("mouseup", end);
      };
      addEventListener("mousemove", move);
      addEventListener("mouseup", end);
    },
    { capture: true },
  );
}

/** The first place in rising numbers that is not below a value. */
export function lowerBound(numbers, value) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
