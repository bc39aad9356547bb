import assert from "node:assert/strict";
import { describe, it } from "node:test";
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
});
