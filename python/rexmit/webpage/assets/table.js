// A table of any length: only the rows in view are drawn.

import { h, announce } from "./dom.js";
import { parsed, fitting } from "./filter.js";
import { plain, shown } from "./numbers.js";
import { sorted } from "./sort.js";

const ROW = 28; // Pixels; page.css has the same.
const TALLEST = 12_000_000; // Browsers draw nothing below some 16 million pixels.
const SAMPLED = 200;
const PRINTED = 500; // Rows on paper.
const PAPER = 1000; // Pixels that a sheet is wide that lies on its side, its margins apart.

/**
 * Shows `table` in `host`. `spec` has about (unit and meaning by column), opens, sort; `state` what
 * stands in the address, {filter, sort}; `changed(state)` is told when that changes, `open(row)`
 * when a row is chosen.
 */
export function showTable(host, table, spec, state, { changed, open }) {
  const grid = new Grid(table, spec, state, changed, open);
  host.append(grid.search, grid.element);
  grid.refresh();
  return grid;
}

class Grid {
  constructor(table, spec, state, changed, open) {
    this.table = table;
    this.spec = spec;
    this.filter = state.filter || "";
    this.sort = state.sort || spec.sort || "";
    this.changed = changed;
    this.open = open;
    this.active = 0;
    this.every = new Uint32Array(table.rows).map((_, i) => i);
    this.widths = table.names.map((name) => this.width(name));
    this.build();
  }

  width(name) {
    const column = this.table.column(name);
    const unit = (this.spec.about[name] || ["", ""])[0];
    let wide = name.length + (unit ? unit.length + 3 : 0) + 2;
    const step = Math.max(1, Math.floor(this.table.rows / SAMPLED));
    for (let row = 0; row < this.table.rows; row += step) {
      wide = Math.max(wide, shown(column.at(row), unit, name).length);
    }
    return Math.min(Math.max(Math.ceil(wide * 0.95) + 2, 7), 46);
  }

  build() {
    const label = `${this.spec.title}: ${plain(this.table.rows)} rows`;
    this.field = h("input", {
      type: "search",
      value: this.filter,
      spellcheck: "false",
      autocomplete: "off",
      "aria-label": `Search and filter ${this.spec.title}`,
      placeholder: "words to find, or comparisons: " + this.example(),
      oninput: () => this.typed(),
    });
    this.count = h("span", { class: "count", role: "status" });
    this.search = h("div", { class: "search" }, this.field, this.count);
    this.heads = this.table.names.map((name, place) => this.head(name, place));
    const template = this.widths.map((wide) => `${wide}ch`).join(" ");
    this.row = h("div", { class: "row heads", role: "row", "aria-rowindex": "1" }, this.heads);
    this.row.style.gridTemplateColumns = template;
    this.template = template;
    this.body = h("div", { class: "rows", role: "rowgroup" });
    this.element = h(
      "div",
      {
        class: "grid",
        role: "grid",
        tabindex: "0",
        "aria-label": label,
        "aria-colcount": this.table.names.length,
        onkeydown: (event) => this.pressed(event),
        onscroll: () => this.scrolled(),
      },
      h("div", { class: "headline", role: "rowgroup" }, this.row),
      this.body,
    );
    this.drawn = new Map();
    new ResizeObserver(() => this.draw()).observe(this.element);
    addEventListener("beforeprint", () => this.element.isConnected && this.print(true));
    addEventListener("afterprint", () => this.element.isConnected && this.print(false));
  }

  /** On paper the rows from here on stand, as many as make sense there, as wide as a sheet. */
  print(starts) {
    this.printing = starts;
    const from = this.first;
    const number = Math.min(this.rows.length - from, PRINTED);
    const less = starts && number < this.rows.length;
    const note = less ? `; printed: ${plain(number)}, from ${plain(from + 1)} on` : "";
    this.count.textContent = this.counted() + note;
    const wide = this.row.offsetWidth;
    this.element.style.zoom = starts ? Math.min(1, PAPER / wide) : "";
    this.body.style.height = `${starts ? number * ROW : this.tall}px`;
    this.clear();
    this.draw();
  }

  example() {
    const names = this.table.names;
    const number = names.find((name) => name === "waited_s") || names.find((name) => this.table.column(name).kind === "number" && name !== "number");
    const words = names.find((name) => this.table.column(name).kind === "words");
    return [number && `${number}>0.5`, words && `${words}=${this.table.column(words).values[0] || "…"}`]
      .filter(Boolean)
      .join("  ");
  }

  head(name, place) {
    const [unit, meaning] = this.spec.about[name] || ["", ""];
    const button = h(
      "button",
      { type: "button", tabindex: "-1", title: meaning || null, onclick: () => this.by(name) },
      name.replace(/_s$|_ms$|_bytes$/, (end) => (unit ? "" : end)).replaceAll("_", " "),
      unit ? h("small", {}, ` ${unit}`) : null,
    );
    const attributes = { role: "columnheader", class: this.kind(name), "aria-colindex": place + 1 };
    return h("div", attributes, button);
  }

  kind(name) {
    return this.table.column(name).kind === "number" ? "number" : "text";
  }

