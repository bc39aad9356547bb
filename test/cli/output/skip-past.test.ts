import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Projection } from "../../../src/cli/output/projection.ts";
import { skipCutTurns } from "../../../src/cli/output/skip-cut-turns.ts";
import { skipPast } from "../../../src/cli/output/skip-past.ts";
import { createFakeIo } from "../fake-io.ts";

/** Like the form of the tree: its methods belong to its class. */
class Shown implements Projection {
  isClosed = false;
  async write(): Promise<void> {}
  hasToldWhy(): boolean {
    return true;
  }
  close(): void {
    this.isClosed = true;
  }
}

const WRAPPERS: Readonly<Record<string, (shown: Projection) => Promise<Projection>>> = {
  "shows from now on": (shown) => {
    const { stdout, stderr } = createFakeIo();
    return skipPast(new Map(), { stdout, stderr }, async () => shown);
  },
  "leaves out what was cut": async (shown) => skipCutTurns(shown, 0),
};

for (const [what, wrap] of Object.entries(WRAPPERS)) {
  describe(`a form that ${what}`, () => {
    it("gives the terminal back with the one that it wraps", async () => {
      const shown = new Shown();
      (await wrap(shown)).close?.();
      assert.ok(shown.isClosed);
    });

    it("knows if the wrapped form has said why there is no answer", async () => {
      assert.equal((await wrap(new Shown())).hasToldWhy?.(), true);
    });
  });
}
