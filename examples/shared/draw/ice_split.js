/** Ice Split as its view shows it: every card has a goal on its left half and a flavor on its right half. */

import { box, chances, colorOf, fitting, group, inkOn, inRow, others, scene, seatPanel, soft, text, WIDTH } from "./svg.js";

const CARDS = 63;
const AS_START = 0;
const AS_GOAL = CARDS;
const AS_FLAVOR = 2 * CARDS;
const FROM_MARKET = 3 * CARDS;
const FROM_DECK = 4 * CARDS;
const PHASES = { start: "everybody chooses a start card", play: "a card is played", draw: "a card is drawn" };
const GOALS = {
  MAJORITY: "most", NONE_OF: "none of", EXACTLY_ONE: "just one", SEQUENCE: "in a row", ALL_SEVEN: "all seven",
  RIGHTMOST_IN: "rightmost", AT_MOST_THREE_KINDS: "at most three kinds", TWO_PAIRS: "two pairs",
  THREE_ADJACENT: "three alike side by side", FOUR_OF_A_KIND: "four of a kind",
  MORE_FLAVORS_THAN_GOALS: "more flavors than goals", MORE_GOALS_THAN_FLAVORS: "more goals than flavors",
};

/** Goals that name no flavor, where there is room for a sign only. */
const SIGNS = {
  ALL_SEVEN: "7", AT_MOST_THREE_KINDS: "≤3", TWO_PAIRS: "2+2", THREE_ADJACENT: "3…", FOUR_OF_A_KIND: "4×",
  MORE_FLAVORS_THAN_GOALS: "F>G", MORE_GOALS_THAN_FLAVORS: "G>F",
};

/** @param deck the rows of the reconstructed deck, by card */
export function draw(view, probabilities, { deck }) {
  const mark = chances(probabilities);
  const rows = Array.isArray(view.options.deck) ? view.options.deck : deck;
  const seats = others(view);
  const gap = 12;
  const width = (WIDTH - 48 - gap * (seats.length - 1)) / seats.length;
  return scene("Ice Split", PHASES[view.phase],
    seats.map((seat, i) => seatPanel(view, seat, 24 + i * (width + gap), 58, width, 150, display(view, seat, rows, width, 40))),
    market(view, rows, mark),
    ownSeat(view, rows, mark));
}

function named(row) {
  return row.goal_flavors ? row.goal_flavors.split("|") : [];
}

/** Return a goal as words and the flavors it names; x, y are the upper left corner. */
function goal(row, x, y, width, height) {
  const flavors = named(row);
  const arrow = row.goal_type === "SEQUENCE";
  const radius = Math.min(width / 11, 8);
  const wrapped = wrap(GOALS[row.goal_type], Math.floor(width / 6));
  const words = wrapped.length > 3 ? [SIGNS[row.goal_type]] : wrapped;
  const dots = inRow(x + width / 2, flavors, radius * 2.5, (flavor, at, i) => [
    `<circle cx="${at + radius * 1.25}" cy="${y + height - radius - 5}" r="${radius}" fill="${colorOf(flavor)}" stroke="#0003"/>`,
    arrow && i > 0 ? `<path d="M ${at - 2.5} ${y + height - radius - 5} h 5" stroke="#8a7a70" stroke-width="1.5"/>` : "",
  ]);
  const top = y + height / 2 - (words.length - 1) * 5.5 - (flavors.length ? radius * 0.8 : -4);
  return [words.map((line, i) => text(x + width / 2, top + i * 11, line, { size: fitting(line, width, 10.5), weight: 600 })), dots];
}

function wrap(words, length) {
  const lines = [""];
  for (const word of words.split(" ")) {
    if (lines.at(-1) && (lines.at(-1) + word).length >= length) lines.push("");
    lines[lines.length - 1] += `${lines.at(-1) ? " " : ""}${word}`;
  }
  return lines;
}

