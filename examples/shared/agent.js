/**
 * An agent of ice_envs in JavaScript: its files are read, checked and played, the same in Node and in the browser.
 *
 * The checks are those of docs/training.md, in that order; each failure is one sentence.
 */

const SCHEMA = "ice-agent/1";
const PARITY_SCHEMA = "ice-parity/1";

/** What does not fit. */
export class AgentError extends Error {}

function demand(condition, sentence) {
  if (!condition) throw new AgentError(sentence);
}

function same(what, theirs, ours) {
  demand(theirs === ours, `the agent was made for ${what} ${theirs}, but this front end for ${ours}`);
}

/** Return the data in bytes of JSON. */
export function parsed(bytes, name) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new AgentError(`${name} is not JSON, or only the beginning of it`);
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string";
const isNumber = (value) => Number.isFinite(value); // JavaScript's own, which takes no text for a number
const isList = (isPart) => (value) => Array.isArray(value) && value.every(isPart);
const isShape = (value) => isList(() => true)(value) && value.length === 2 && Number.isInteger(value[1]);
const has = (fields) => (value) => isObject(value) && Object.entries(fields).every(([name, isRight]) => isRight(value[name]));
const POSITION = { observation: isList(isNumber), mask: isList(isNumber) };
const VECTOR = { ...POSITION, masked_logits: isList(isNumber), value: isNumber };

/** What is read of agent.json here, by its place there. */
const MANIFEST = {
  game: isText,
  rules_version: isNumber,
  "observation.input": isText,
  "observation.shape": isShape,
  "observation.layout_hash": isText,
  "mask.input": isText,
  "mask.shape": isShape,
  "actions.n": Number.isInteger,
  "actions.labels": isList(isText),
  "actions.labels_hash": isText,
  outputs: (value) => isList(has({ name: isText, shape: isShape }))(value) && value.length === 2,
  "onnx.file": isText,
  "onnx.sha256": isText,
  "parity.vectors": (value) => isList(has(VECTOR))(value) && value.length > 0,
  "parity.tolerance": isNumber,
};

/** What is read of parity.json. */
const PARITY = {
  sha256: isText,
  positions: isList(has({ ...VECTOR, action: Number.isInteger })),
  tolerance: isNumber,
};

/** Refuse data that lacks one of the fields, by name or by place, or has something else there. */
function checkFields(data, fields, name) {
  for (const [place, isRight] of Object.entries(fields)) {
    const found = place.split(".").reduce((part, step) => (isObject(part) && Object.hasOwn(part, step) ? part[step] : undefined), data);
    demand(isRight(found), `${name} lacks ${place}, or has something there that does not belong there`);
  }
}

async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Load an agent.
 *
 * @param ort the module onnxruntime-node or onnxruntime-web
 * @param read an asynchronous function from a file's name to its bytes (Uint8Array)
 * @param games what this front end was written for, by game: the content of games.json
 */
export async function loadAgent(ort, read, games) {
  const manifest = parsed(await read("agent.json"), "agent.json");
  demand(isObject(manifest) && isText(manifest.schema), "agent.json is not the manifest of an agent: it has no schema");
  const { schema } = manifest;
  demand(schema.split(".")[0] === SCHEMA, `agent.json has schema ${schema}, but this front end reads ${SCHEMA}`);
  checkFields(manifest, MANIFEST, "agent.json");
  demand(Object.hasOwn(games, manifest.game), `this front end does not know the game ${manifest.game}`);
  const own = games[manifest.game];
  same("rules version", manifest.rules_version, own.rules_version);
  same("observation layout", manifest.observation.layout_hash, own.layout_hash);
  same("action labels", manifest.actions.labels_hash, own.labels_hash);
  if (own.data_hash) same("data", manifest.data_hash, own.data_hash); // such as another deck
  const { file } = manifest.onnx;
  demand(/^[^/\\:]+$/.test(file) && !/^\.+$/.test(file), `agent.json names the model ${file}, which must be a file in the same folder`);
  const model = await read(file);
  const digest = await sha256(model);
  demand(digest === manifest.onnx.sha256, `${file} has SHA-256 ${digest}, not ${manifest.onnx.sha256}`);
  let session;
  try {
    session = await ort.InferenceSession.create(model);
  } catch (error) {
    throw new AgentError(`${file} is not a model that onnxruntime can open: ${error.message}`);
  }
  const agent = new Agent(ort, session, manifest);
  agent.checkGraph();
  await agent.checkVectors();
  return agent;
}

/** A model with its manifest. */
export class Agent {
  constructor(ort, session, manifest) {
    this.ort = ort;
    this.session = session;
    this.manifest = manifest;
    this.cells = manifest.observation.shape[1];
    this.actions = manifest.actions.n;
  }

