import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { readMachine } from "../../../src/base/processes.ts";
import type { ProcessMark } from "../../../src/protocol/tool-process.ts";
import { endLeftovers } from "../../../src/tools/sandbox/leftovers.ts";
import { spawnWaiting, type WaitingProgram } from "../../../src/tools/sandbox/life-line.ts";
import { MARK } from "../../../src/tools/sandbox/process.ts";
import { whenEnded } from "../../closing.ts";

/** A command in the state in which an earlier owner of the run would have left it. */
async function leave(script: string): Promise<{ waiting: WaitingProgram; process: ProcessMark }> {
  const waiting = spawnWaiting({
    argv: ["/bin/sh", "-c", script],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    variable: MARK,
  });
  await once(waiting.child, "spawn");
  const process = await waiting.hold();
  waiting.go();
  await once(waiting.child.stdout, "data");
  return { waiting, process };
}

async function finish({ child, release }: WaitingProgram): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }
  release();
}

describe("commands that an earlier owner left running", () => {
  it("are ended, with processes that left their group", async () => {
    const { waiting, process } = await leave("setsid sleep 600 & echo up; sleep 600");
    const closed = once(waiting.child, "close");
    assert.deepEqual(await endLeftovers([process]), []);
    // Both hold its standard output open; it closes with the last of them.
    await closed;
    waiting.release();
  });

  it("are none if all have ended", async () => {
    const { waiting, process } = await leave("echo up");
    await whenEnded(waiting.child);
    assert.deepEqual(await endLeftovers([process]), []);
    waiting.release();
  });

  const others: Record<string, (process: ProcessMark) => ProcessMark> = {
    "of another start of the system": (process) => ({ ...process, boot: "another" }),
    "of another PID namespace": (process) => ({ ...process, pid_namespace: "1" }),
    "of the same number, started at another time": (process) => ({
      ...process,
      started: "1",
      mark: "0".repeat(32),
    }),
  };
  for (const [what, change] of Object.entries(others)) {
    it(`do not include a process ${what}`, async () => {
      const { waiting, process } = await leave("echo up; exec sleep 600");
      assert.deepEqual(await endLeftovers([change(process)], readMachine()), []);
      assert.equal(waiting.child.exitCode ?? waiting.child.signalCode, null);
      await finish(waiting);
    });
  }
});
