/** Dokitto! Ice as its view shows it. */

import { box, card, chances, colorOf, cone, group, inRow, row, scene, seatPanel, soft, star, text, WIDTH } from "./svg.js";

const FLAVORS = ["strawberry", "chocolate", "matcha", "grape", "vanilla"];
const NUMBERS = 13;
const CARDS = FLAVORS.length * NUMBERS;
const HAND_SIZES = { 2: 6, 3: 8, 4: 10, 5: 13 };

export function draw(view, probabilities) {
  const mark = chances(probabilities);
  const tricks = view.played.length === 0 ? 1 : view.played.at(-1).trick;
  const done = view.played.length % view.num_players === 0;
  const last = view.played.slice(view.played.length - (done ? view.num_players : view.played.length % view.num_players));
  const choosing = view.phase === "take_tile";
  const caption = choosing ? "the trick's winner takes a tile" : `round ${view.round} · trick ${tricks + (done && last.length > 0 ? 1 : 0)}`;
  return scene("Dokitto! Ice", caption,
    row(view, 60, 150, (seat, width) => otherSeat(view, seat, width)),
    stacks(view, mark),
    trick(last, done && !choosing),
    ownSeat(view, mark));
}

function held(view, seat) {
  return HAND_SIZES[view.num_players] - view.played.filter((play) => play.seat === seat).length;
}

function coneOf(view, seat, x, y, width) {
  const { tiles, toppings } = view.cones[seat];
  return cone(x, y, width, tiles.map(colorOf), toppings.map(colorOf));
}

function otherSeat(view, seat, width) {
  return [
    coneOf(view, seat, width / 2, 142, 34),
    soft(14, 44, `${held(view, seat)} cards`, { anchor: "start" }),
  ];
}

function stacks(view, mark) {
  const flavors = Object.keys(view.tiles);
  return group(150, 224,
    box(-126, 0, 252, 186, { fill: "#ffffff99" }),
    text(0, 24, "tiles left", { weight: 600 }),
    inRow(0, flavors, 46, (flavor, x) => {
      const color = colorOf(flavor);
      const scoops = Array.from({ length: view.tiles[flavor] }, (_, i) =>
        `<circle cx="${x + 23}" cy="${128 - i * 19}" r="15" fill="${color}" stroke="#0002"/>`);
      const top = view.toppings.includes(flavor) ? star(x + 23, 56, 9, color) : "";
      return [top, scoops, soft(x + 23, 160, view.tiles[flavor]), mark(CARDS + FLAVORS.indexOf(flavor), x + 23, 178, { width: 36 })];
    }));
}

function trick(plays, faded) {
  const words = plays.length === 0 ? "a new trick" : faded ? "the last trick" : "the trick";
  return group(612, 224,
    box(-324, 0, 648, 186, { fill: "#ffffff99" }),
    text(0, 24, words, { weight: 600 }),
    inRow(0, plays, 92, ({ seat, flavor, number }, x) => [
      card(x + 12, 44, colorOf(flavor), number, { width: 68, height: 98, faded }),
      soft(x + 46, 168, `seat ${seat}`),
    ]));
}

function ownSeat(view, mark) {
  const width = Math.min(62, 760 / Math.max(view.hand.length, 1));
  return seatPanel(view, view.seat, 24, 424, WIDTH - 48, 192,
    coneOf(view, view.seat, 80, 180, 40),
    inRow(WIDTH / 2 + 30, view.hand, width, ({ flavor, number }, x) => [
      card(x + 2, 72, colorOf(flavor), number, { width: width - 6, height: 96 }),
      mark(FLAVORS.indexOf(flavor) * NUMBERS + number - 1, x + width / 2, 56, { width: width - 14 }),
    ]));
}
