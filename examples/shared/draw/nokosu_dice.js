/** Nokosu Dice as its view shows it. */

import { box, card, chances, colorOf, die, el, group, inRow, row, scene, seatPanel, soft, text, WIDTH } from "./svg.js";

const COLORS = ["red", "yellow", "green", "blue", "purple"];
const CARDS = 40;
const NO_CALL = 70;
const HAND_SIZES = { 3: 9, 4: 10 };
const PHASES = { draft: "dice are drafted", call: "zero calls", play: "play" };

const dieAction = ({ color, number }) => CARDS + COLORS.indexOf(color) * 6 + number - 1;
const isSame = (a, b) => a.color === b.color && a.number === b.number;

export function draw(view, probabilities) {
  const mark = chances(probabilities);
  const seats = view.num_players;
  const done = view.played.length % seats === 0;
  const last = view.played.slice(view.played.length - (done ? seats : view.played.length % seats));
  const trick = view.played.length ? view.played.at(-1).trick + (done ? 1 : 0) : 1;
  const caption = `round ${view.round} of ${seats} · ${view.phase === "play" ? `trick ${trick}` : PHASES[view.phase]}`;
  return scene("Nokosu Dice", caption,
    row(view, 60, 140, (seat, width) => otherSeat(view, seat, width)),
    view.phase === "draft" ? draft(view, mark) : [trumps(view), table(view, last, done, mark)],
    ownSeat(view, mark));
}

/** Return the dice that a seat still has: rolled and drafted, less what it played or returned. */
function diceOf(view, seat) {
  const dice = [...view.rolled[seat], ...view.drafted.filter((drafted) => drafted.seat === seat)];
  const returned = view.calls.find((call) => call.seat === seat)?.returns;
  const gone = view.played.filter((play) => play.seat === seat && play.item === "die");
  for (const spent of returned && returned !== "secret" ? [...gone, returned] : gone) {
    const place = dice.findIndex((other) => isSame(other, spent));
    if (place >= 0) dice.splice(place, 1);
  }
  return dice;
}

/** Return who won each finished trick: whoever leads the next one. */
function winners(view) {
  const leaders = view.played.filter((_, i) => i % view.num_players === 0).map((play) => play.seat);
  return view.played.length % view.num_players === 0 && view.played.length > 0 ? [...leaders.slice(1), view.to_move] : leaders.slice(1);
}

function facts(view, seat) {
  const won = winners(view).filter((winner) => winner === seat).length;
  const call = view.calls.find((made) => made.seat === seat);
  const called = call?.returns ? (call.returns === "secret" ? " · call hidden" : " · calls zero") : "";
  return `${won} ${won === 1 ? "trick" : "tricks"}${called}`;
}

function otherSeat(view, seat, width) {
  const cards = HAND_SIZES[view.num_players] - view.played.filter((play) => play.seat === seat && play.item === "card").length;
  return [
    soft(14, 46, `${facts(view, seat)} · ${cards} cards`, { anchor: "start" }),
    inRow(width / 2, diceOf(view, seat), 40, ({ color, number }, x) => die(x + 3, 76, colorOf(color), number, 34)),
  ];
}

function draft(view, mark) {
  const step = Math.min(64, 890 / view.middle.length);
  return group(WIDTH / 2, 220,
    box(-456, 0, 912, 186, { fill: "#ffffff99" }),
    text(0, 30, "dice in the middle", { weight: 600 }),
    inRow(0, view.middle, step, (found, x) => [
      die(x + 6, 62, colorOf(found.color), found.number, step - 12),
      mark(dieAction(found), x + step / 2, 150, { width: step - 12 }),
    ]));
}

function trumps(view) {
  const [{ color, number }] = view.middle;
  return group(150, 220,
    box(-126, 0, 252, 186, { fill: "#ffffff99" }),
    text(0, 24, "trumps", { weight: 600 }),
    die(-32, 52, colorOf(color), number, 64),
    soft(0, 150, `all ${color} and all ${number}s`));
}

function item(found, x, y, width) {
  const color = colorOf(found.color);
  if (found.item === "die") return die(x + width * 0.08, y + width * 0.3, color, found.number, width * 0.84);
  return card(x, y, color, found.number, { width, height: width * 1.44 });
}

function table(view, plays, faded, mark) {
  const words = view.phase === "play" ? (plays.length === 0 ? "a new trick" : faded ? "the last trick" : "the trick") : PHASES[view.phase];
  const call = view.phase === "call" ? [soft(0, 84, "make no zero call"), mark(NO_CALL, 0, 112, { width: 120 })] : "";
  return group(612, 220,
    box(-324, 0, 648, 186, { fill: "#ffffff99" }),
    text(0, 24, words, { weight: 600 }),
    call,
    inRow(0, plays, 96, (play, x) => [
      el("g", { opacity: faded ? 0.5 : null }, item(play, x + 16, 44, 64)),
      soft(x + 48, 166, `seat ${play.seat}`),
    ]));
}

function ownSeat(view, mark) {
  const dice = diceOf(view, view.seat);
  return seatPanel(view, view.seat, 24, 420, WIDTH - 48, 196,
    soft(14, 46, facts(view, view.seat), { anchor: "start" }),
    inRow(150, dice, 46, (found, x) => [
      die(x + 4, 106, colorOf(found.color), found.number, 38),
      view.phase === "draft" ? "" : mark(dieAction(found), x + 23, 92, { width: 38 }),
    ]),
    inRow(590, view.hand, 60, ({ color, number }, x) => [
      card(x + 2, 76, colorOf(color), number, { width: 54, height: 92 }),
      mark(COLORS.indexOf(color) * 8 + number, x + 29, 60, { width: 46 }),
    ]));
}
