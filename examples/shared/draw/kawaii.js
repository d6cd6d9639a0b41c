/** Kawaii as its view shows it. */

import { box, chances, colorOf, cone, el, group, inkOn, percent, row, scene, seatPanel, soft, text, WIDTH } from "./svg.js";

/** Return which piles an action takes: its bits count clockwise from the own one. */
function pilesOf(action, view) {
  return Array.from({ length: view.num_players }, (_, i) => i).filter((i) => (action >> i) & 1).map((i) => (view.seat + i) % view.num_players);
}

export function draw(view, probabilities) {
  const taken = Array(view.num_players).fill(0);
  for (const [action, probability] of probabilities) {
    for (const owner of pilesOf(action, view)) taken[owner] += probability;
  }
  const wait = probabilities.get(0) ?? 0;
  const caption = `round ${view.round} of 3 · tick ${view.tick}${view.after_capture ? " after a capture" : ""}`;
  return scene("Kawaii", caption,
    row(view, 60, 262, (seat, width) => seatContent(view, seat, width, taken[seat], 190)),
    hurry(view, wait),
    seatPanel(view, view.seat, 24, 394, WIDTH - 48, 222, ownContent(view, taken[view.seat])));
}

function hurry(view, wait) {
  const flipped = view.after_capture ? "cards have been captured" : `seat ${view.flipper} has flipped a card`;
  return group(WIDTH / 2, 334,
    box(-300, 0, 600, 48, { fill: "#ffffffb3", radius: 24 }),
    text(0, 21, `${flipped} · you are asked at tick ${view.tick}`, { size: 14 }),
    text(0, 39, `${percent(wait)} to leave all piles alone`, { size: 13, weight: 700, color: "#e8505b" }));
}

/** Return a card by its name: an ice cream, a closed shop or a cherry; x, y are the centre. */
function picture(name, x, y, size) {
  const frame = (fill, ...inside) => group(x - size * 0.42, y - size * 0.56,
    box(0, 0, size * 0.84, size * 1.12, { fill: "#fffdf8", line: "#0002", radius: 8, shadow: true }),
    box(4, 4, size * 0.84 - 8, size * 1.12 - 8, { fill, radius: 5 }), inside);
  const caption = (words, color = undefined) => text(size * 0.42, size * 1.0, words, { size: size * 0.125, weight: 700, color });
  if (name === null) return frame("#b9c9c2", text(size * 0.42, size * 0.66, "?", { size: size * 0.4, color: "#fff" }));
  if (name === "cherry") return frame("#fde3e6", cherry(size * 0.42, size * 0.5, size * 0.17), caption(name));
  if (name === "closed shop") return frame("#d9d3cc", shop(size * 0.42, size * 0.46, size * 0.5), caption(name));
  const [flavor, shape] = name.split(" ");
  return frame(`${colorOf(flavor)}38`, ice(shape, colorOf(flavor), size * 0.42, size * 0.48, size * 0.5), caption(shape), text(size * 0.42, size * 0.16, flavor, { size: size * 0.115, weight: 600 }));
}

function cherry(x, y, r) {
  return el("g", {},
    el("path", { d: `M ${x - r} ${y + r} Q ${x} ${y - r} ${x + r * 0.6} ${y - r * 1.7} Q ${x + r * 0.9} ${y} ${x + r} ${y + r}`, fill: "none", stroke: "#5b8c3a", "stroke-width": 2.5 }),
    el("circle", { cx: x - r, cy: y + r, r, fill: "#d8263f" }), el("circle", { cx: x + r, cy: y + r, r, fill: "#c11d36" }));
}

function shop(x, y, size) {
  const stripes = Array.from({ length: 5 }, (_, i) => box(x - size / 2 + (i * size) / 5, y - size / 2, size / 5, size * 0.35, { fill: i % 2 ? "#fff" : "#b5545c", radius: 1 }));
  return [box(x - size * 0.42, y - size * 0.2, size * 0.84, size * 0.66, { fill: "#8f8378", radius: 2 }), stripes, text(x, y + size * 0.28, "✕", { size: size * 0.36, weight: 800, color: "#fff" })];
}

