import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { runCommand } from "../../../src/tools/sandbox/run-command.ts";
import { levelLack, programLack, unless } from "../../needs.ts";
import { patience } from "../../patience.ts";
import { countProcesses, openTestSandbox, RUN_OPTIONS, startsWithOutput } from "./test-sandbox.ts";

describe("startProcess", () => {
  for (const level of ["none", "process", "sandbox"] as const) {
    const able = unless(programLack("setsid") ?? levelLack(level));
    const name = `ends what left the group and its environment, while its parents lead to it (${level})`;
    it(...able(name), async () => {
      await using place = await openTestSandbox(level);
      const mark = `61${process.pid}${level.length}`;
      const script = `(setsid env -i sh -c 'echo up; sleep ${mark}; true'); true`;
      const { timedOut } = await runCommand(
        startsWithOutput(place.sandbox),
        { argv: ["/bin/sh", "-c", script], cwd: place.root },
        { ...RUN_OPTIONS, signal: patience(), timeoutMs: 300 },
      );
      assert.ok(timedOut);
      assert.equal(countProcesses(mark), 0);
    });
  }

  it("keeps output that is not read before the end", async () => {
    await using place = await openTestSandbox("none");
    const argv = ["/bin/sh", "-c", "echo out; echo err >&2"] as const;
    const running = await place.sandbox.start({ argv, cwd: place.root });
    await running.exited;
    // Node.js takes a turn after the exit to drop output without a listener.
    await nextTurn();
    assert.deepEqual(await Promise.all([running.stdout, running.stderr].map(read)), [
      "out\n",
      "err\n",
    ]);
    await running.kill();
  });
});

async function read(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
