/** Small pieces of SVG as text: what the drawings of all games share. They need no browser. */

export const WIDTH = 960;
export const HEIGHT = 640;

const INK = "#3b2f2a";
const SOFT = "#8a7a70";
const ACCENT = "#e8505b";

const COLORS = {
  strawberry: "#f58fb0", chocolate: "#8a5a3c", matcha: "#93b84f", grape: "#8f6cc2", vanilla: "#f3dc8f",
  mint: "#86d9bf", blueberry: "#5d82d8", lemon: "#f5d63d", pistachio: "#b9cf86",
  red: "#e25656", yellow: "#f0bf2f", green: "#4fae63", blue: "#4b80d9", purple: "#9560bd",
};

export const colorOf = (name) => COLORS[name] ?? "#bbb";

const escaped = (value) => String(value).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

/** Return an element; attributes that are null are left out. */
export function el(name, attributes, ...children) {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([key, value]) => ` ${key}="${escaped(value)}"`)
    .join("");
  return `<${name}${written}>${children.flat(Infinity).join("")}</${name}>`;
}

export const group = (x, y, ...children) => el("g", { transform: `translate(${x} ${y})` }, ...children);

export function text(x, y, words, { size = 15, weight = 400, color = INK, anchor = "middle" } = {}) {
  return el("text", { x, y, "font-size": size, "font-weight": weight, fill: color, "text-anchor": anchor }, escaped(words));
}

export const soft = (x, y, words, options = {}) => text(x, y, words, { size: 13, color: SOFT, ...options });

export function box(x, y, width, height, options = {}) {
  const { fill = "#fff", line = "#0000", radius = 14, thick = 1.5, shadow = false } = options;
  return el("rect", {
    x, y, width, height, rx: radius, fill, stroke: line, "stroke-width": thick, filter: shadow ? "url(#shadow)" : null,
  });
}

/** Return a color that can be read on another one. */
export function inkOn(color) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
  return 0.3 * r + 0.59 * g + 0.11 * b > 150 ? INK : "#fff";
}

/** Return an ice-cream cone with scoops (colors from the bottom), `width` wide; x, y are the tip of the cone. */
export function cone(x, y, width, scoops, toppings = []) {
  const r = width / 2;
  const waffle = el("path", {
    d: `M ${-r} ${-width * 1.3} L 0 0 L ${r} ${-width * 1.3} Z`, fill: "#e2a860", stroke: "#b87f3c", "stroke-width": 1.2,
    "stroke-linejoin": "round",
  });
  const balls = scoops.map((color, i) =>
    el("circle", { cx: 0, cy: -width * 1.5 - i * width * 0.72, r: r * 1.08, fill: color, stroke: "#0002" }));
  const top = -width * 1.5 - Math.max(scoops.length - 1, 0) * width * 0.72 - r * 0.95;
  const stars = toppings.map((color, i) => star((i - (toppings.length - 1) / 2) * width * 0.62, top, width * 0.32, color));
  return group(x, y, waffle, balls, stars);
}

export function star(x, y, radius, color) {
  const points = Array.from({ length: 10 }, (_, i) => {
    const r = i % 2 ? radius * 0.45 : radius;
    const angle = (Math.PI * i) / 5 - Math.PI / 2;
    return `${(x + r * Math.cos(angle)).toFixed(1)},${(y + r * Math.sin(angle)).toFixed(1)}`;
  });
  return el("polygon", { points: points.join(" "), fill: color, stroke: "#fff", "stroke-width": 1.2 });
}

/** Return a card of one color with a number on it; x, y are its upper left corner. */
export function card(x, y, color, label, { width = 58, height = 82, faded = false } = {}) {
  const ink = inkOn(color);
  return el("g", { transform: `translate(${x} ${y})`, opacity: faded ? 0.45 : null },
    box(0, 0, width, height, { fill: "#fffdf8", line: "#0002", radius: 9, shadow: true }),
    box(4, 4, width - 8, height - 8, { fill: color, radius: 6 }),
    text(width / 2, height / 2 + width * 0.17, label, { size: width * 0.46, weight: 700, color: ink }));
}

const PIPS = { 1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8], 6: [0, 2, 3, 5, 6, 8] };