/** Return an ice cream of a shape, within a square of `size` around x, y. */
function ice(shape, color, x, y, size) {
  const s = size;
  const ball = (cx, cy, r) => el("circle", { cx, cy, r, fill: color, stroke: "#0003" });
  const waffle = "#e2a860";
  switch (shape) {
    case "cone":
      return cone(x, y + s * 0.52, s * 0.4, [color]);
    case "cup":
      return [ball(x - s * 0.14, y - s * 0.08, s * 0.22), ball(x + s * 0.14, y - s * 0.08, s * 0.22),
        el("path", { d: `M ${x - s * 0.4} ${y} h ${s * 0.8} l ${-s * 0.12} ${s * 0.45} h ${-s * 0.56} Z`, fill: "#7fb7d9", stroke: "#0003" })];
    case "popsicle":
      return [box(x - s * 0.05, y + s * 0.2, s * 0.1, s * 0.32, { fill: waffle, radius: 3 }), box(x - s * 0.22, y - s * 0.5, s * 0.44, s * 0.75, { fill: color, line: "#0003", radius: s * 0.2 })];
    case "sundae":
      return [ball(x, y - s * 0.26, s * 0.2), ball(x - s * 0.18, y - s * 0.04, s * 0.2), ball(x + s * 0.18, y - s * 0.04, s * 0.2),
        el("path", { d: `M ${x - s * 0.4} ${y + s * 0.04} h ${s * 0.8} q ${-s * 0.06} ${s * 0.3} ${-s * 0.34} ${s * 0.3} v ${s * 0.12} h ${s * 0.18} v ${s * 0.06} h ${-s * 0.48} v ${-s * 0.06} h ${s * 0.18} v ${-s * 0.12} q ${-s * 0.28} 0 ${-s * 0.34} ${-s * 0.3} Z`, fill: "#cfe4ef", stroke: "#0003" })];
    default:
      return [-0.22, 0, 0.22].map((at, i) => box(x - s * 0.42, y + s * (at - 0.11), s * 0.84, s * 0.22, { fill: i === 1 ? color : "#7a4a2b", line: "#0002", radius: 5 }));
  }
}

function tokens(view, seat, x, y) {
  return Array.from({ length: view.tokens[seat] }, (_, i) => el("circle", { cx: x + i * 16, cy: y, r: 6.5, fill: "#f0bf2f", stroke: "#b98a12" }));
}

function facts(view, seat) {
  return `${view.reserves[seat]} to flip · ${view.captured[seat].length} captured`;
}

/** Return the tokens of a seat, and which piles it has slapped before. */
function hands(view, seat, width) {
  const slapped = view.claims[seat].map((owner) => `pile ${owner}`).join(", ");
  return [tokens(view, seat, 21, 62), slapped ? text(width - 14, 66, `slapped ${slapped}`, { size: 12, weight: 700, anchor: "end", color: "#e8505b" }) : ""];
}

function pile(view, seat, x, y, size, probability) {
  const cards = view.piles[seat];
  const mark = probability > 0 ? text(x, y + size * 0.56 + 20, `take ${percent(probability)}`, { size: 13, weight: 700, color: probability >= 0.5 ? "#e8505b" : "#8a7a70" }) : "";
  if (cards.length === 0) return [el("rect", { x: x - size * 0.42, y: y - size * 0.56, width: size * 0.84, height: size * 1.12, rx: 8, fill: "none", stroke: "#0003", "stroke-dasharray": "5 5" }), soft(x, y + 4, "no pile")];
  const under = cards.slice(-4, -1).map((name, i, all) => picture(name, x + (all.length - i) * size * 0.14, y - (all.length - i) * size * 0.05, size));
  const ring = probability >= 0.5 ? el("rect", { x: x - size * 0.42 - 5, y: y - size * 0.56 - 5, width: size * 0.84 + 10, height: size * 1.12 + 10, rx: 12, fill: "none", stroke: "#e8505b", "stroke-width": 3.5 }) : "";
  const count = cards.length > 1 ? [el("circle", { cx: x - size * 0.42, cy: y - size * 0.5, r: 13, fill: "#3b2f2a" }), text(x - size * 0.42, y - size * 0.5 + 5, cards.length, { size: 13, weight: 700, color: "#fff" })] : "";
  return [under, picture(cards.at(-1), x, y, size), ring, count, mark];
}

function seatContent(view, seat, width, probability, y) {
  return [
    soft(14, 44, facts(view, seat), { anchor: "start" }),
    hands(view, seat, width),
    pile(view, seat, width / 2 - 8, y - 36, 118, probability),
  ];
}

function ownContent(view, probability) {
  const favorite = view.favorites[view.seat];
  const counts = new Map();
  for (const name of view.captured[view.seat]) counts.set(name, (counts.get(name) ?? 0) + 1);
  const size = 56;
  const captured = [...counts].slice(0, 14).map(([name, count], i) => {
    const [x, y] = [490 + (i % 7) * 60, 84 + Math.floor(i / 7) * 76];
    const badge = [el("circle", { cx: x + 21, cy: y - 29, r: 10, fill: "#3b2f2a" }), text(x + 21, y - 25, `×${count}`, { size: 11, weight: 800, color: "#fff" })];
    return [picture(name, x, y, size), count > 1 ? badge : ""];
  });
  const color = colorOf(favorite.flavor);
  return [
    soft(14, 44, facts(view, view.seat), { anchor: "start" }),
    hands(view, view.seat, 300),
    group(24, 96, box(0, 0, 200, 62, { fill: color, radius: 12 }), text(100, 24, "your favorites", { size: 12, color: inkOn(color) }), text(100, 46, `${favorite.flavor} · ${favorite.shape}`, { size: 14, weight: 700, color: inkOn(color) })),
    pile(view, view.seat, 330, 112, 118, probability),
    soft(466, 36, "captured", { anchor: "start" }),
    captured,
  ];
}
