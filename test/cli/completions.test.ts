import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { main } from "../../src/cli/main.ts";
import { programLack, unless } from "../needs.ts";
import { createSandbox, put } from "../runtime/sandbox.ts";
import { createFakeIo } from "./fake-io.ts";

async function script(shell: string): Promise<string> {
  const io = createFakeIo();
  assert.equal(await main(["completions", shell], io), 0);
  return io.written.stdout;
}

/** What bash would offer for the last of the words. */
async function complete(cwd: string, ...words: string[]): Promise<string[]> {
  const program = `${await script("bash")}
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_offshoot 2>/dev/null
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const shown = execFileSync("bash", ["-c", program, "test", "offshoot", ...words], {
    cwd,
    encoding: "utf8",
  });
  return shown.split("\n").filter((line) => line !== "");
}

describe(...unless(programLack("bash"))("completions of bash"), () => {
  it("offer commands first", async (t) => {
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

  it("offer files where a file is wanted, also with spaces and behind @", async (t) => {
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
    assert.deepEqual(await complete(cwd, "run", "--model", ""), []);
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

  it("ask for the shell's name", async () => {
    const io = createFakeIo();
    assert.equal(await main(["completions"], io), 2);
    assert.equal(io.written.stderr, "offshoot: Name your shell: bash, zsh, fish.\n");
  });
});
