/**
 * What the reader of one page has: a folder, a home, a shell, a terminal, vendors, a server and a database. The
 * addresses, keys and ids that a page shows are replaced by those of the test.
 */

import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { patience } from "../../patience.ts";
import { createPlace, type Place } from "../command.ts";
import { runShell, startShell, type Typed } from "../shell.ts";
import { putPrograms } from "./doc-programs.ts";

/** The key that the tests' own server accepts. */
export const KEY = "osk_test_of_the_docs";

export interface World extends AsyncDisposable {
  readonly place: Place;
  /** Runs lines in a shell. */
  type(script: string): Promise<Typed>;
  /**
   * Runs a command that does not end by itself until it has printed the text, and ends it with the page. A server is
   * the one that the page's later requests go to. Resolves with everything it has printed.
   */
  start(script: string, text: string, env?: Environment): Promise<string>;
  /** The variables of its shell. */
  environment(): Environment;
  /** The page's text with the addresses, keys and ids of this world. */
  fill(script: string): Promise<string>;
}

type Environment = Readonly<Record<string, string>>;

export interface WorldSetup {
  readonly files: Readonly<Record<string, string | Buffer>>;
  /** All that the page's blocks say. */
  readonly text: string;
  /** The origin of the vendors' stand-ins. */
  readonly vendors: string;
  /** The address of a server that accepts `KEY`, until the page starts its own. */
  readonly served: string;
  /** Makes an empty database. */
  newDatabase(): Promise<string>;
}

export async function createWorld(setup: WorldSetup): Promise<World> {
  const place = await createPlace(setup.files);
  await putPrograms(place.home);
  if (setup.text.includes(OPENROUTER)) await moveOpenRouter(place, setup.vendors);
  const started: ChildProcess[] = [];
  const server = { url: setup.served, key: KEY };
  let database = "";
  const fill = async (script: string): Promise<string> => {
    const session = script.includes("conv_01k…") ? await findSession(place) : "";
    if (script.includes("db.example")) database ||= await setup.newDatabase();
    return fillIn(script, { ...server, session, database, vendors: setup.vendors });
  };
  const environment = (): Environment => toEnvironment(setup, server);
  return {
    place,
    fill,
    environment,
    type: async (script) => await runShell(await fill(script), place, environment()),
    async start(script, text, env = {}) {
      const vendor = { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${setup.vendors}/v1` };
      const here = { ...environment(), ...vendor, OFFSHOOT_SERVER_PORT: "0", ...env };
      const shell = await startShell(await fill(script), place, here);
      started.push(shell);
      const said = await waitForOutput(shell, text);
      server.url = /listening at (https?:\/\/[^\s,]+)/.exec(said)?.[1] ?? server.url;
      server.key = /^(osk_\w+)$/m.exec(said)?.[1] ?? server.key;
      return said;
    },
    async [Symbol.asyncDispose]() {
      for (const shell of started) endGroup(shell);
      await place[Symbol.asyncDispose]();
    },
  };
}

const OPENROUTER = "openrouter/qwen/qwen3-coder";

/** Its address is fixed; a name of the server can have another one. */
async function moveOpenRouter({ home }: Place, vendors: string): Promise<void> {
  const folder = join(home, ".config/offshoot");
  await mkdir(folder, { recursive: true });
  const target = `{model: ${OPENROUTER}, url: "${vendors}/openrouter/v1"}`;
  await writeFile(join(folder, "config.yaml"), `server: {models: {${OPENROUTER}: ${target}}}\n`);
}

/** The last used one; a new one if the page has deleted all. */
async function findSession(place: Place): Promise<string> {
  const { stdout } = await place.run(["sessions", "list", "--json"]);
  const [first] = JSON.parse(stdout) as { id: string }[];
  if (first) return first.id;
  await place.run(["run", "-m", "embedded", "my name is Ada"]);
  return await findSession(place);
}

interface Found {
  readonly url: string;
  readonly key: string;
  readonly session: string;
  readonly database: string;
  readonly vendors: string;
}

function fillIn(script: string, { url, key, session, database, vendors }: Found): string {
  return script
    .replaceAll("./offshoot ", "offshoot ")
    .replaceAll("http://127.0.0.1:8000/v1", `${vendors}/v1`)
    .replaceAll("offshoot env claude", `offshoot env claude --url ${url}`)
    .replaceAll("-m vllm/", `--url ${vendors}/vllm/v1 -m vllm/`)
    .replaceAll("https://me.openai.azure.com", vendors)
    .replaceAll("https://tracker.example/mcp", `${url}/mcp`)
    .replaceAll("http://127.0.0.1:8484", url)
    .replaceAll("--server URL", `--server ${url}`)
    .replaceAll("postgres://offshoot:PASSWORD@db.example:5432/offshoot", database)
    .replaceAll("conv_01k…", session)
    .replaceAll("osk_…", key)
    .replaceAll("=…", "=sk-test")
    .replace(/run_01k…|\bID\b/g, "last");
}

function toEnvironment(setup: WorldSetup, { url, key }: Pick<Found, "url" | "key">): Environment {
  // A page that asks `$OPENAI_BASE_URL` by itself means the server that it has started.
  const asksServer = setup.text.includes("curl $OPENAI_BASE_URL");
  const isForClaude = setup.text.includes("offshoot env claude");
  return {
    OPENAI_API_KEY: asksServer ? key : "sk-test",
    OPENAI_BASE_URL: asksServer ? `${url}/v1` : `${setup.vendors}/v1`,
    ANTHROPIC_API_KEY: "sk-test",
    ANTHROPIC_BASE_URL: `${setup.vendors}/v1`,
    TRACKER_TOKEN: key,
    OPENROUTER_API_KEY: "sk-test",
    KEY: key,
    URL: url,
    ...(/\$OFFSHOOT_SERVER_KEY|--server URL/.test(setup.text) || isForClaude
      ? { OFFSHOOT_SERVER_KEY: KEY }
      : {}),
  };
}

/** Rejects if the command ends without it. */
async function waitForOutput(shell: ChildProcess, text: string): Promise<string> {
  let said = "";
  return await new Promise((resolve, reject) => {
    const hear = (piece: Buffer): void => {
      said += String(piece);
      // Up to the end of the line, which may have an address.
      if (said.includes(text) && said.indexOf("\n", said.indexOf(text)) >= 0) resolve(said);
    };
    shell.stdout?.on("data", hear);
    shell.stderr?.on("data", hear);
    shell.once("close", () => reject(new Error(`ended without \`${text}\`: ${said}`)));
    patience().addEventListener("abort", () => reject(new Error(`no \`${text}\`: ${said}`)));
  });
}

/** The shell and the processes that it has started. */
function endGroup({ pid }: ChildProcess): void {
  assert.ok(pid !== undefined);
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

const shells: ChildProcess[] = [];

/** Runs a line that does not end by itself until it has printed the text. */
export async function startUntil(line: string, place: Place, text: string): Promise<string> {
  const shell = await startShell(line, place);
  shells.push(shell);
  return await waitForOutput(shell, text);
}

/** Ends everything that `startUntil` has started. */
export function endDocShells(): void {
  for (const shell of shells) endGroup(shell);
}
