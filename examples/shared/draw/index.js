/** A position as SVG, for every game. */

import { draw as dokitto } from "./dokitto.js";
import { draw as iceSplit } from "./ice_split.js";
import { draw as kawaii } from "./kawaii.js";
import { draw as nokosuDice } from "./nokosu_dice.js";

const DRAWINGS = { dokitto, ice_split: iceSplit, kawaii, nokosu_dice: nokosuDice };

/**
 * Return the SVG of what a seat knows, with the agent's probabilities where the actions are.
 *
 * @param view the JSON view of a seat that is to move
 * @param probabilities a Map from action to probability
 * @param own what games.json says of the game
 */
export function draw(view, probabilities, own) {
  return DRAWINGS[view.game](view, probabilities, own);
}
