// Two connections, two engines, or the paths of one connection beside each other, and where they part.

import { note, range, rangeText, write } from "./address.js";
import { unpack } from "./columns.js";
import { commandLine, h } from "./dom.js";
import { facts, legend, tools, whole } from "./connection.js";
import { showLadder } from "./ladder.js";
import { showLanes } from "./lanes.js";
import { span } from "./numbers.js";
import { parting } from "./parting.js";
import { Group } from "./plot.js";
import { showSequence } from "./sequence.js";

/** Shows `pair` ({title, left, right or sides, parting, same or words, command}) in `host`. */
export async function showPair(host, parts, pair, view) {
  const sides = pair.sides || [pair.left, pair.right];
  const packs = await Promise.all(sides.map(({ part, key }) => unpack(parts[part].packets.find((one) => one.key === key).chunk)));
  const ends = packs.map(whole);
  const group = new Group(Math.min(...ends.map((one) => one[0])), Math.max(...ends.map((one) => one[1])));
  const asked = range(view.t);
  if (asked) group.range = asked;
  const { found, apart } = pair.parting === undefined ? parting(...packs) : { found: pair.parting };
  const same = pair.same || "every packet of the data's senders has the same range, mechanism and fate";
  const times = apart === undefined ? "" : ` In time ${found ? "they differ before" : "they differ"} by ${span(apart)} at most.`;
  host.append(
    h("h1", {}, pair.title),
    h("p", { class: found ? "parted" : "" }, (found ? found.words.replace(/\.?$/, ".") : pair.words || `They do not part: ${same}.`) + times),
  );
  const ladder = view.view === "ladder";
  const tabs = h("nav", { class: "tabs", "aria-label": "Pictures of both" });
  for (const [name, words] of [[null, "Sequence numbers"], ["ladder", "Ladders"]]) {
    const address = write({ ...view, view: name });
    tabs.append(h("a", { href: address, "aria-current": (name === "ladder") === ladder ? "page" : null }, words));
  }
  host.append(tabs, tools(group, ladder ? "ladder" : "sequence"));
  if (found) {
    const at = [found.left_s, found.right_s].filter((time) => time !== null);
    const middle = at.reduce((sum, time) => sum + time, 0) / at.length;
    const wide = Math.max((group.whole[1] - group.whole[0]) * 0.1, Math.abs(at[0] - at[at.length - 1]) * 3);
    const go = () => group.show(middle - wide / 2, middle + wide / 2);
    host.append(h("p", {}, h("button", { type: "button", onclick: go }, "Go where they part")));
    if (ladder && !asked) group.range = [middle - wide / 2, middle + wide / 2];
  }
  const both = h("div", { class: "both" });
  host.append(both);
  packs.forEach((pack, i) => {
    const side = h("section", { "aria-label": pair.sides ? `${i + 1} of ${sides.length}` : i ? "right" : "left" }, h("h2", {}, sides[i].name || pack.about.title), sides[i].name ? h("p", {}, pack.about.title) : "", sides[i].alone ? h("p", {}, h("a", { href: sides[i].alone }, "this one alone, and its packets")) : "", facts(pack), legend(pack));
    both.append(side);
    const parted = found ? (i ? found.right_s : found.left_s) : null;
    const label = `${pack.about.title}. Keys: arrows pan, + and - zoom, 0 shows all, n and p go from retransmission to retransmission.`;
    if (ladder) showLadder(side, pack, group, { height: 600, label, parted });
    else {
      showSequence(side, pack, group, { height: 320, label, parted });
      showLanes(side, pack, group, { height: 120 });
    }
  });
  let later;
  group.listen((shown) => {
    clearTimeout(later);
    later = setTimeout(() => note({ ...view, t: group.isWhole ? null : rangeText(shown) }), 150);
  });
  if (pair.command) host.append(commandLine(pair.command));
  else host.append(...[...new Set(packs.map((pack) => pack.about.command))].map((command) => commandLine(command)));
}
