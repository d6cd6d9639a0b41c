/**
 * Load agents, replay their parity.json, and tell the first positions' moves.
 *
 *   node examples/node/check.js checkpoints/dokitto checkpoints/kawaii
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as ort from "onnxruntime-node";

import { AgentError, loadAgent } from "../shared/agent.js";

const SHOWN = 3;
const games = JSON.parse(await readFile(new URL("../shared/games.json", import.meta.url), "utf-8"));

async function check(folder) {
  const read = (name) => readFile(join(folder, name));
  const agent = await loadAgent(ort, read, games);
  const { count, worst, positions } = await agent.replay(await read("parity.json"));
  console.log(`${agent.manifest.game}: ${count} positions answered alike, the largest difference is ${worst.toExponential(1)}`);
  for (const { observation, mask } of positions.slice(0, SHOWN)) {
    const { label, value, probabilities } = await agent.choose(observation, mask);
    const [most] = probabilities.values();
    console.log(`  ${label} (${Math.round(100 * most)} %), value ${value.toFixed(2)}`);
  }
}

const folders = process.argv.slice(2);
if (folders.length === 0) {
  console.error("name the folders of one or more agents, such as checkpoints/dokitto");
  process.exit(2);
}
try {
  for (const folder of folders) await check(folder);
} catch (error) {
  if (!(error instanceof AgentError) && error.code === undefined) throw error;
  console.error(error.message);
  process.exit(2);
}
