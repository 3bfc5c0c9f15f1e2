// The page: what stands in the address is shown.

import { go, note, read, write } from "./address.js";
import { Damaged, unpack } from "./columns.js";
import { showConnection } from "./connection.js";
import { announce, commandLine, h } from "./dom.js";
import { showFigures } from "./figures.js";
import { learn } from "./marks.js";
import { plain } from "./numbers.js";
import { showSections } from "./overview.js";
import { showPair } from "./pair.js";
import { showTable } from "./table.js";
import { turn } from "./theme.js";
import { showTimeLine } from "./timeline.js";
import { showWhatIf } from "./whatif.js";
import { showWords } from "./words.js";

const FORMAT = 1;

let head = null;
let main = null;
let shown = 0;

async function start() {
  const app = document.getElementById("app");
  try {
    head = (await unpack("head")).about;
    if (head.format !== FORMAT) throw new Damaged(`the data has format ${head.format}`);
    const missing = head.chunks.filter((name) => !document.getElementById(name));
    if (missing.length || !document.getElementById("end")) {
      throw new Damaged(`the file was cut short: ${missing.length ? `${plain(missing.length)} of its ${plain(head.chunks.length)} parts are missing` : "its end is missing"}`);
    }
  } catch (error) {
    app.replaceChildren(broken(error, true));
    return;
  }
  learn(head.mechanisms);
  main = h("main", { id: "main", tabindex: "-1" });
  app.replaceChildren(
    h("a", { class: "skip", href: "#main", onclick: skip }, "Skip to the contents"),
    header(),
    main,
    footer(),
    h("div", { id: "said", "aria-live": "polite", class: "unseen" }),
  );
  addEventListener("hashchange", show);
  await show();
}

function skip(event) {
  event.preventDefault();
  main.focus();
}

function broken(error, whole) {
  const advice = whole
    ? "This file is damaged or was cut short. Copy it again from where it came from, or make it again with rexmit report."
    : "This part of the file is damaged; the others may still be read. Copy the file again from where it came from, or make it again with rexmit report.";
  return h("div", { class: "broken", role: "alert" }, h("h1", {}, "Not readable"), h("p", {}, advice), h("p", { class: "dim" }, String(error.message || error)));
}

function header() {
  return h(
    "header",
    {},
    h("strong", { class: "name" }, "rexmit"),
    h("nav", { id: "nav", "aria-label": "Views" }),
    h("button", { type: "button", onclick: turn, title: "Dark or light" }, "Dark / light"),
  );
}

function footer() {
  return h("footer", {}, `Made by rexmit ${head.version}. It fetches nothing; what you see stays on this machine. `, h("code", {}, head.command));
}

// The views of a part, and of which of them this one is.
function navigation(place, view) {
  const part = head.parts[place];
  const base = place ? { of: place } : {};
  const links = [["Overview", base]];
  if (part.time) links.push(["Time line", { ...base, view: "time" }]);
  for (const table of part.tables) links.push([table.title, { ...base, table: table.name }]);
  if (part.figures.length) links.push(["Figures", { ...base, view: "figures" }]);
  if (part.whatif) links.push(["What if", { ...base, view: "whatif" }]);
  const first = part.packets[0]?.key;
  if (first !== undefined && part.view !== "pair") {
    links.push([part.view === "transfer" ? "A transfer" : "A connection", { ...base, [part.view]: view[part.view] || first }]);
  }
  if (part.pairs.length) links.push(["Beside each other", { ...base, pair: view.pair || part.pairs[0].number }]);
  links.push(["Words", { ...base, view: "words" }]);
  const here = (target) => {
    for (const name of ["table", "pair", "connection", "transfer"]) {
      if ((view[name] !== undefined) !== (target[name] !== undefined)) return false;
    }
    if (view.table !== undefined && view.table !== target.table) return false;
    if (view.connection !== undefined || view.transfer !== undefined || view.pair !== undefined) return true;
    return (view.view || "") === (target.view || "") || Boolean(view.figure && target.view === "figures");
  };
  const parts = h(
    "span",
    { class: "parts" },
    head.parts.length > 1
      ? head.parts.map((one, i) => h("a", { href: write(i ? { of: i } : {}) || "#", "aria-current": i === place ? "true" : null, title: one.name }, `${one.kind} ${shortName(one.name)}`))
      : [],
  );
  document.getElementById("nav").replaceChildren(
    parts,
    ...links.map(([words, target]) => h("a", { href: write(target), "aria-current": here(target) ? "page" : null }, words)),
  );
}

function shortName(name) {
  return name.length > 28 ? `…${name.slice(-26)}` : name;
}

async function show() {
  const view = read();
  const place = head.parts[Number(view.of)] ? Number(view.of) : 0;
  const mine = ++shown;
  navigation(place, view);
  const host = h("div", {});
  try {
    main.replaceChildren(host);
    await draw(host, place, view);
  } catch (error) {
    if (!(error instanceof Damaged)) console.error(error);
    host.append(error instanceof Damaged ? broken(error, false) : failed(error));
  }
  if (mine !== shown) return;
  const heading = main.querySelector("h1");
  document.title = heading ? `${heading.textContent} – rexmit` : head.title;
  announce(heading ? heading.textContent : "");
  document.documentElement.dataset.shown = String(mine);
}

