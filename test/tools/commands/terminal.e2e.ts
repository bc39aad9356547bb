import assert from "node:assert/strict";
import { chmodSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { terminalTool } from "../../../src/tools/commands/terminal.ts";
import type { Sandbox } from "../../../src/tools/sandbox/sandbox.ts";
import { levelLack, unless } from "../../needs.ts";
import { openTestSandbox } from "../sandbox/test-sandbox.ts";
import { toContext } from "../workspace-folder.ts";

const FILES = {
  "root/folder/file": "",
  "root/bin/tool": '#!/bin/sh\necho "$1"\n',
  "outside/secret": "planted",
};

describe("terminal", () => {
  it("returns the two streams separately", async () => {
    assert.deepEqual(await call({ command: "echo out; echo err >&2; exit 1" }), {
      stdout: "out\n",
      stderr: "err\n",
      exit_code: 1,
      timed_out: false,
    });
  });

  it("runs in a folder of the workspace", async () => {
    assert.equal((await call({ command: "ls", cwd: "folder" }))["stdout"], "file\n");
  });

  it("does not run in a folder outside, in a file or in a missing folder", async () => {
    for (const cwd of ["..", "/", "folder/../.."]) {
      await assert.rejects(call({ command: "ls", cwd }), { code: "forbidden" }, cwd);
    }
    await assert.rejects(call({ command: "ls", cwd: "missing" }), { code: "not_found" });
    await assert.rejects(call({ command: "ls", cwd: "folder/file" }), { code: "invalid_request" });
  });

  it("starts programs from the folder it runs in", async () => {
    const argv = ["./tool", "x"];
    assert.equal((await call({ argv, cwd: "bin" }))["stdout"], "x\n");
  });

  for (const level of ["none", "process", "sandbox"] as const) {
    const held = unless(levelLack(level));
    it(...held(`follows no link that the folder is swapped for (${level})`), async () => {
      await using place = await openTestSandbox(level, FILES);
      const folder = join(place.root, "folder");
      const swapping: Sandbox = {
        ...place.sandbox,
        start: (command) => {
          renameSync(folder, join(place.root, "away"));
          symlinkSync(join(place.outer, "outside"), folder);
          return place.sandbox.start(command);
        },
      };
      const context = { ...(await toContext(place.root)), sandbox: swapping };
      const input = terminalTool.parse({ command: "cat secret; ls", cwd: "folder" });
      const output = await terminalTool.run(input, context).catch(String);
      assert.ok(!JSON.stringify(output).includes("planted"), JSON.stringify(output));
    });
  }

  it("has a limit for each stream", async () => {
    const zeros = "head -c 1100000 /dev/zero | tr '\\0' a";
    const { stdout, stderr, note } = await call({ command: `${zeros}; ${zeros} >&2` });
    assert.equal(String(stdout).length, 1024 * 1024);
    assert.equal(String(stderr).length, 256 * 1024);
    assert.equal(note, "Output was truncated");
  });

  it("reports that the time ran out", async () => {
    const { timed_out, note } = await call({ argv: ["sleep", "100000"], timeout: 1 });
    assert.equal(timed_out, true);
    assert.equal(note, "Stopped after 1 s, with everything it had started");
  });

  it("names its command and its folder for the rules", () => {
    const input = terminalTool.parse({ command: "ls", cwd: "folder" });
    const expected = { command: { shell: "ls" }, reads: ["folder"] };
    assert.deepEqual(terminalTool.targets?.(input), expected);
  });
});

async function call(input: object): Promise<Record<string, unknown>> {
  await using place = await openTestSandbox("process", FILES);
  chmodSync(join(place.root, "bin/tool"), 0o755);
  const context = { ...(await toContext(place.root)), sandbox: place.sandbox };
  const output = terminalTool.run(terminalTool.parse({ ...input }), context);
  return (await output) as Record<string, unknown>;
}
