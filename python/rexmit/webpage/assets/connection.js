// A connection: sequence numbers with what runs beside them, a ladder, or its packets in a table.

import { go, note, range, rangeText, write } from "./address.js";
import { unpack } from "./columns.js";
import { commandLine, h } from "./dom.js";
import { showLadder } from "./ladder.js";
import { showLanes } from "./lanes.js";
import { icon, placeOf, wordsOf } from "./marks.js";
import { plain, span } from "./numbers.js";
import { Group, lowerBound } from "./plot.js";
import { showSequence } from "./sequence.js";
import { showTable } from "./table.js";
import { colour, onTheme } from "./theme.js";

const SHOWN = 60; // Packets of a ladder at first.

const PICTURES = [
  ["sequence", "Sequence numbers"],
  ["ladder", "Ladder"],
  ["packets", "Packets"],
];

/** The times of a connection's first and last packet. */
export function whole(pack) {
  const at = pack.tables.packets.column("at").numbers;
  return [at[0], at[at.length - 1]];
}

/** Shows the connection `key` of `part` in `host`. */
export async function showConnection(host, part, key, view, others) {
  const pack = await unpack(part.packets.find((one) => one.key === key).chunk);
  const picture = PICTURES.some(([name]) => name === view.view) ? view.view : "sequence";
  const group = new Group(...whole(pack));
  const asked = range(view.t);
  if (asked) group.range = asked;
  else if (picture === "ladder") group.range = around(pack, group);
  host.append(h("h1", {}, pack.about.title), facts(pack), others);
  host.append(choice(view, picture));
  const command = commandLine(pack.about.command);
  if (picture === "packets") {
    await showPackets(host, pack, view);
  } else {
    host.append(tools(group, picture), legend(pack));
    const label = `${pack.about.title}: ${spoken(pack)}. Keys: arrows pan, + and - zoom, 0 shows all, n and p go from retransmission to retransmission.`;
    if (picture === "ladder") {
      if (!pack.about.ends) host.append(h("p", { class: "dim" }, oneEnd(part)));
      showLadder(host, pack, group, { height: 640, label });
    } else {
      showSequence(host, pack, group, { height: 380, label });
      showLanes(host, pack, group, { height: 150 });
    }
    let later;
    group.listen((shown) => {
      clearTimeout(later);
      later = setTimeout(() => {
        note({ ...view, t: group.isWhole ? null : rangeText(shown) });
        command.say(near(pack, group));
      }, 150);
    });
    command.say(near(pack, group));
  }
  host.append(command);
}

function oneEnd(part) {
  return part.kind === "agreement"
    ? "Packets as their host sent them: when one arrived is not logged, so all lines fall alike."
    : "The capture shows one place: when a packet left or arrived elsewhere is not known, so all lines fall alike.";
}

// Around the first retransmission, as many packets as have room.
function around(pack, group) {
  const { packets } = pack.tables;
  const at = packets.column("at").numbers;
  if (packets.rows <= SHOWN) return group.whole;
  const marks = packets.column("mechanism").numbers;
  const first = Math.max(0, marks.findIndex((code) => code !== 0));
  const from = Math.max(0, first - SHOWN / 3);
  const to = Math.min(packets.rows - 1, from + SHOWN);
  const room = (at[to] - at[from]) * 0.03;
  return at[to] > at[from] ? [at[from] - room, at[to] + room] : group.whole;
}

/** The command, for the part of time that is shown where a command can show it. */
function near(pack, group) {
  const { command, start_s: start } = pack.about;
  if (group.isWhole || start === null || start === undefined || !command.includes(" show ")) return command;
  const middle = start + (group.range[0] + group.range[1]) / 2;
  return `${command.replace(/ --all$/, "")} --at ${middle.toFixed(6)}`;
}

function spoken(pack) {
  const { packets } = pack.tables;
  const marks = packets.column("mechanism").numbers.reduce((n, code) => n + (code ? 1 : 0), 0);
  const [from, to] = whole(pack);
  return `${plain(packets.rows)} packets in ${span(to - from)}, ${plain(marks)} retransmissions`;
}

