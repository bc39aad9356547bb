import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { main } from "../../src/cli/main.ts";
import { PROVIDERS } from "../../src/providers/models/provider-names.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { programLack, unless } from "../needs.ts";
import { createSandbox, put } from "../runtime/sandbox.ts";
import { newRun } from "../store/store-contract.ts";
import { createFakeIo } from "./fake-io.ts";

async function script(shell: string): Promise<string> {
  const io = createFakeIo();
  assert.equal(await main(["completions", shell], io), 0);
  return io.written.stdout;
}

/** What bash would offer for the last word. */
function complete(cwd: string, ...words: string[]): Promise<string[]> {
  return completeAs("offshoot", cwd, ...words);
}

async function completeAs(own: string, cwd: string, ...words: string[]): Promise<string[]> {
  const program = `${await script("bash")}
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_offshoot 2>/dev/null
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const shown = execFileSync("bash", ["-c", program, "test", own, ...words], {
    cwd,
    encoding: "utf8",
  });
  return shown.split("\n").filter((line) => line !== "");
}

describe(...unless(programLack("bash"))("completions of bash"), () => {
  it("completions of the first word are the commands", async (t) => {
    const { cwd } = createSandbox(t);
    assert.deepEqual(await complete(cwd, ""), [
      ...Object.keys(COMMANDS),
      "help",
      "--help",
      "--version",
    ]);
    assert.deepEqual(await complete(cwd, "ru"), ["run", "runs"]);
    assert.deepEqual(await complete(cwd, "help", "do"), ["doctor"]);
  });

  it("offer actions, then flags alone", async (t) => {
    const { cwd } = createSandbox(t);
    assert.deepEqual(await complete(cwd, "config", "s"), ["show", "set"]);
    assert.deepEqual(await complete(cwd, "config", "set", "s"), []);
    assert.deepEqual(await complete(cwd, "completions", ""), [
      "bash",
      "zsh",
      "fish",
      "words",
      "--help",
      "-h",
    ]);
  });

  it("offer a command's own flags", async (t) => {
    const { cwd } = createSandbox(t);
    assert.deepEqual(await complete(cwd, "run", "--max"), [
      "--max-cost",
      "--max-total-tokens",
      "--max-tool-calls",
      "--max-parallel-calls",
      "--max-tokens",
      "--max-turns",
    ]);
    assert.deepEqual(await complete(cwd, "run", "hello", "--th"), ["--think"]);
    assert.deepEqual(await complete(cwd, "doctor", "--"), ["--json", "--help"]);
  });

  it("offer the choices of a flag, long, short and with =", async (t) => {
    const { cwd } = createSandbox(t);
    assert.deepEqual(await complete(cwd, "run", "--output", "j"), ["json", "jsonl"]);
    assert.deepEqual(await complete(cwd, "run", "-o", ""), ["text", "json", "jsonl", "sse"]);
    assert.deepEqual(await complete(cwd, "run", "--output", "="), ["text", "json", "jsonl", "sse"]);
    assert.deepEqual(await complete(cwd, "run", "--output", "=", "s"), ["sse"]);
  });

  it("offer files where a file is expected, also with spaces and after @", async (t) => {
    const { cwd } = createSandbox(t);
    put(join(cwd, "my notes.txt"), "");
    put(join(cwd, "my.json"), "");
    mkdirSync(join(cwd, "other"));
    assert.deepEqual((await complete(cwd, "run", "-f", "my")).sort(), ["my notes.txt", "my.json"]);
    assert.deepEqual((await complete(cwd, "run", "--schema", "o")).sort(), ["other"]);
    assert.deepEqual((await complete(cwd, "run", "@my")).sort(), ["@my notes.txt", "@my.json"]);
  });

  it("offer nothing for a value that cannot be guessed", async (t) => {
    const { cwd } = createSandbox(t);
    assert.deepEqual(await complete(cwd, "run", "--url", ""), []);
  });

  it("ask the command for models, runs and agents", async (t) => {
    const { cwd } = createSandbox(t);
    const own = join(cwd, "offshoot");
    put(own, '#!/bin/sh\nprintf "%s\\n" "$3/one" "$3/two" other\n');
    chmodSync(own, 0o755);
    const offered = (...words: string[]): Promise<string[]> => completeAs(own, cwd, ...words);
    assert.deepEqual(await offered("run", "-m", "m"), ["models/one", "models/two"]);
    assert.deepEqual(await offered("run", "--agent", "a"), ["agents/one", "agents/two"]);
    assert.deepEqual(await offered("runs", "show", "r"), ["runs/one", "runs/two"]);
    assert.deepEqual(await offered("runs", "list", "r"), []);
    assert.deepEqual(await offered("agents", "show", "a"), ["agents/one", "agents/two"]);
    assert.deepEqual(await offered("run", "--provider", "openai"), [
      "openai-chat",
      "openai-responses",
    ]);
  });
});

describe("completions", () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    it(`for ${shell} name every command, action and flag`, async () => {
      const text = await script(shell);
      const known = Object.entries(COMMANDS).flatMap(([name, { options, subcommands = {} }]) => [
        name,
        ...Object.keys(subcommands),
        ...Object.keys(options).map((long) => (shell === "fish" ? `-l ${long} ` : `--${long}`)),
      ]);
      for (const word of known) assert.ok(text.includes(word), word);
    });

    const able = unless(programLack(shell));
    it(...able(`for ${shell} are a script that ${shell} can read`), async (t) => {
      const file = join(createSandbox(t).cwd, `offshoot.${shell}`);
      writeFileSync(file, await script(shell));
      const { status, stderr } = spawnSync(shell, ["-n", file], { encoding: "utf8" });
      assert.equal(status, 0, stderr);
    });
  }

  it("know the models, the runs of the record and the agents, and create nothing", async (t) => {
    const sandbox = createSandbox(t);
    const words = async (kind: string): Promise<string[]> => {
      const io = createFakeIo(sandbox);
      assert.equal(await main(["completions", "words", kind], io), 0, io.written.stderr);
      return io.written.stdout.split("\n").slice(0, -1);
    };
    put(sandbox.userFile, "models: { custom/mine: { vision: false } }");
    const models = await words("models");
    assert.ok(["embedded", "openai/gpt-5.1", "custom/mine"].every((one) => models.includes(one)));
    assert.ok(!models.some((name) => name.includes("*")));
    const file = join(sandbox.home, ".local/share/offshoot/runs.db");
    assert.deepEqual(await words("runs"), []);
    assert.equal(existsSync(file), false);
    const store = await openSqliteStore(file);
    await store.createRun(newRun("run_1", { name: "agent" }));
    await store.close();
    assert.deepEqual(await words("runs"), ["run_1"]);
    const agent = "---\nname: helper\ndescription: Helps.\n---\nHelp.";
    put(join(sandbox.home, ".config/offshoot/agents/helper.md"), agent);
    assert.deepEqual(await words("agents"), ["helper"]);
    assert.equal(await main(["completions", "words", "x"], createFakeIo(sandbox)), 2);
  });

  it("completions offer every provider", () => {
    assert.deepEqual(COMMANDS["run"]?.options["provider"]?.offers, Object.keys(PROVIDERS));
  });

  it("ask for the shell's name", async () => {
    const io = createFakeIo();
    assert.equal(await main(["completions"], io), 2);
    assert.equal(io.written.stderr, "offshoot: Name your shell: bash, zsh, fish.\n");
  });
});