function failed(error) {
  return h("div", { class: "broken", role: "alert" }, h("h1", {}, "This view cannot be shown"), h("p", {}, String(error.message || error)));
}

async function draw(host, place, view) {
  const part = head.parts[place];
  const base = place ? { of: place } : {};
  const key = view[part.view];
  if (part.view !== "pair" && key !== undefined) return connection(host, place, key, view);
  if (view.pair !== undefined && part.pairs.length) {
    const pair = part.pairs.find((one) => String(one.number) === view.pair);
    if (pair) return showPair(host, head.parts, pair, view);
    host.append(h("h1", {}, `${view.pair}`), h("p", { class: "warning" }, `Not in this page. ${part.rule}`));
    return undefined;
  }
  if (view.table !== undefined) return table(host, part, base, view);
  if (view.view === "figures" && part.figures.length) return showFigures(host, part, view);
  if (view.view === "whatif" && part.whatif) return showWhatIf(host, part, view);
  if (view.view === "time" && part.time) return showTimeLine(host, part, base, view);
  if (view.view === "words") return showWords(host, head.words);
  showSections(host, part, base);
  if (part.rule) host.append(h("p", { class: "dim" }, part.rule));
  return undefined;
}

async function table(host, part, base, view) {
  const spec = part.tables.find((one) => one.name === view.table);
  if (!spec) {
    host.append(h("h1", {}, view.table), h("p", { class: "warning" }, "There is no such table."));
    return;
  }
  host.append(h("h1", {}, spec.title));
  const { tables } = await unpack(spec.chunk);
  const command = commandLine(spec.command);
  const grid = showTable(host, tables.rows, spec, view, {
    changed(state) {
      note({ ...base, table: spec.name, ...state });
      const options = [["--where", state.filter.trim()], ["--sort", state.sort]].filter(([, value]) => value);
      command.say([spec.command, ...options.map(([name, value]) => `${name}=${shellWord(value)}`)].join(" "));
    },
    open: (row) => go({ ...base, [spec.opens.view]: tables.rows.column(spec.opens.column).at(row) }),
  });
  host.append(command);
  grid.element.focus({ preventScroll: true });
}

async function connection(host, place, key, view) {
  const part = head.parts[place];
  const there = part.packets.find((one) => one.key === key || one.key.startsWith(`${key}.`))?.key;
  if (there === undefined) {
    host.append(
      h("h1", {}, `${part.view} ${key}`),
      h("p", { class: "warning" }, "Its packets are not in this file."),
      h("p", {}, part.rule),
    );
    if (part.missing) host.append(commandLine(part.missing.replace("{number}", () => shellWord(key)), "A page that has them:"));
    return undefined;
  }
  if (view.beside !== undefined) {
    const [of, other] = view.beside.includes(":") ? view.beside.split(":") : [place, view.beside];
    const theirs = head.parts[Number(of)];
    if (theirs && theirs.packets.some((one) => one.key === other)) {
      const pair = {
        title: `${part.view} ${there} and ${Number(of) === place ? "" : `${theirs.name}, `}${theirs.view} ${other}`,
        left: { part: place, key: there },
        right: { part: Number(of), key: other },
      };
      return showPair(host, head.parts, pair, view);
    }
  }
  const paths = part.packets.filter((one) => one.key.startsWith(`${key}.`));
  if (paths.length > 1 && view.view !== "packets") {
    const pair = {
      title: paths[0].title.replace(/, path \d+$/, ""),
      sides: paths.map((one) => ({ part: place, key: one.key, alone: write({ ...(place ? { of: place } : {}), [part.view]: one.key }) })),
      parting: null,
      words: "Its paths, on one axis of time.",
    };
    return showPair(host, head.parts, pair, view);
  }
  return showConnection(host, part, there, { ...view, [part.view]: there }, others(place, there, view));
}

// What stands in an address is somebody's word: quoted, a shell takes it as one.
function shellWord(text) {
  return /^[\w.,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

// Other connections: to go to, or to lay beside this one.
function others(place, key, view) {
  const part = head.parts[place];
  const base = place ? { of: place } : {};
  const names = part.packets.map((one) => one.key);
  const at = names.indexOf(key);
  const link = (words, to) => (to === undefined ? h("span", { class: "dim" }, words) : h("a", { href: write({ ...base, [part.view]: to, view: view.view }) }, words));
  const select = h(
    "select",
    {
      "aria-label": "Lay another beside it",
      onchange: () => select.value && go({ ...base, [part.view]: key, beside: select.value, view: view.view === "packets" ? null : view.view }),
    },
    h("option", { value: "" }, "Lay beside it …"),
    head.parts.flatMap((other, i) =>
      other.view === "pair" ? [] : other.packets
        .filter((one) => i !== place || one.key !== key)
        .slice(0, 300)
        .map(({ key: name, title }) => h("option", { value: i === place ? name : `${i}:${name}` }, i === place ? title : `${other.name}: ${title}`)),
    ),
  );
  return h("p", { class: "others" }, link("← before", names[at - 1]), ` ${plain(at + 1)} of ${plain(names.length)} in this file `, link("next →", names[at + 1]), " ", select);
}

// The data stands behind the scripts.
addEventListener("DOMContentLoaded", start);
