import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shellTool } from "../../../src/tools/commands/shell.ts";
import { openWorkspace } from "../../../src/tools/workspace/open-workspace.ts";
import { openTestSandbox, startsWithOutput } from "../sandbox/test-sandbox.ts";
import { toContext } from "../workspace-folder.ts";

describe("shell", () => {
  it("returns the exit code and both streams in one", async () => {
    assert.deepEqual(await call({ command: "echo out; exit 2" }), {
      exit_code: 2,
      stdout: "out\n",
      error: null,
    });
    const { stdout } = await call({ command: "echo out; echo err >&2" });
    assert.deepEqual(String(stdout).split("\n").sort(), ["", "err", "out"]);
  });

  it("runs words without a shell", async () => {
    const { stdout } = await call({ argv: ["echo", "$HOME; ls", "*"] });
    assert.equal(stdout, "$HOME; ls *\n");
  });

  it("reports that the output was truncated, and not that the time ran out", async () => {
    const { stdout, note, error } = await call({
      command: "head -c 600000 /dev/zero | tr '\\0' a",
    });
    assert.equal(String(stdout).length, 512 * 1024);
    assert.deepEqual({ note, error }, { note: "Output was truncated", error: null });
  });

  it("reports that the time ran out, and not that the output was truncated", async () => {
    const { stdout, note, error, exit_code } = await call({
      command: "echo a; sleep 100000",
      timeout: 1,
    });
    assert.deepEqual({ stdout, exit_code }, { stdout: "a\n", exit_code: 137 });
    assert.equal(note, "Stopped after 1 s, with everything it had started");
    assert.equal(error, "Timed out after 1 s.");
  });

  it("accepts exactly one of the two forms", async () => {
    for (const input of [{}, { command: "ls", argv: ["ls"] }, { command: " " }, { argv: [] }]) {
      await assert.rejects(call(input), { code: "invalid_request" }, JSON.stringify(input));
    }
    await assert.rejects(call({ argv: ["echo", "a\0b"] }), { message: /NUL/ });
  });

  it("accepts no argument by which a call could approve itself, and no time beyond its limit", () => {
    for (const input of [
      { command: "ls", confirm: true },
      { command: "ls", timeout: 301 },
    ]) {
      assert.throws(() => shellTool.parse(input), { code: "invalid_request" });
    }
    const { properties } = shellTool.spec.parameters as { properties: object };
    assert.deepEqual(Object.keys(properties), ["command", "argv", "timeout"]);
  });

  it("names its command for the rules", () => {
    const targets = (input: object): unknown => shellTool.targets?.(shellTool.parse({ ...input }));
    assert.deepEqual(targets({ command: "ls" }), { command: { shell: "ls" } });
    assert.deepEqual(targets({ argv: ["ls", "-l"] }), { command: { argv: ["ls", "-l"] } });
  });
});

async function call(input: object): Promise<Record<string, unknown>> {
  await using place = await openTestSandbox("process");
  const context = await toContext(place.root);
  const workspace = await openWorkspace(place.root, {
    mayRead: () => true,
    mayWrite: () => true,
    hardLinks: false,
  });
  const output = shellTool.run(shellTool.parse({ ...input }), {
    ...context,
    workspace,
    sandbox: startsWithOutput(place.sandbox),
  });
  return (await output) as Record<string, unknown>;
}