/** Return a whole card: the goal on the left with what it pays, the flavor on the right. */
function whole(row, x, y, width = 124, height = 76) {
  const color = colorOf(row.flavor);
  return group(x, y,
    box(0, 0, width, height, { fill: "#fffdf8", line: "#0003", radius: 9, shadow: true }),
    goal(row, 3, 8, width * 0.49, height - 12),
    text(8, 14, row.points, { size: 11, weight: 800, color: "#e8505b", anchor: "start" }),
    box(width * 0.52, 4, width * 0.46, height - 8, { fill: color, radius: 7 }),
    text(width * 0.75, height / 2 + 3, row.flavor, { size: fitting(row.flavor, width * 0.45, 11), weight: 700, color: inkOn(color) }));
}

/** Return the two rows of a display. */
function display(view, seat, rows, width, top, size = 1) {
  const { goals, flavors } = view.displays[seat];
  const most = Math.max(goals.length, flavors.length, 1);
  const step = Math.min((width - 24) / most, 52 * size);
  const height = 46 * size;
  const middle = width / 2;
  if (goals.length === 0) return soft(middle, top + 50, "no card yet");
  return [
    inRow(middle, [...goals].reverse(), step, (laid, x) => {
      const row = rows[laid.goal];
      return group(x + 1, top, box(0, 0, step - 2, height, { fill: "#fffdf8", line: "#0003", radius: 6 }),
        step > 44 ? goal(row, 0, 7, step - 2, height - 7) : small(row, step - 2, height),
        text(4, 11, row.points, { size: 9.5, weight: 800, color: "#e8505b", anchor: "start" }));
    }),
    inRow(middle, flavors, step, ({ flavor }, x) => [
      box(x + 1, top + height + 6, step - 2, height * 0.9, { fill: colorOf(flavor), line: "#0002", radius: 6 }),
      step > 30
        ? text(x + step / 2, top + height + 6 + height * 0.52, flavor, { size: fitting(flavor, step - 6, 10), weight: 700, color: inkOn(colorOf(flavor)) })
        : "",
    ]),
  ];
}

/** Return a goal where there is room for its flavors only. */
function small(row, width, height) {
  const flavors = named(row);
  const radius = Math.min(width / 7, 5);
  if (flavors.length === 0) return text(width / 2, height / 2 + 7, SIGNS[row.goal_type], { size: fitting(SIGNS[row.goal_type], width, 12), weight: 700 });
  return flavors.map((flavor, i) =>
    `<circle cx="${width / 2}" cy="${height / 2 + 3 + (i - (flavors.length - 1) / 2) * radius * 2.1}" r="${radius}" fill="${colorOf(flavor)}" stroke="#0003"/>`);
}

function market(view, rows, mark) {
  const drawing = view.phase === "draw";
  return group(WIDTH / 2, 218,
    box(-456, 0, 912, 126, { fill: "#ffffff99" }),
    text(-440, 26, "market", { weight: 600, anchor: "start" }),
    inRow(-20, view.market, 134, (number, x) => [
      whole(rows[number], x + 5, 15),
      drawing ? mark(FROM_MARKET + number, x + 67, 112, { width: 100 }) : "",
    ]),
    box(330, 16, 92, 74, { fill: "#7b9e8f", line: "#0003", radius: 9, shadow: true }),
    text(376, 52, view.deck_height, { size: 20, weight: 800, color: "#fff" }),
    text(376, 72, "in the deck", { size: 11, color: "#fff" }),
    drawing ? mark(FROM_DECK, 376, 112, { width: 80 }) : "");
}

function ownSeat(view, rows, mark) {
  const choices = (number, x) => {
    if (view.phase === "start") return mark(AS_START + number, x + 63, 258, { width: 110 });
    if (view.phase !== "play") return "";
    return [
      mark(AS_GOAL + number, x + 28, 258, { width: 62, words: "goal " }),
      mark(AS_FLAVOR + number, x + 104, 258, { width: 62, words: "flavor " }),
    ];
  };
  return seatPanel(view, view.seat, 24, 352, WIDTH - 48, 272,
    display(view, view.seat, rows, WIDTH - 48, 36, 1.15),
    soft(24, 200, "hand", { anchor: "start" }),
    inRow(456, view.hand, 158, (number, x) => [
      group(x + 4, 158, box(-3, -3, 134, 82, { fill: number === view.start_card ? "#e8505b" : "#0000", radius: 11 })),
      whole(rows[number], x + 4, 158, 128, 76),
      choices(number, x + 4),
    ]));
}
