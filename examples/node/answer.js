/**
 * Answer positions for another program: a line of JSON in, a line of JSON out.
 *
 *   node examples/node/answer.js checkpoints/dokitto < positions.jsonl
 *
 * A line in is {"observation": […], "mask": […]}, a line out {"action", "value", "logits": of the legal actions}.
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as ort from "onnxruntime-node";

import { best, loadAgent } from "../shared/agent.js";

const TOGETHER = 64;
const games = JSON.parse(await readFile(new URL("../shared/games.json", import.meta.url), "utf-8"));
const folder = process.argv[2];
const agent = await loadAgent(ort, (name) => readFile(join(folder, name)), games);

async function answer(lines) {
  const positions = lines.map((line) => JSON.parse(line));
  const { logits, values } = await agent.answer(positions.map((p) => p.observation), positions.map((p) => p.mask));
  positions.forEach(({ mask }, i) => {
    const legal = Array.from(logits[i]).filter((_, action) => mask[action] === 1);
    console.log(JSON.stringify({ action: best(logits[i], mask), value: values[i], logits: legal }));
  });
}

let waiting = [];
for await (const line of createInterface({ input: process.stdin })) {
  waiting.push(line);
  if (waiting.length === TOGETHER) {
    await answer(waiting);
    waiting = [];
  }
}
if (waiting.length > 0) await answer(waiting);
