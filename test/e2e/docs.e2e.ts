/**
 * Runs the blocks of README.md and docs/ that no other test runs (test/doc-blocks.ts says which). The
 * blocks of a page are one session: a folder with a small project, stand-ins for the vendors' servers, a server
 * for the page's requests, a database where a Postgres can be started. `…` in what a page prints stands for any text.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { type DocBlock, listPages, ROOT, readBlocks } from "../doc-blocks.ts";
import { type Lack, TERMINAL_LACK, unless } from "../needs.ts";
import { POSTGRES_LACK, startPostgres } from "../store/postgres/postgres-server.ts";
import type { Place } from "./command.ts";
import { type DocVendors, startDocVendors } from "./docs/doc-vendors.ts";
import { createWorld, KEY, type World } from "./docs/doc-world.ts";
import { type Served, serve } from "./served.ts";
import { type OnTerminal, startOnTerminal } from "./terminal.ts";

/** The files of the pages' readers: a project with notes, a schema and a change. */
const FILES = {
  "README.md": "# Garden\n\nGrows things.\n",
  "package.json": '{ "name": "garden", "private": true }\n',
  "notes.md": "Water the beans.\n",
  "error.png": Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
  ".agents/skills/release/checklist.md": "- [ ] The tests pass.\n",
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

const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());

describe("the blocks of the docs", () => {
  let vendors: DocVendors | undefined;
  let served: Served | undefined;
  before(async () => {
    vendors = await startDocVendors();
    served = await serve({ key: KEY });
  });
  after(async () => {
    await served?.[Symbol.asyncDispose]();
    await vendors?.[Symbol.asyncDispose]();
  });

  for (const page of listPages()) {
    const blocks = readBlocks(page);
    for (const [needs, chosen] of partition(blocks)) {
      const name = `${page} has blocks that do what it says${needs.suffix}`;
      const [full, options] = unless(needs.lack)(name);
      it(full, options, async () => {
        await using world = await createWorld({
          files: FILES,
          text: blocks.map(({ text }) => text).join("\n"),
          vendors: vendors?.origin ?? "",
          served: served?.url ?? "",
          newDatabase: async () => (await server?.newAddress()) ?? assert.fail(),
        });
        await world.type("git init -q . && git add . && echo Prune. >> notes.md");
        await runBlocks(world, chosen);
      });
    }
  }
});

interface Needs {
  readonly suffix: string;
  readonly lack: Lack;
}

/** What a machine may lack splits a page in sessions, so that the rest of it runs everywhere. */
function partition(blocks: readonly DocBlock[]): [Needs, DocBlock[]][] {
  const own = blocks.filter(isOwn);
  const postgres = own.filter(({ text }) => text.includes("db.example"));
  const terminal = own.filter(({ onTerminal }) => onTerminal);
  const rest = own.filter((block) => !postgres.includes(block) && !terminal.includes(block));
  const sessions: [Needs, DocBlock[]][] = [
    [{ suffix: "", lack: undefined }, rest],
    [{ suffix: ", on a terminal", lack: TERMINAL_LACK }, terminal],
    // Each has an empty database.
    ...postgres.map((block): [Needs, DocBlock[]] => [
      { suffix: `, on Postgres (line ${block.line})`, lack: POSTGRES_LACK },
      [block],
    ]),
  ];
  return sessions.filter(([, some]) => some.length > 0);
}

/** True if no other test runs it. */
function isOwn({ testedBy, reason }: DocBlock): boolean {
  return testedBy === undefined && reason === undefined;
}

/** Runs blocks. A block of text after commands is what they print. */
async function runBlocks(world: World, blocks: readonly DocBlock[]): Promise<void> {
  const listed: DocBlock[] = [];
  for (const [at, block] of blocks.entries()) {
    if (block.isList) listed.push(block);
    const isOutput = block.language === "text" && block.until === undefined && !block.onTerminal;
    if (isOutput) continue;
    const next = blocks[at + 1];
    const prints = next?.language === "text" && !next.isList ? next.text : undefined;
    await runBlock(world, block, prints);
  }
  // The page's later blocks write some of them.
  for (const { text, page, line } of listed) checkFiles(world, text, `${page}:${line}`);
}