  /** Sorts by a column; by the same one again the other way round. */
  by(name) {
    const first = this.kind(name) === "number" && name !== "number" ? "-" : "";
    const other = first === "-" ? "" : "-";
    this.sort = this.sort === first + name ? other + name : first + name;
    this.refresh();
    announce(`sorted by ${name}, ${this.sort.startsWith("-") ? "largest" : "smallest"} first`);
  }

  typed() {
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      this.filter = this.field.value;
      this.refresh();
    }, 120);
  }

  /** Filters and sorts anew. */
  refresh() {
    const { terms, wrong } = parsed(this.filter, this.table);
    let rows = terms.length ? fitting(terms, this.table) : this.every;
    const column = this.table.column(this.sort.replace(/^-/, ""));
    if (column) rows = sorted(rows, column, this.sort.startsWith("-"));
    this.rows = rows;
    this.active = 0;
    const count = this.counted();
    this.count.textContent = wrong.length ? `${count} (${wrong.join("; ")})` : count;
    this.count.classList.toggle("wrong", wrong.length > 0);
    this.heads.forEach((head, place) => {
      const name = this.table.names[place];
      const here = this.sort.replace(/^-/, "") === name;
      const way = this.sort.startsWith("-") ? "descending" : "ascending";
      if (here) head.setAttribute("aria-sort", way);
      else head.removeAttribute("aria-sort");
    });
    this.element.setAttribute("aria-rowcount", rows.length + 1);
    this.tall = Math.min(rows.length * ROW, TALLEST);
    this.body.style.height = `${this.tall}px`;
    this.element.scrollTop = 0;
    this.first = 0;
    this.clear();
    this.draw();
    this.changed({ filter: this.filter, sort: this.sort === this.spec.sort ? "" : this.sort });
  }

  counted() {
    const all = plain(this.table.rows);
    const here = plain(this.rows.length);
    return this.rows.length === this.table.rows ? `${all} rows` : `${here} of ${all}`;
  }

  clear() {
    this.body.replaceChildren();
    this.drawn.clear();
  }

  get fits() {
    return Math.max(1, Math.floor((this.element.clientHeight - this.row.offsetHeight) / ROW));
  }

  scrolled() {
    const most = this.rows.length - this.fits;
    const room = this.tall - this.fits * ROW;
    const scale = this.tall < this.rows.length * ROW ? most / Math.max(1, room) : 1 / ROW;
    this.first = Math.max(0, Math.min(most, Math.floor(this.element.scrollTop * scale)));
    this.draw();
  }

  draw() {
    if (!this.rows) return;
    const from = this.printing ? this.first : Math.max(0, this.first - 4);
    const room = this.printing ? PRINTED : this.fits + 6;
    const to = Math.min(this.rows.length, this.first + room);
    const squeezed = this.tall < this.rows.length * ROW;
    const base = this.printing ? 0 : squeezed ? this.element.scrollTop - (this.first - from) * ROW : from * ROW;
    for (const [place, line] of this.drawn) {
      if (place < from || place >= to) {
        line.remove();
        this.drawn.delete(place);
      }
    }
    for (let place = from; place < to; place++) {
      let line = this.drawn.get(place);
      if (!line) {
        line = this.line(place);
        this.drawn.set(place, line);
        this.body.append(line);
      }
      line.style.transform = `translateY(${base + (place - from) * ROW}px)`;
      line.classList.toggle("active", place === this.active);
      line.setAttribute("aria-selected", place === this.active);
    }
    const active = this.drawn.get(this.active);
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  line(place) {
    const row = this.rows[place];
    const cells = this.table.names.map((name, at) => {
      const unit = (this.spec.about[name] || [""])[0];
      const text = shown(this.table.column(name).at(row), unit, name);
      const attributes = { role: "gridcell", class: this.kind(name), "aria-colindex": at + 1 };
      return h("div", { ...attributes, title: text.length > 40 ? text : null }, text);
    });
    const line = h(
      "div",
      {
        class: this.spec.opens ? "row opens" : "row",
        role: "row",
        id: `${this.spec.name}-${place}`,
        "aria-rowindex": place + 2,
        onclick: () => this.choose(place),
      },
      cells,
    );
    line.style.gridTemplateColumns = this.template;
    return line;
  }

  choose(place) {
    this.active = place;
    this.draw();
    if (this.spec.opens && getSelection().isCollapsed) this.open(this.rows[place]);
  }

  pressed(event) {
    if (event.target !== this.element) return;
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: this.fits,
      PageUp: -this.fits,
      Home: -Infinity,
      End: Infinity,
    };
    if (event.key === "Enter" && this.rows.length) {
      event.preventDefault();
      this.choose(this.active);
    } else if (event.key in steps) {
      event.preventDefault();
      this.step(steps[event.key]);
    }
  }

  step(by) {
    this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + by));
    if (this.active < this.first) this.show(this.active);
    else if (this.active >= this.first + this.fits) this.show(this.active - this.fits + 1);
    this.draw();
  }

  show(first) {
    const most = this.rows.length - this.fits;
    const room = this.tall - this.fits * ROW;
    const squeezed = this.tall < this.rows.length * ROW;
    this.first = Math.max(0, Math.min(most, first));
    this.element.scrollTop = squeezed ? (this.first * room) / Math.max(1, most) : this.first * ROW;
  }
}
