/** Commands, flags, settings and files that blocks of code name are known, also in blocks that no test can run. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parseArguments } from "../src/cli/arguments.ts";
import { COMMANDS } from "../src/cli/commands.ts";
import { CONFIG_KEYS } from "../src/runtime/config/config-keys.ts";
import { type DocBlock, listPages, ROOT, readBlocks, readPage } from "./doc-blocks.ts";
import { readCommands } from "./doc-commands.ts";
import { listFiles } from "./list-files.ts";

const SHELL = ["sh", "console", "text"];
const blocks = listPages()
  .flatMap(readBlocks)
  .filter(({ language }) => SHELL.includes(language));

/** The variables that the sources name, and those of settings: `OFFSHOOT_SERVER_PORT` is `server.port`. */
const variables = new Set([
  ...Object.keys(CONFIG_KEYS).map((name) => `OFFSHOOT_${name.replaceAll(".", "_").toUpperCase()}`),
  ...listFiles(`${ROOT}src`, ".ts").flatMap(
    (path) => readFileSync(`${ROOT}src/${path}`, "utf8").match(/\bOFFSHOOT_[A-Z_]+\b/g) ?? [],
  ),
]);
const scripts = (JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as Manifest).scripts;

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
}

describe("commands in blocks of code", () => {
  it("are read with their quotes, and without pipes and comments", () => {
    const text = `FOO=1 ./offshoot run -m x "a b" --allow 'shell(git *)' | tee out   # done\nKEY=$(offshoot keys create "my app")\n`;
    assert.deepEqual(readCommands("sh", text), [
      ["run", "-m", "x", "a b", "--allow", "shell(git *)"],
      ["keys", "create", "my app"],
    ]);
    assert.deepEqual(readCommands("console", "$ offshoot runs list\noffshoot: no runs\n"), [
      ["runs", "list"],
    ]);
  });

  it("are found", () => {
    assert.ok(blocks.flatMap(({ language, text }) => readCommands(language, text)).length > 150);
  });

  for (const page of new Set(blocks.map((block) => block.page))) {
    it(`of ${page} have known flags, variables, scripts and files`, () => {
      for (const block of blocks.filter((one) => one.page === page)) checkNames(block);
    });
  }
});

/** The tests that run the commands which README names in its sentences. */
const INLINE: Readonly<Record<string, string>> = {
  "": "test/e2e/setup.e2e.ts",
  chat: "test/e2e/chat-whole.e2e.ts",
  config: "test/e2e/docs.e2e.ts",
  env: "test/e2e/docs.e2e.ts",
  mcp: "test/e2e/docs.e2e.ts",
  run: "test/e2e/run.e2e.ts",
  runs: "test/e2e/docs-at-work.e2e.ts",
  ui: "test/e2e/docs.e2e.ts",
};

describe("commands in the sentences of README.md", () => {
  const sentences = readPage("README.md").replace(/^```[\s\S]*?^```$/gm, "");
  const inline = [...sentences.matchAll(/`(?:~\/offshoot\/|\.\/)?offshoot(?: ([^`]*))?`/g)];
  it("are found", () => assert.ok(inline.length > 5, sentences));

  for (const [command, rest = ""] of inline) {
    it(`${command} has known flags, and a test that runs it`, () => {
      const [words = []] = readCommands("sh", `offshoot ${rest}`);
      const [name = ""] = words;
      const test = INLINE[name] ?? assert.fail(`no test is named for ${name}`);
      assert.ok(existsSync(ROOT + test), test);
      const known = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
      if (known) assert.doesNotThrow(() => parseArguments(name, known, words.slice(1)));
      else assert.equal(name, "");
    });
  }
});

function checkNames(block: DocBlock): void {
  const { page, line, language, text, reason } = block;
  const where = `${page}:${line}`;
  // A text block that no reader types is what something prints.
  const isTyped = language !== "text" || /^\$ /m.test(text) || reason !== undefined;
  if (!isTyped) return;
  for (const words of readCommands(language, text)) checkCommand(words, block, where);
  for (const [, variable = ""] of text.matchAll(/\b(OFFSHOOT_[A-Z_]+)=/g)) {
    assert.ok(variables.has(variable), `${where}: ${variable}`);
  }
  for (const [, name = ""] of text.matchAll(/\bnpm run ([\w:-]+)/g)) {
    assert.ok(scripts[name] !== undefined, `${where}: npm run ${name}`);
  }
  // The page about own tools names a script of its reader.
  if (page !== "docs/tools.md") checkFiles(text, where);
}

function checkCommand(words: readonly string[], block: DocBlock, where: string): void {
  const [name = ""] = words;
  const known = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!known) {
    const isOwnFlag = words.length === 0 || name.startsWith("-") || name === "help";
    return assert.ok(isOwnFlag, `${where}: offshoot ${words.join(" ")}`);
  }
  // A page shows what a mistake prints; the test that runs the block compares it.
  if (block.language === "console" && block.reason === undefined) return;
  const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
  assert.doesNotThrow(() => parseArguments(name, known, own.slice(1)), where);
}

function checkFiles(text: string, where: string): void {
  for (const [path] of text.matchAll(/\b(?:deploy|scripts|examples|bench)\/[\w./-]+\.\w+/g)) {
    const isThere = existsSync(ROOT + path) || existsSync(ROOT + path.replace(/\.js$/, ".ts"));
    assert.ok(isThere, `${where}: ${path}`);
  }
}