async function runBlock(world: World, block: DocBlock, prints: string | undefined): Promise<void> {
  const { page, line, language, text } = block;
  const where = `${page}:${line}`;
  if (block.file !== undefined) return await writeBlock(world, block.file, text);
  if (block.onTerminal) return await runOnTerminal(world, block);
  if (language === "json") return void JSON.parse(text);
  if (language === "console") return await runConsole(world, block);
  if (block.until !== undefined) return await runUntil(world, text, block.until);
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

/** A folder and the files in it, one in each line. */
function checkFiles({ place }: World, text: string, where: string): void {
  const [folder = "", ...names] = text.trim().split("\n");
  for (const name of names) {
    assert.ok(existsSync(join(place.cwd, folder.trim(), name.trim())), `${where}: ${name}`);
  }
}

/** Commands that do not end by themselves. */
const LASTING = /^offshoot (serve|worker|ui)\b/m;

/** Each command that lasts is started with the lines above it, and stays; the lines below it come after its text. */
async function runUntil(world: World, text: string, until: string): Promise<void> {
  let before = "";
  for (const line of text.replaceAll("./offshoot ", "offshoot ").trim().split("\n")) {
    before += `${line}\n`;
    if (!LASTING.test(line)) continue;
    // An address of the console is printed by a command that may end then.
    await world.start(before, until);
    before = "";
  }
  if (before === "") return;
  const { code, stdout, stderr } = await world.type(`set -e\n${before}`);
  assert.equal(code, 0, `${before}\n${stdout}${stderr}`);
}

interface Step {
  readonly command: string;
  readonly printed: string;
}

/** Lines after `$ ` are typed; the lines below them are the output. */
function toSteps({ page, line, text }: DocBlock): Step[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [, command = "", printed = ""] =
        /^((?:.*\\\n)*.*\n)([\s\S]*)$/.exec(part) ?? assert.fail(`${page}:${line}`);
      return { command: command.trimEnd(), printed };
    });
}

/** Separates the outputs of two commands in the output of one shell. */
const MARK = "\u001e";

/** A command without output on the page must succeed. */
async function runConsole(world: World, block: DocBlock): Promise<void> {
  const steps = toSteps(block);
  const lasting = steps.findIndex(({ command }) => LASTING.test(command));
  const [first] = steps;
  if (lasting !== 0 || !first || block.until === undefined) {
    return await runSteps(world, block, steps);
  }
  // The model that the page names is the one that is found where no vendor has a key.
  const env = first.printed.includes("embedded/offline")
    ? { OFFSHOOT_MODEL: "embedded/offline" }
    : {};
  const said = await world.start(first.command, block.until, env);
  // Standard output and standard error are two pipes here, so the lines are in any order.
  for (const line of first.printed.trim().split("\n")) {
    const pattern = toPattern(line.replace(/:8484\b/, ":…"), world.place);
    assert.match(said, pattern, `${block.page}:${block.line}`);
  }
  await runSteps(world, block, steps.slice(1));
}

async function runSteps(
  world: World,
  { page, line }: DocBlock,
  steps: readonly Step[],
): Promise<void> {
  const script = steps.map(
    ({ command }) =>
      `{ ${command}\n} 2>&1; __code=$?; printf '${MARK}%s${MARK}' $__code; (exit $__code)\n`,
  );
  const { stdout, stderr } = await world.type(script.join(""));
  const said = stdout.split(MARK);
  for (const [at, { command, printed }] of steps.entries()) {
    const where = `${page}:${line}: ${command}\n${said[at * 2] ?? ""}${stderr}`;
    if (printed === "") assert.equal(said[at * 2 + 1], "0", where);
    else assert.match(said[at * 2] ?? "", toPattern(printed, world.place), where);
  }
}

/** A key of a stand-in, which the terminal must not show. */
const TYPED_KEY = "sk-typed-on-a-terminal";

/**
 * Types the commands on a terminal. What the page prints must be on it in this order; a line that begins with `> ` is
 * an answer, and a line that asks for a key gets one. With `until`, every line of the block is a command.
 */
