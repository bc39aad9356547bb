/**
 * Runs the blocks of README.md and docs/ that no other test runs (test/doc-blocks.ts says which). The blocks of a page
 * are one session: a folder with a small project, a stand-in for OpenAI's server, a server for the page's requests.
 * `…` in what a page prints stands for any text.
 */

import assert from "node:assert/strict";
import { type ChildProcess, execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import {
  reply,
  respond,
  startChatUpstream,
  startMessagesUpstream,
  startResponsesUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { type DocBlock, listPages, ROOT, readBlocks } from "../doc-blocks.ts";
import { createPlace, type Place } from "./command.ts";
import { type Served, serve } from "./served.ts";
import { runShell, startShell, type Typed } from "./shell.ts";

const KEY = "osk_test_of_the_docs";

/** What the pages' readers have: a project with notes, a schema and a change. */
const FILES = {
  "README.md": "# Garden\n\nGrows things.\n",
  "package.json": '{ "name": "garden", "private": true }\n',
  "notes.md": "Water the beans.\n",
  "error.png": Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
  "docs/guide.md": "# Guide\n\nSow in spring.\n",
  "test/main.test.ts": "// None yet.\n",
  "src/main.ts": 'export const greeting = "Hello";\n',
  "city.json": JSON.stringify({
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  }),
};

/** Stands in for a model of a vendor. */
const engine = () =>
  respond((request) =>
    JSON.stringify(request).includes("Eiffel")
      ? reply.text('{"city":"Paris"}')
      : reply.text("Hello."),
  );

describe("the blocks of the docs", () => {
  let upstreams: readonly Upstream[] = [];
  let served: Served | undefined;
  before(async () => {
    upstreams = [
      await startResponsesUpstream({ engine: engine() }),
      await startMessagesUpstream({ engine: engine() }),
      await startChatUpstream({ engine: engine() }),
    ];
    served = await serve({ key: KEY });
  });
  after(async () => {
    await served?.[Symbol.asyncDispose]();
    for (const upstream of upstreams) await upstream.close();
  });

  for (const page of listPages()) {
    const blocks = readBlocks(page);
    if (!blocks.some(isOwn)) continue;
    it(`${page} has blocks that do what it says`, async () => {
      await using place = await createPlace(FILES);
      const [openai = "", anthropic = "", chat = ""] = upstreams.map(({ url }) => url);
      // A page that asks `$OPENAI_BASE_URL` by itself means the server that it has started.
      const asksServer = blocks.some(({ text }) => text.includes("curl $OPENAI_BASE_URL"));
      const addresses = { openai, anthropic, chat, served: served?.url ?? "", asksServer };
      const world = createWorld(place, addresses);
      await world.type("git init -q . && git add . && echo Prune. >> notes.md");
      await runBlocks(world, blocks);
    });
  }
});

/** No other test runs it. */
function isOwn({ testedBy, reason }: DocBlock): boolean {
  return testedBy === undefined && reason === undefined;
}

/** A block of text after commands is what they print. */
async function runBlocks(world: World, blocks: readonly DocBlock[]): Promise<void> {
  for (const [at, block] of blocks.entries()) {
    const isOutput = block.language === "text" && block.until === undefined;
    if (!isOwn(block) || isOutput) continue;
    const next = blocks[at + 1];
    const prints = next?.language === "text" && isOwn(next) ? next.text : undefined;
    await runBlock(world, block, prints);
  }
}

interface World {
  readonly place: Place;
  type(script: string): Promise<Typed>;
  /** Types what does not end by itself, and ends it once it has printed `text`. */
  start(script: string, text: string): Promise<void>;
}

interface Addresses {
  readonly openai: string;
  readonly chat: string;
  readonly anthropic: string;
  readonly served: string;
  readonly asksServer: boolean;
}

function createWorld(place: Place, addresses: Addresses): World {
  const { openai, chat, anthropic, served, asksServer } = addresses;
  const env = {
    OPENAI_API_KEY: asksServer ? KEY : "sk-test",
    OPENAI_BASE_URL: asksServer ? `${served}/v1` : openai,
    ANTHROPIC_API_KEY: "sk-test",
    ANTHROPIC_BASE_URL: anthropic,
  };
  const fill = (script: string): string =>
    script
      .replaceAll("./offshoot ", "offshoot ")
      .replaceAll("http://127.0.0.1:8000/v1", chat)
      .replaceAll("http://127.0.0.1:8484", served)
      .replaceAll("osk_…", KEY)
      .replaceAll("=…", "=sk-test")
      .replace(/(run|conv)_01k…|\bID\b/g, "last");
  return {
    place,
    type: (script) => runShell(fill(script), place, env),
    async start(script, text) {
      // On any free port.
      const here = { ...env, OFFSHOOT_SERVER_PORT: "0" };
      const shell = await startShell(fill(script), place, here);
      try {
        await waitForOutput(shell, text);
      } finally {
        endGroup(shell);
      }
    },
  };
}

/** Rejects when the command ends without it. */
async function waitForOutput(shell: ChildProcess, text: string): Promise<void> {
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const hear = (piece: Buffer): void => {
      said += String(piece);
      if (said.includes(text)) resolve();
    };
    shell.stdout?.on("data", hear);
    shell.stderr?.on("data", hear);
    shell.once("close", () => reject(new Error(`ended without \`${text}\`: ${said}`)));
  });
}

