import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createHangup } from "../../src/cli/hangup.ts";

describe("SIGHUP of a server", () => {
  const cases = [
    { name: "stops it when its terminal is gone", before: true, after: false, means: "gone" },
    { name: "reloads when its terminal is there", before: true, after: true, means: "reload" },
    { name: "reloads without a terminal", before: false, after: false, means: "reload" },
  ];
  for (const { name, before, after, means } of cases) {
    it(name, () => {
      const told: string[] = [];
      let has = before;
      const listener = createHangup(
        { onGone: () => told.push("gone"), onReload: () => told.push("reload") },
        () => has,
      );
      has = after;
      listener();
      assert.deepEqual(told, [means]);
    });
  }
});