/** Return a die with its pips. */
export function die(x, y, color, number, size = 30) {
  const ink = inkOn(color);
  const pips = PIPS[number].map((place) =>
    el("circle", { cx: size * (0.25 + 0.25 * (place % 3)), cy: size * (0.25 + 0.25 * Math.floor(place / 3)), r: size * 0.08, fill: ink }));
  return group(x, y, box(0, 0, size, size, { fill: color, line: "#0003", radius: size * 0.22 }), pips);
}

/** Return a mark of how probable an action is, centred at x, its foot at y: a bar and the percentage. */
export function chance(x, y, probability, { width = 50, chosen = false, words = "" } = {}) {
  if (probability === undefined) return "";
  const color = chosen ? ACCENT : "#e9a23b";
  const filled = Math.max(probability * width, probability > 0 ? 2 : 0);
  return group(x - width / 2, y,
    box(0, 0, width, 6, { fill: "#00000014", radius: 3 }),
    box(0, 0, filled, 6, { fill: color, radius: 3 }),
    text(width / 2, -4, `${words}${percent(probability)}`, { size: 12, weight: chosen ? 700 : 500, color: chosen ? ACCENT : SOFT }));
}

/** Return what has probabilities at places; `probabilities` is a Map by action, of which the highest is the choice. */
export function chances(probabilities) {
  const highest = Math.max(...probabilities.values());
  return (action, x, y, options = {}) =>
    chance(x, y, probabilities.get(action), { chosen: probabilities.get(action) === highest, ...options });
}

export function percent(probability) {
  if (probability > 0 && probability < 0.005) return "<1 %";
  return `${Math.round(100 * probability)} %`;
}

/** Return the size in which words fit a width, at most `largest`. */
export const fitting = (words, width, largest) => Math.min(largest, (1.6 * width) / words.length);

/** Return a panel for a seat with its name and points. */
export function seatPanel(view, seat, x, y, width, height, ...children) {
  const own = seat === view.seat;
  const moves = seat === view.to_move;
  const points = view.points ?? view.totals;
  return group(x, y,
    box(0, 0, width, height, { fill: own ? "#fff8e7" : "#ffffffd9", line: moves ? ACCENT : "#0000001a", thick: moves ? 2.5 : 1.2, shadow: true }),
    text(14, 24, own ? `Seat ${seat} (you)` : `Seat ${seat}`, { anchor: "start", weight: 700 }),
    text(width - 14, 24, `${points[seat]} pt`, { anchor: "end", weight: 700, color: moves ? ACCENT : SOFT }),
    children);
}

/** Return the seats other than the own one, clockwise from its left. */
export function others(view) {
  return Array.from({ length: view.num_players - 1 }, (_, i) => (view.seat + 1 + i) % view.num_players);
}

/** Return the panels of the other seats in a row; `inside(seat, width)` draws their content. */
export function row(view, y, height, inside) {
  const seats = others(view);
  const gap = 14;
  const width = Math.min((WIDTH - 48 - gap * (seats.length - 1)) / seats.length, 380);
  const left = (WIDTH - seats.length * width - gap * (seats.length - 1)) / 2;
  return seats.map((seat, i) => seatPanel(view, seat, left + i * (width + gap), y, width, height, inside(seat, width)));
}

/** Return items in a row, centred at x; `draw(item, x, index)` draws one of `width` at its left edge. */
export function inRow(x, items, width, draw) {
  return items.map((item, i) => draw(item, x + (i - items.length / 2) * width, i));
}

/** Return a whole drawing. */
export function scene(title, caption, ...children) {
  const shade = el("filter", { id: "shadow", x: "-20%", y: "-20%", width: "140%", height: "150%" },
    el("feDropShadow", { dx: 0, dy: 1.5, stdDeviation: 2, "flood-opacity": 0.16 }));
  return el("svg",
    { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${caption}`, "font-family": "system-ui, 'Segoe UI', 'Noto Sans CJK JP', sans-serif" },
    el("defs", {}, shade),
    box(0, 0, WIDTH, HEIGHT, { fill: "#f4ead9", radius: 24 }),
    box(12, 12, WIDTH - 24, HEIGHT - 24, { fill: "#dcefe6", radius: 18 }),
    text(28, 42, title, { size: 19, weight: 800, anchor: "start" }),
    soft(WIDTH - 28, 42, caption, { anchor: "end", size: 14 }),
    children);
}
