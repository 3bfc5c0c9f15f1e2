// What the terminal prints, with ways to what it is about.

import { write } from "./address.js";
import { commandLine, h } from "./dom.js";

/** Shows the printed sections of `part` in `host`. */
export function showSections(host, part, base) {
  for (const [place, section] of part.sections.entries()) {
    const box = h("section", { "aria-label": section.title });
    if (!place) box.append(h("h1", {}, `${part.kind}: ${part.name}`));
    // What is printed below the first has a heading of its own, or else its title.
    else if (section.blocks[0]?.look !== "heading") box.append(h("h2", {}, section.title));
    section.blocks.forEach((block, i) => {
      const first = place && !i && block.look === "heading";
      box.append(first ? h("h2", {}, block.text) : drawn(block, part, base));
    });
    box.append(commandLine(section.command));
    host.append(box);
  }
}

function drawn(block, part, base) {
  if (block.is === "facts") return facts(block);
  if (block.is === "grid") return grid(block, part, base);
  // A connection's line begins with its number.
  const worst = part.view === "connection" ? /^\s*(\d+) {2}(.*)$/s.exec(block.text) : null;
  if (worst) {
    return h("p", { class: "worst" }, h("a", { href: write({ ...base, connection: worst[1] }) }, `${worst[1]}`), ` ${worst[2]}`);
  }
  if (block.look === "heading") return h("h3", {}, block.text);
  // Lines whose words stand below each other need letters of one width.
  const aligned = /\S {2,}\S/.test(block.text) ? " aligned" : "";
  return h("p", { class: `said ${block.look}${aligned}` }, block.text);
}

function facts(block) {
  const list = h("dl", {});
  for (const [label, text] of block.pairs) {
    if (label) list.append(h("dt", {}, label));
    list.append(h("dd", {}, text));
  }
  return list;
}

function grid(block, part, base) {
  const align = (place) => (block.right[place] ? "number" : null);
  const head = h(
    "tr",
    {},
    block.heads.map((text, place) => h("th", { scope: "col", class: align(place) }, text)),
  );
  const rows = block.rows.map((row) =>
    row.across
      ? h("tr", {}, h("th", { colspan: block.heads.length, scope: "rowgroup" }, row.texts[0]))
      : h("tr", { class: row.look }, block.heads.map((_, place) => cell(row.texts[place] || "", place))),
  );
  // Of a mechanism, its retransmissions.
  function cell(text, place) {
    const word = place === 0 && part.kind === "trace" ? /\((([a-z-]+)( or [a-z-]+)?)\)$/.exec(text) : null;
    const known = word && part.tables.some((table) => table.name === "retransmissions");
    const address = known && write({ ...base, table: "retransmissions", filter: `mechanism=${word[2]}${word[3] ? ` "${word[1]}"` : ""}` });
    return h("td", { class: align(place) }, known ? h("a", { href: address }, text) : text);
  }
  return h("div", { class: "wide" }, h("table", { class: "printed" }, h("thead", {}, head), h("tbody", {}, rows)));
}
