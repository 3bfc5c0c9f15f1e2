// Retransmissions by mechanism: each has a colour and a shape, so that neither is needed alone.

import { isDark } from "./theme.js";

const SHAPES = {
  rto: triangle(1),
  "rto-recovery": triangle(-1),
  tlp: polygon(4, 0, 1.15),
  rack: polygon(4, Math.PI / 4, 1.1),
  "fast-retransmit": circle,
  "sack-recovery": polygon(5, 0, 1.1),
  fack: polygon(6, 0, 1.05),
  "early-retransmit": star,
  "mptcp-reinject": cross,
  unknown: polygon(3, Math.PI / 6, 1.1),
};

let known = {};

/** What the page says of mechanisms: {name: {colour, dark, words}}. */
export function learn(mechanisms) {
  known = mechanisms;
}

/** The mechanism that a word is of; of `tlp or rto` the first. */
export function first(word) {
  return word.split(" or ")[0];
}

/** Its colour in this theme. */
export function colourOf(word) {
  const one = known[first(word)] || known.unknown;
  const printing = document.documentElement.dataset.print !== undefined;
  return isDark() && !printing ? one.dark : one.colour;
}

/** In words, with the word of the tables. */
export function wordsOf(word) {
  const parts = word.split(" or ").map((name) => (known[name] || { words: name }).words);
  return `${parts.join(", or ")} (${word})`;
}

/** The place of a word in legends. */
export function placeOf(word) {
  const place = Object.keys(known).indexOf(first(word));
  return place === -1 ? Infinity : place;
}

/** Draws one, filled, or hollow where it was spurious. */
export function drawMark(ctx, word, x, y, radius, hollow, ground) {
  const shape = SHAPES[first(word)] || SHAPES.unknown;
  ctx.beginPath();
  shape(ctx, x, y, radius);
  const here = colourOf(word);
  ctx.fillStyle = hollow ? ground : here;
  ctx.strokeStyle = hollow ? here : ground;
  ctx.fill();
  ctx.lineWidth = radius * (hollow ? 0.42 : 0.2);
  ctx.stroke();
}

/** A small canvas with one, for legends. */
export function icon(word, hollow, ground) {
  const canvas = document.createElement("canvas");
  const scale = devicePixelRatio || 1;
  canvas.width = canvas.height = 16 * scale;
  canvas.className = "icon";
  canvas.setAttribute("aria-hidden", "true");
  drawMark(canvas.getContext("2d"), word, 8 * scale, 8 * scale, 5.5 * scale, hollow, ground);
  return canvas;
}

function polygon(corners, turned, wide) {
  return (ctx, x, y, radius) => {
    for (let i = 0; i < corners; i++) {
      const angle = turned - Math.PI / 2 + (2 * Math.PI * i) / corners;
      const [px, py] = [x + wide * radius * Math.cos(angle), y + wide * radius * Math.sin(angle)];
      if (i === 0) ctx.moveTo(px, py);
      else ctx.lineTo(px, py);
    }
    ctx.closePath();
  };
}

function triangle(up) {
  return (ctx, x, y, radius) => {
    ctx.moveTo(x, y - up * 1.15 * radius);
    ctx.lineTo(x + 1.1 * radius, y + up * 0.85 * radius);
    ctx.lineTo(x - 1.1 * radius, y + up * 0.85 * radius);
    ctx.closePath();
  };
}

function circle(ctx, x, y, radius) {
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
}

function star(ctx, x, y, radius) {
  for (let i = 0; i < 10; i++) {
    const angle = -Math.PI / 2 + (Math.PI * i) / 5;
    const far = (i % 2 ? 0.55 : 1.3) * radius;
    const [px, py] = [x + far * Math.cos(angle), y + far * Math.sin(angle)];
    if (i === 0) ctx.moveTo(px, py);
    else ctx.lineTo(px, py);
  }
  ctx.closePath();
}

function cross(ctx, x, y, radius) {
  const [far, near] = [1.1 * radius, 0.4 * radius];
  const corners = [
    [-near, -far], [near, -far], [near, -near], [far, -near], [far, near], [near, near],
    [near, far], [-near, far], [-near, near], [-far, near], [-far, -near], [-near, -near],
  ];
  corners.forEach(([dx, dy], i) => (i ? ctx.lineTo(x + dx, y + dy) : ctx.moveTo(x + dx, y + dy)));
  ctx.closePath();
}
