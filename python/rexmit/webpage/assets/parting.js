// Where the data's senders of two connections part: the first packets that are not alike.

import { plain, span } from "./numbers.js";

/**
 * The first of the data's packets, by their place, that differ in range, mechanism or fate: {words,
 * left_s, right_s}, null where all are alike. And `apart`, by how many seconds the packets before it
 * differ at most: two connections are never alike to the nanosecond.
 */
export function parting(left, right) {
  const [a, b] = [sent(left), sent(right)];
  let apart = 0;
  for (let place = 0; place < Math.max(a.length, b.length); place++) {
    const [one, other] = [a[place], b[place]];
    const what = differing(one, other);
    if (what.length) return { apart, found: parted(place, what, one, other) };
    apart = Math.max(apart, Math.abs(one.at - other.at));
  }
  return { apart, found: null };
}

function parted(place, what, one, other) {
  return {
    words:
      `They part at packet ${plain(place + 1)} of the data's sender, in ${what.join(", ")}: ` +
      `left ${said(one)}; right ${said(other)}`,
    left_s: one ? one.at : null,
    right_s: other ? other.at : null,
  };
}

function sent(pack) {
  const { packets } = pack.tables;
  const column = (name) => packets.column(name);
  const made = [];
  for (let row = 0; row < packets.rows; row++) {
    const mine = column("from_server").at(row) === pack.about.data_from_server;
    if (!mine || !column("length").at(row)) continue;
    const one = { at: column("at").at(row) };
    for (const name of ["seq", "length", "mechanism", "gone"]) one[name] = column(name).at(row);
    made.push(one);
  }
  return made;
}

function differing(one, other) {
  if (!one || !other) return ["number of packets"];
  const parts = [];
  if (one.seq !== other.seq || one.length !== other.length) parts.push("range");
  if (one.mechanism !== other.mechanism) parts.push("mechanism");
  if (one.gone !== other.gone) parts.push("fate");
  return parts;
}

function said(one) {
  if (!one) return "sends no more";
  const why = one.mechanism ? `, ${one.mechanism}` : "";
  return `sequence number ${plain(one.seq)}, ${plain(one.length)} long${why}, at ${span(one.at)}`;
}