  /** Return the logits (Float32Array each) and the values of observations and masks (a list of numbers each). */
  async answer(observations, masks) {
    const feeds = {
      [this.manifest.observation.input]: this.#rows(observations, this.cells),
      [this.manifest.mask.input]: this.#rows(masks, this.actions),
    };
    const [logits, value] = this.manifest.outputs.map((output) => output.name);
    let found;
    try {
      found = await this.session.run(feeds);
    } catch (error) {
      throw new AgentError(`the model cannot be run: ${error.message}`);
    }
    const row = (i) => found[logits].data.slice(i * this.actions, (i + 1) * this.actions);
    return { logits: observations.map((_, i) => row(i)), values: Array.from(found[value].data) };
  }

  /** Refuse what is no observation with its mask. */
  checkPosition(position, name) {
    checkFields(position, POSITION, name);
    for (const [row, width] of [[position.observation, this.cells], [position.mask, this.actions]])
      demand(row.length === width, `${name} has a row of ${row.length} numbers, not ${width}`);
  }

  #rows(rows, width) {
    for (const row of rows) demand(row.length === width, `a row has ${row.length} numbers, not ${width}`);
    return new this.ort.Tensor("float32", Float32Array.from(rows.flat()), [rows.length, width]);
  }

  /** Return the move in one position: action, label, value, and the probabilities of the legal actions by index. */
  async choose(observation, mask) {
    const { logits, values } = await this.answer([observation], [mask]);
    const action = best(logits[0], mask);
    return { action, label: this.manifest.actions.labels[action], value: values[0], probabilities: softmax(logits[0], mask) };
  }

  /** Compare names and shapes with the manifest's, as far as this onnxruntime tells them. */
  checkGraph() {
    const { observation, mask, outputs } = this.manifest;
    const described = {
      input: [[observation.input, observation.shape[1]], [mask.input, mask.shape[1]]],
      output: outputs.map((output) => [output.name, output.shape[1]]),
    };
    const found = { input: this.session.inputMetadata, output: this.session.outputMetadata };
    for (const kind of ["input", "output"]) {
      const wanted = described[kind].map(([name, width]) => `${name} float32 ${width}`).sort().join(", ");
      const there = found[kind].map((node) => `${node.name} ${node.type} ${node.shape?.at(-1)}`).sort().join(", ");
      demand(there === wanted, `the model has ${kind}s ${there}, but its manifest describes ${wanted}`);
    }
  }

  /** Run the manifest's own positions. */
  async checkVectors() {
    const { vectors, tolerance } = this.manifest.parity;
    const { logits, values } = await this.answer(vectors.map((v) => v.observation), vectors.map((v) => v.mask));
    const gaps = vectors.map((vector, i) => gap(vector, logits[i], values[i]));
    const worst = gaps.reduce((a, b) => Math.max(a, b), 0);
    demand(worst <= tolerance, `the model is ${worst} off on its parity vectors, where ${tolerance} is allowed`);
  }

  /**
   * Replay parity.json; return the number of positions and the largest difference.
   *
   * @param bytes the content of the file
   */
  async replay(bytes) {
    const parity = parsed(bytes, "parity.json");
    demand(parity?.schema === PARITY_SCHEMA, `parity.json has schema ${parity?.schema}, not ${PARITY_SCHEMA}`);
    checkFields(parity, PARITY, "parity.json");
    demand(parity.sha256 === this.manifest.onnx.sha256, "parity.json is of another model");
    const { positions, tolerance } = parity;
    const { logits, values } = await this.answer(positions.map((p) => p.observation), positions.map((p) => p.mask));
    let worst = 0;
    positions.forEach((position, i) => {
      worst = Math.max(worst, gap(position, logits[i], values[i]));
      const action = best(logits[i], position.mask);
      demand(action === position.action, `position ${i} is answered with action ${action}, not ${position.action}`);
    });
    demand(worst <= tolerance, `parity.json is answered ${worst} off, where ${tolerance} is allowed`);
    return { count: positions.length, worst, positions };
  }
}

/** Return the legal action with the highest logit, of equals the one with the lowest index. */
export function best(logits, mask) {
  let found = -1;
  logits.forEach((logit, action) => {
    if (mask[action] === 1 && (found < 0 || logit > logits[found])) found = action;
  });
  demand(found >= 0 && Number.isFinite(logits[found]), "no action is legal, or the model answers with no numbers");
  return found;
}

/** Return the probabilities of the legal actions: a Map from action to probability, the highest first. */
export function softmax(logits, mask) {
  const highest = logits[best(logits, mask)];
  const weights = Array.from(logits, (logit, action) => [action, mask[action] ? Math.exp(logit - highest) : -1]);
  const legal = weights.filter(([, weight]) => weight >= 0).sort((a, b) => b[1] - a[1]);
  const sum = legal.reduce((total, [, weight]) => total + weight, 0);
  return new Map(legal.map(([action, weight]) => [action, weight / sum]));
}

/** Return the largest difference from what a position says, NaN for numbers that are none. */
function gap(position, logits, value) {
  const gaps = position.mask.map((legal, i) => (legal ? Math.abs(logits[i] - position.masked_logits[i]) : 0));
  return [Math.abs(value - position.value), ...gaps].reduce((a, b) => Math.max(a, b), 0);
}
