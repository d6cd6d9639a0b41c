/**
 * Answer positions for another program: a line of JSON in, a line of JSON out.
 *
 *   node examples/node/answer.js checkpoints/dokitto < positions.jsonl
 *
 * A line in is {"observation": […], "mask": […]}, a line out {"action", "value", "logits": of the legal actions}.
 */

import { createInterface } from "node:readline";

import { AgentError, best, parsed } from "../shared/agent.js";
import { load, run } from "./load.js";

const TOGETHER = 64;

async function answer(agent, positions) {
  const { logits, values } = await agent.answer(positions.map((p) => p.observation), positions.map((p) => p.mask));
  positions.forEach(({ mask }, i) => {
    const legal = Array.from(logits[i]).filter((_, action) => mask[action] === 1);
    console.log(JSON.stringify({ action: best(logits[i], mask), value: values[i], logits: legal }));
  });
}

await run(async ([folder]) => {
  if (folder === undefined) throw new AgentError("name the folder of an agent, such as checkpoints/dokitto");
  const agent = await load(folder);
  let waiting = [];
  let count = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    count += 1;
    const position = parsed(new TextEncoder().encode(line), `line ${count}`);
    agent.checkPosition(position, `line ${count}`);
    waiting.push(position);
    if (waiting.length === TOGETHER) {
      await answer(agent, waiting);
      waiting = [];
    }
  }
  if (waiting.length > 0) await answer(agent, waiting);
});