/** The shell and what it has started. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

async function runBlock(world: World, block: DocBlock, prints: string | undefined): Promise<void> {
  const { page, line, language, text } = block;
  const where = `${page}:${line}`;
  if (block.file !== undefined) return await writeBlock(world, block.file, text);
  if (block.until !== undefined) return await world.start(text, block.until);
  if (language === "json") return void JSON.parse(text);
  if (language === "console") return await runConsole(world, block);
  if (language === "yaml") return await checkSettings(world, block);
  if (language === "ts") return await runProgram(world, block);
  assert.equal(language, "sh", where);
  const { code, stdout, stderr } = await world.type(`set -e\n${text}`);
  assert.equal(code, 0, `${where}\n${stdout}${stderr}`);
  if (prints !== undefined) assert.match(stdout, toPattern(prints, world.place), where);
}

async function writeBlock({ place }: World, file: string, text: string): Promise<void> {
  const path = file.startsWith("~/") ? join(place.home, file.slice(2)) : join(place.cwd, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Between what two commands print, in the output of one shell. */
const MARK = "\u001e";

/** Lines after `$ ` are typed; what stands below them is printed. A command that prints nothing here must succeed. */
async function runConsole(world: World, { page, line, text }: DocBlock): Promise<void> {
  const parts = text.split(/^\$ /m).slice(1);
  const steps = parts.map((part) => {
    const [, command = "", printed = ""] =
      /^((?:.*\\\n)*.*\n)([\s\S]*)$/.exec(part) ?? assert.fail(`${page}:${line}`);
    return { command, printed };
  });
  const script = steps.map(
    ({ command }) =>
      `{ ${command.trimEnd()}\n} 2>&1; __code=$?; printf '${MARK}%s${MARK}' $__code; (exit $__code)\n`,
  );
  const { stdout, stderr } = await world.type(script.join(""));
  const said = stdout.split(MARK);
  for (const [at, { command, printed }] of steps.entries()) {
    const where = `${page}:${line}: ${command}${said[at * 2] ?? ""}${stderr}`;
    if (printed === "") assert.equal(said[at * 2 + 1], "0", where);
    else assert.match(said[at * 2] ?? "", toPattern(printed, world.place), where);
  }
}

/** A settings file that the command accepts, in a home of its own. */
async function checkSettings(world: World, { page, line, text }: DocBlock): Promise<void> {
  const file = join(world.place.home, `settings-${line}.yaml`);
  await writeFile(file, text);
  const { code, stderr } = await world.type(
    `OFFSHOOT_CONFIG='${file}' TEAM_KEY=x offshoot config --json`,
  );
  assert.equal(code, 0, `${page}:${line}\n${stderr}`);
}

/** A program that imports the package, inside the clone so that its name is found. It must end well. */
async function runProgram(world: World, { page, line, text }: DocBlock): Promise<void> {
  await mkdir(join(ROOT, "build"), { recursive: true });
  const folder = await mkdtemp(join(ROOT, "build/docs-program-"));
  try {
    const file = join(folder, "program.mjs");
    await writeFile(file, text);
    const { cwd, home } = world.place;
    const env = { PATH: process.env["PATH"], HOME: home };
    await promisify(execFile)(process.execPath, [file], { cwd, env }).catch((thrown: Error) =>
      assert.fail(`${page}:${line}\n${thrown.message}`),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Whole lines of what was printed. `…` is any text; times and the reader's home are those of the test. */
function toPattern(printed: string, { home, cwd }: Place): RegExp {
  const here = printed.replaceAll("/home/ada/project", cwd).replaceAll("/home/ada", home);
  const escaped = here.trimEnd().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = escaped
    .replace(/_01k…/g, "_\\w+")
    .replaceAll("…", "[\\s\\S]*")
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "[\\d-]+ [\\d:]+")
    .replace(/\d+\\\.\d s\b/g, "[\\d.]+ s")
    .replace(/\d\d,\d{3} tokens/g, "[\\d,]+ tokens");
  return new RegExp(`(^|\\n)${pattern}\\s*(\\n|$)`);
}