async function runOnTerminal(world: World, block: DocBlock): Promise<void> {
  const lines = block.text.trim().split("\n");
  const steps =
    block.until === undefined
      ? toSteps(block)
      : lines.map((command) => ({ command: command.replace(/ +#.*$/, ""), printed: "" }));
  for (const { command, printed } of steps) {
    const terminal = await openTerminal(world, command, block.until !== undefined);
    if (block.until !== undefined) await terminal.shows(block.until);
    else await answer(terminal, printed, world.place);
    if (block.until !== undefined || block.isPart) terminal.end();
    await terminal.ended.catch(() => {});
    assert.ok(!terminal.screen.includes(TYPED_KEY), terminal.screen);
  }
}

async function openTerminal(world: World, command: string, hasKeys: boolean): Promise<OnTerminal> {
  const [, ...words] = (await world.fill(command)).match(/"[^"]*"|\S+/g) ?? [];
  const args = words.map((word) => word.replace(/^"(.*)"$/, "$1"));
  const { OPENAI_BASE_URL = "", ...keys } = world.environment();
  // Where a page shows what is typed, no key is there yet.
  const env = hasKeys ? { ...keys, OPENAI_BASE_URL } : { OPENAI_BASE_URL };
  return startOnTerminal(world.place, args, "", { env });
}

async function answer(terminal: OnTerminal, printed: string, place: Place): Promise<void> {
  for (const line of printed.trim().split("\n")) {
    const answered = /^> (.*)$/.exec(line)?.[1];
    const pieces = toPieces(answered === undefined ? line : "> ", place);
    for (const piece of pieces) await terminal.shows(piece);
    if (answered !== undefined) terminal.type(`${answered}\r`);
    if (line.startsWith("Key of ")) terminal.type(`${TYPED_KEY}\r`);
  }
}

/** The words of a line that are the same each time. */
function toPieces(line: string, { home, cwd }: Place): string[] {
  return line
    .replaceAll("/home/ada/project", cwd)
    .replaceAll("/home/ada", home)
    .replace(/\d+\.\d s, \$[\d.]+\./, "…")
    .split("…")
    .map((piece) => piece.trim())
    .filter((piece) => piece !== "");
}

/** Checks that the command accepts a settings file, in a home of its own. */
async function checkSettings(world: World, { page, line, text }: DocBlock): Promise<void> {
  const file = join(world.place.home, `settings-${line}.yaml`);
  await writeFile(file, text);
  const { code, stderr } = await world.type(
    `OFFSHOOT_CONFIG='${file}' TEAM_KEY=x offshoot config --json`,
  );
  assert.equal(code, 0, `${page}:${line}\n${stderr}`);
}

/** What the part of a program that a page shows has above it. */
const ABOVE = `import { createRuntime } from "offshoot";
const runtime = await createRuntime({ storePath: "page.db" });
const model = "embedded/offline";
`;

/** A program that imports the package, inside the clone so that its name is found. It must succeed. */
async function runProgram(world: World, { page, line, text, isPart }: DocBlock): Promise<void> {
  await mkdir(join(ROOT, "build"), { recursive: true });
  const folder = await mkdtemp(join(ROOT, "build/docs-program-"));
  try {
    const file = join(folder, "program.mjs");
    await writeFile(file, isPart ? `${ABOVE}${text}await runtime.close();\n` : text);
    const { cwd, home } = world.place;
    const env = { PATH: process.env["PATH"], HOME: home };
    await promisify(execFile)(process.execPath, [file], { cwd, env }).catch((thrown: Error) =>
      assert.fail(`${page}:${line}\n${thrown.message}`),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Whole lines of the output. `…` is any text; times and the reader's home are those of the test. */
function toPattern(printed: string, { home, cwd }: Place): RegExp {
  const here = printed.replaceAll("/home/ada/project", cwd).replaceAll("/home/ada", home);
  const escaped = here.trimEnd().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = escaped
    .replace(/_01k…/g, "_\\w+")
    .replace(/osk_\w+…/g, "osk_\\w+")
    .replaceAll("…", "[\\s\\S]*")
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "[\\d-]+ [\\d:]+")
    .replace(/\d+\\\.\d s\b/g, "[\\d.]+ s")
    .replace(/\d\d,\d{3} tokens/g, "[\\d,]+ tokens");
  return new RegExp(`(^|\\n)${pattern}\\s*(\\n|$)`);
}