/** What is said of a connection in words. */
export function facts(pack) {
  return h("ul", { class: "facts" }, pack.about.facts.map((line) => h("li", {}, line)));
}

function choice(view, picture) {
  return h(
    "nav",
    { class: "tabs", "aria-label": "Pictures of this connection" },
    PICTURES.map(([name, words]) => {
      const here = { ...view, view: name === "sequence" ? null : name };
      return h("a", { href: write(here), "aria-current": name === picture ? "page" : null }, words);
    }),
  );
}

/** Buttons that zoom and pan a group. */
export function tools(group, picture) {
  const button = (words, title, act) =>
    h("button", { type: "button", title, "aria-label": title, onclick: act }, words);
  const shown = h("span", { class: "range" });
  const say = () => (shown.textContent = `${span(group.range[0])} to ${span(group.range[1])}`);
  group.listen(say);
  say();
  const [back, on] = picture === "ladder" ? ["▲", "▼"] : ["◀", "▶"];
  return h(
    "div",
    { class: "tools", role: "toolbar", "aria-label": "Zoom and pan" },
    button(back, "Back", () => group.pan(-0.25)),
    button(on, "On", () => group.pan(0.25)),
    button("+", "Zoom in", () => group.zoom(2)),
    button("−", "Zoom out", () => group.zoom(0.5)),
    button("All", "Show all", () => group.all()),
    shown,
    h(
      "span",
      { class: "dim hint" },
      "Mark a stretch to zoom; Shift and drag pans; the wheel zooms once the picture was clicked.",
    ),
  );
}

/** What the marks of a connection mean. */
export function legend(pack) {
  const { packets } = pack.tables;
  const [mechanism, need] = [packets.column("mechanism"), packets.column("need")];
  const counts = new Map();
  for (let row = 0; row < packets.rows; row++) {
    if (!mechanism.numbers[row]) continue;
    const key = JSON.stringify([mechanism.at(row), need.at(row) === "spurious"]);
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  const place = h("div", { class: "legend" });
  const fill = () => {
    const entries = [...counts]
      .map(([key, count]) => [...JSON.parse(key), count])
      .sort((a, b) => placeOf(a[0]) - placeOf(b[0]) || a[1] - b[1]);
    place.replaceChildren(
      h("span", { class: "key data" }, "data"),
      h("span", { class: "key ack" }, "acknowledged"),
      packets.column("gone").values.length ? h("span", { class: "key lost" }, "lost") : "",
      pack.tables.sack.rows ? h("span", { class: "key sack" }, "SACK") : "",
      ...entries.map(([word, spurious, count]) =>
        h(
          "span",
          {},
          icon(word, spurious, colour("ground")),
          `${wordsOf(word)}${spurious ? ", spurious" : ""}: ${plain(count)}`,
        ),
      ),
    );
  };
  fill();
  onTheme(place, fill);
  return place;
}

async function showPackets(host, pack, view) {
  const { packets } = pack.tables;
  const spec = {
    name: "packets",
    title: "Packets",
    sort: "at",
    opens: { view: "time" },
    about: {
      at: ["s", "since the first packet, at the data's sender"],
      sent: ["s", "when it was sent"],
      arrived: ["s", "when it arrived"],
      from_server: ["", "the server sent it"],
      seq: ["", "sequence number, from the initial one"],
      length: ["", "sequence numbers that it takes"],
      window: ["", "as in the header"],
    },
  };
  const at = packets.column("at").numbers;
  showTable(host, packets, spec, { filter: view.filter, sort: view.sort }, {
    changed: (state) => note({ ...view, ...state }),
    open: (row) => {
      const first = lowerBound(at, at[row]);
      const room = Math.max((at[Math.min(at.length - 1, first + 20)] - at[Math.max(0, first - 20)]) / 2, 1e-3);
      go({ ...view, view: null, filter: null, sort: null, t: rangeText([at[row] - room, at[row] + room]) });
    },
  });
}
