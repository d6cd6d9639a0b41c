/** What the programs in this folder share: agents from folders, and complaints of one sentence. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as ort from "onnxruntime-node";

import { AgentError, loadAgent } from "../shared/agent.js";

const BAD_INPUT = 2;
const games = JSON.parse(await readFile(new URL("../shared/games.json", import.meta.url), "utf-8"));

/** Return an asynchronous function from the name of a file in a folder to its bytes. */
export function reader(folder) {
  return async (name) => {
    try {
      return await readFile(join(folder, name));
    } catch (error) {
      throw new AgentError(`cannot read ${name}: ${error.message}`);
    }
  };
}

/** Load the agent in a folder. */
export const load = (folder) => loadAgent(ort, reader(folder), games);

/** Run a program; after bad input say what is wrong in one line, and exit with 2. */
export async function run(program) {
  try {
    await program(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    console.error(error.message.replace(/\s+/g, " "));
    process.exit(BAD_INPUT);
  }
}
