/** What `offshoot undo` says where there is nothing to undo. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { main } from "../../../src/cli/main.ts";
import { createSandbox, put, type Sandbox } from "../../runtime/sandbox.ts";
import { createFakeIo } from "../fake-io.ts";

const MINE = "mine\n";

function open(t: TestContext): Sandbox & { readonly file: string } {
  const sandbox = createSandbox(t);
  const file = join(sandbox.cwd, "notes.txt");
  put(file, "old\n");
  return { ...sandbox, file };
}

async function start(sandbox: Sandbox, ...words: string[]): Promise<string> {
  const io = createFakeIo({ ...sandbox, env: { OFFSHOOT_PROBE_LOCAL: "false" } });
  assert.equal(await main(words, io), 0, io.written.stderr);
  return io.written.stderr;
}

describe("offshoot undo, with nothing to undo", () => {
  it("says that the run changed no file, whatever the user changed", async (t) => {
    const sandbox = open(t);
    await start(sandbox, "run", "-m", "embedded", "hello");
    put(sandbox.file, MINE);
    assert.match(
      await start(sandbox, "undo"),
      /^Nothing to undo: run_\w+ changed no files\. Changes that you made yourself stay\.$/m,
    );
    assert.equal(readFileSync(sandbox.file, "utf8"), MINE);
    assert.match(
      await start(sandbox, "undo"),
      /^Earlier runs of the session: offshoot undo --list$/m,
    );
    assert.doesNotMatch(await start(sandbox, "undo", "last"), /Earlier runs/);
  });

  it("says that it is put back already, whatever the user changed since", async (t) => {
    const sandbox = open(t);
    const words = ["run", "-m", "embedded", "--approve", "auto", "write hello to notes.txt"];
    await start(sandbox, ...words);
    assert.match(await start(sandbox, "undo"), /^Undone: 1 file /m);
    put(sandbox.file, MINE);
    assert.match(
      await start(sandbox, "undo"),
      /^Nothing to undo: what run_\w+ changed \(1 file\) is put back already\. Changes that you made yourself stay\.$/m,
    );
    assert.equal(readFileSync(sandbox.file, "utf8"), MINE);
  });

  it("says that there is no turn after the last one", async (t) => {
    const sandbox = open(t);
    await start(sandbox, "run", "-m", "embedded", "hello");
    assert.match(
      await start(sandbox, "undo", "1"),
      /^Nothing to undo: there is no turn after turn 1\.$/m,
    );
  });
});
