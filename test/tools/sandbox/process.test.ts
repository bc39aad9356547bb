import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { countProcesses, openTestSandbox } from "./test-sandbox.ts";

describe("startProcess", () => {
  for (const level of ["none", "process", "sandbox"] as const) {
    it(`ends what left the group and its environment, while its parents lead to it (${level})`, async () => {
      await using place = await openTestSandbox(level);
      const mark = `61${process.pid}${level.length}`;
      const script = `(setsid env -i sh -c 'sleep ${mark}; true'); true`;
      const { timedOut } = await place.sh(script, { timeoutMs: 300 });
      assert.ok(timedOut);
      assert.equal(countProcesses(mark), 0);
    });
  }
});
