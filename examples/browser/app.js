/** The page: load an agent, replay its parity.json, and show one position after another with what it would do. */

import * as ort from "../node_modules/onnxruntime-web/dist/ort.wasm.min.mjs";
import { loadAgent } from "../shared/agent.js";
import { draw } from "../shared/draw/index.js";
import { percent } from "../shared/draw/svg.js";

const TITLES = { dokitto: "Dokitto! Ice", nokosu_dice: "Nokosu Dice", ice_split: "Ice Split", kawaii: "Kawaii" };
const chosen = new URLSearchParams(location.search);
const folder = chosen.get("agents") ?? "../../checkpoints";
const find = (id) => document.getElementById(id);

ort.env.wasm.wasmPaths = new URL("../node_modules/onnxruntime-web/dist/", import.meta.url).href;
ort.env.wasm.numThreads = 1; // more need a site that is isolated from others, and a small network gains nothing

let games, agent, positions;

function node(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function say(sentence, kind) {
  find("state").textContent = sentence;
  find("state").className = kind;
}

async function read(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`cannot read ${path}: ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Return the games for which there is an agent. */
async function found() {
  const names = Object.keys(games);
  const there = await Promise.all(names.map((game) => fetch(`${folder}/${game}/agent.json`, { method: "HEAD" })));
  return names.filter((_, index) => there[index].ok);
}

async function open(game) {
  say("Loading the agent …", "");
  for (const button of find("games").children) button.ariaCurrent = String(button.value === game);
  history.replaceState(null, "", `?${new URLSearchParams({ ...Object.fromEntries(chosen), game })}`);
  agent = await loadAgent(ort, (name) => read(`${folder}/${game}/${name}`), games);
  const replayed = await agent.replay(await read(`${folder}/${game}/parity.json`));
  positions = replayed.positions;
  find("position").max = positions.length - 1;
  await show(Math.min(Number(chosen.get("position") ?? 0), positions.length - 1));
  say(`${replayed.count} positions answered as by the network that was trained; the largest difference is ${replayed.worst.toExponential(1)}.`, "good");
}

async function show(index) {
  find("position").value = index;
  find("number").textContent = `${index + 1} of ${positions.length}`;
  const { view, observation, mask } = positions[index];
  const { action, value, probabilities } = await agent.choose(observation, mask);
  const labels = new Map(view.legal_actions.map((legal) => [legal.action, legal]));
  find("scene").innerHTML = draw(view, probabilities, games[view.game]); // every word in it is escaped there
  find("choice").textContent = labels.get(action).label;
  find("choice_ja").textContent = labels.get(action).label_ja;
  find("actions").replaceChildren(...[...probabilities].map(([legal, part]) => node("li", { className: legal === action ? "best" : "" },
    node("span", { textContent: labels.get(legal).label }),
    node("span", { textContent: percent(part) }),
    bar(part))));
  showValue(value);
}

function bar(part) {
  const filled = node("i");
  filled.style.width = `${100 * part}%`;
  return node("div", { className: "bar" }, filled);
}

function showValue(value) {
  const { meaning } = agent.manifest.outputs[1];
  const needle = node("i");
  needle.style.left = `${50 + 50 * Math.max(-1, Math.min(1, value))}%`;
  find("value").replaceChildren(`value ${value.toFixed(2)}`, node("div", { className: "scale" }, needle));
  find("value").title = meaning;
}

function complain(error) {
  say(error.message, "bad");
}

for (const [id, step] of [["back", -1], ["on", 1]]) {
  find(id).onclick = () => show((Number(find("position").value) + step + positions.length) % positions.length).catch(complain);
}
find("position").oninput = () => show(Number(find("position").value)).catch(complain);

try {
  games = JSON.parse(new TextDecoder().decode(await read("../shared/games.json")));
  const there = await found();
  if (there.length === 0) throw new Error(`there is no agent in ${folder}: train one and export it into a folder of its game's name there`);
  find("games").append(...there.map((game) =>
    node("button", { value: game, textContent: TITLES[game] ?? game, onclick: () => { chosen.delete("position"); open(game).catch(complain); } })));
  const wanted = chosen.get("game");
  await open(wanted in games ? wanted : there[0]);
} catch (error) {
  complain(error);
}
