// What is known of the packet under the pointer, or the one that keys went to.

import { h, announce } from "./dom.js";
import { wordsOf } from "./marks.js";
import { plain, span } from "./numbers.js";

/** A packet in words: lines of text. `packs` is a connection's pack. */
export function told(pack, row) {
  const at = (name) => pack.tables.packets.column(name).at(row);
  const from = at("from_server") ? pack.about.server : pack.about.client;
  const lines = [];
  const mechanism = at("mechanism");
  if (mechanism) {
    lines.push(`Retransmission: ${wordsOf(mechanism)}${at("need") === "spurious" ? ", spurious" : ""}`);
  }
  const words = at("words");
  if (words) lines.push(words);
  lines.push(`${from}, ${at("flags")}`);
  const length = at("length");
  lines.push(
    length
      ? `sequence numbers ${plain(at("seq"))} to ${plain(at("seq") + length)}`
      : `sequence number ${plain(at("seq"))}, nothing sent`,
  );
  if (at("ack") !== null) lines.push(`acknowledges ${plain(at("ack"))}, window ${plain(at("window"))} as in the header`);
  const blocks = sackOf(pack, row);
  if (blocks.length) lines.push(`SACK ${blocks.map(([a, b]) => `${plain(a)} to ${plain(b)}`).join(", ")}`);
  const [sent, arrived] = [at("sent"), at("arrived")];
  lines.push(
    sent !== null && arrived !== null && sent !== arrived
      ? `sent at ${time(sent)}, arrived at ${time(arrived)}`
      : `at ${time(sent === null ? arrived : sent)}`,
  );
  return lines;
}

function time(seconds) {
  return `${seconds.toFixed(6)} s`;
}

/** The SACK blocks of a packet. */
export function sackOf(pack, row) {
  if (!pack.sacks) {
    pack.sacks = new Map();
    const { sack } = pack.tables;
    for (let i = 0; i < sack.rows; i++) {
      const packet = sack.column("packet").at(i);
      if (!pack.sacks.has(packet)) pack.sacks.set(packet, []);
      pack.sacks.get(packet).push([sack.column("left").at(i), sack.column("right").at(i)]);
    }
  }
  return pack.sacks.get(row) || [];
}

/** A box beside the pointer. */
export class Tip {
  constructor(host) {
    this.box = h("div", { class: "tip", hidden: true });
    host.append(this.box);
  }

  show(lines, x, y, { aloud = false } = {}) {
    this.box.replaceChildren(...lines.map((line, i) => h(i ? "div" : "strong", {}, line)));
    this.box.hidden = false;
    const host = this.box.offsetParent || document.body;
    const wide = this.box.offsetWidth;
    const left = x + 16 + wide > host.clientWidth ? Math.max(0, x - wide - 12) : x + 16;
    this.box.style.left = `${left}px`;
    this.box.style.top = `${Math.max(0, y - 10)}px`;
    if (aloud) announce(lines.join(". "));
  }

  hide() {
    this.box.hidden = true;
  }
}

/** Goes from retransmission to retransmission by keys, n and p. */
export class Walk {
  constructor(pack, group, said) {
    const mechanism = pack.tables.packets.column("mechanism");
    this.rows = [];
    for (let row = 0; row < mechanism.rows; row++) if (mechanism.numbers[row]) this.rows.push(row);
    this.at = pack.tables.packets.column("at").numbers;
    this.group = group;
    this.said = said;
    this.place = -1;
  }

  /** Whether the key was one of ours. */
  key(key) {
    if (key !== "n" && key !== "p") return false;
    if (!this.rows.length) {
      announce("no retransmission here");
      return true;
    }
    const by = key === "n" ? 1 : -1;
    this.place = (this.place + by + this.rows.length) % this.rows.length;
    const row = this.rows[this.place];
    const [from, to] = this.group.range;
    const at = this.at[row];
    if (at < from || at > to) this.group.show(at - (to - from) / 2, at + (to - from) / 2);
    this.said(row, `${this.place + 1} of ${plain(this.rows.length)}, after ${span(at)}`);
    return true;
  }
}
