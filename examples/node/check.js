/**
 * Load agents, replay their parity.json, and tell the first positions' moves.
 *
 *   node examples/node/check.js checkpoints/dokitto checkpoints/kawaii
 */

import { AgentError } from "../shared/agent.js";
import { load, reader, run } from "./load.js";

const SHOWN = 3;

async function check(folder) {
  const agent = await load(folder);
  const { count, worst, positions } = await agent.replay(await reader(folder)("parity.json"));
  console.log(`${agent.manifest.game}: ${count} positions answered alike, the largest difference is ${worst.toExponential(1)}`);
  for (const { observation, mask } of positions.slice(0, SHOWN)) {
    const { label, value, probabilities } = await agent.choose(observation, mask);
    const [most] = probabilities.values();
    console.log(`  ${label} (${Math.round(100 * most)} %), value ${value.toFixed(2)}`);
  }
}

await run(async (folders) => {
  if (folders.length === 0) throw new AgentError("name the folders of one or more agents, such as checkpoints/dokitto");
  for (const folder of folders) await check(folder);
});
