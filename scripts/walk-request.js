/**
 * `node scripts/walk-request.js [NAME…]`, after `node scripts/compile.js`: the way of one request through the code.
 * For responses of several kinds and for `offshoot run`: how many files and functions it enters, how many calls that
 * is, and how often it goes from one room or folder to another. `--functions` prints each function, too, in the order
 * in which the request first enters them, with the number of its calls. A NAME chooses walks; `WALKS` has them.
 * `--clone=DIR` walks through another clone that is compiled. For `offshoot run` the counts are there twice: as they
 * are, and without the files of features that the first version of docs/shape.md did not have (`house/features.js`).
 *
 * Requests are answered by a small server of this process that is not part of the product. The first response of each
 * kind loads modules and opens the record; the second one is counted. `base` and `protocol` are used by all rooms:
 * going there is not a change of room.
 */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { register } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { startUpstream } from "./house/upstream.js";
import { startWalk, stopWalk } from "./house/walked.js";
import { ROOT } from "./packages.js";

register("./house/instrument.js", import.meta.url);

const TODO = "find TODO in .";
const PYTHON = { tools: [{ type: "code_interpreter", container: { type: "auto" } }] };

const WALKS = {
  stored: () => walkServer("POST /v1/responses, stored and streamed", { stream: true }),
  paced: () =>
    walkServer("the same, in pieces that come one by one", { stream: true, isPaced: true }),
  python: () => walkServer("the same, with code_interpreter", { stream: true, ...PYTHON }),
  direct: () => walkServer("POST /v1/responses, store: false", { store: false }),
  run: () => walkRun("What is 2+3?"),
  find: () => walkRun(TODO),
};

const words = process.argv.slice(2);
const clone = words.find((word) => word.startsWith("--clone="))?.slice("--clone=".length);
const built = pathToFileURL(join(resolve(clone ?? ROOT), "build/src/"));
const names = words.filter((word) => !word.startsWith("-"));
const unknown = names.find((name) => !Object.hasOwn(WALKS, name));
if (unknown !== undefined) {
  console.error(`Unknown walk \`${unknown}\`. Available: ${Object.keys(WALKS).join(", ")}.`);
  process.exit(2);
}
const folder = makeFolder();
try {
  for (const name of names.length > 0 ? names : Object.keys(WALKS)) {
    print(await WALKS[name](), words.includes("--functions"));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A module of the clone. */
async function load(path) {
  return await import(new URL(path, built));
}

function makeFolder() {
  const parent = join(ROOT, "build");
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, "walk-"));
}

async function walkServer(name, { isPaced = false, ...body }) {
  const upstream = await startUpstream({ isPaced, calls: body.tools !== undefined });
  const server = await openServer(upstream.port, body.tools ? { interpreter: {} } : {});
  await ask(server.url, body);
  await settled();
  startWalk();
  await ask(server.url, body);
  await settled();
  const { shared: _, ...walk } = stopWalk();
  await server.close();
  upstream.close();
  return { name, ...walk };
}

/** As `offshoot serve` opens it, without keys: a record in a file, one tenant. */
async function openServer(port, machine) {
  const { createRuntime } = await load("runtime/runtime.js");
  const { createRoutes } = await load("server/routes.js");
  const { openServer: listen } = await load("server/running/open-server.js");
  const { NO_LIMITS } = await load("agent/limits.js");
  const runtime = await createRuntime({ env: {}, storePath: join(folder, "walk.db") });
  const url = `http://127.0.0.1:${port}/v1`;
  const usual = { model: "custom/walked", provider: "openai-chat", url, api_key_name: null };
  const responses = await runtime.openResponses({
    models: { named: [], usual },
    store: true,
    ttlMs: null,
    root: folder,
    maxBackground: 4,
    sealKey: new Uint8Array(32),
    machine,
  });
  const caller = { tenant: "walker", keyId: null, catalogue: [], limits: NO_LIMITS };
  const opened = await listen({
    host: "127.0.0.1",
    port: 0,
    routes: createRoutes(responses),
    guard: { admit: async () => ({ caller, async countMore() {}, done() {} }) },
    body: { maxBytes: 1_000_000, timeoutMs: 60_000 },
    send: { keepAliveMs: 60_000, commitMs: 60_000 },
    onDefect: (thrown) => console.error(thrown),
  });
  return {
    url: opened.url,
    async close() {
      const closed = opened.close();
      opened.destroy();
      await closed;
      await runtime.close();
    },
  };
}

async function ask(url, body) {
  const request = { ...body, input: "Say something about foxes.", instructions: "You are brief." };
  const answered = await fetch(`${url}/v1/responses`, {
    method: "POST",
    body: JSON.stringify(request),
  });
  const text = await answered.text();
  if (!answered.ok || !text.includes("clever")) throw new Error(`${answered.status}: ${text}`);
}

/** Work that a response leaves for after its answer is part of its way. */
async function settled() {
  await new Promise((resolve) => setTimeout(resolve, 300));
}

/** The embedded model: no key and no network. */
async function walkRun(prompt) {
  startWalk();
  const { main } = await load("cli/main.js");
  const { io, said } = createIo();
  const exitCode = await main(["run", "--model", "embedded", prompt], io);
  const walk = stopWalk();
  if (exitCode !== 0) throw new Error(`offshoot run ended with ${exitCode}: ${said()}`);
  return { name: `offshoot run "${prompt}"`, ...walk };
}

function createIo() {
  const texts = [];
  const output = { isTerminal: false, columns: 80, write: (text) => void texts.push(text) };
  const io = {
    env: {},
    cwd: folder,
    home: folder,
    stdin: { isTerminal: false, isPiped: false, readAll: async () => Buffer.alloc(0) },
    stdout: output,
    stderr: output,
    openTerminal: () => undefined,
    openKeys: () => undefined,
    onInterrupt: () => () => {},
    onReaderGone: () => () => {},
    leave: (exitCode) => process.exit(exitCode),
  };
  return { io, said: () => texts.join("") };
}

function print({ name, pairs, entered, shared, ...counts }, withFunctions) {
  console.log(name);
  for (const [what, count] of Object.entries(counts)) {
    console.log(`  ${String(count).padStart(6)} ${what}`);
  }
  for (const [what, count] of Object.entries(shared ?? {})) {
    console.log(`  ${String(count).padStart(6)} ${what} without new features`);
  }
  const most = pairs.slice(0, 8).map(([pair, count]) => `${pair} ${count}`);
  console.log(`         ${most.join(", ")}`);
  if (!withFunctions) return;
  for (const { path, name: called, calls } of entered) {
    console.log(`  ${path} ${called}${calls > 1 ? ` ×${calls}` : ""}`);
  }
}
