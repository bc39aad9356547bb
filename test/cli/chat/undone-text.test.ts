import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toUndoneText } from "../../../src/cli/chat/chat-commands.ts";
import type { UndoneFile } from "../../../src/runtime/undo/undo.ts";

const REPORT = { root: "", runs: [], changed: 1, obstacles: [], unseen: [], undo: null };
const text = (...files: UndoneFile[]): string => toUndoneText({ ...REPORT, files });

describe("what the chat says of an undo", () => {
  it("says what was done to each file", () => {
    assert.equal(text({ path: "a.txt", change: "restored" }), "1 file restored: a.txt.");
    assert.equal(text({ path: "new.txt", change: "removed" }), "1 file removed: new.txt.");
    assert.equal(text({ path: "gone.txt", change: "created" }), "1 file created: gone.txt.");
    assert.equal(
      text(
        { path: "new.txt", change: "removed" },
        { path: "a.txt", change: "restored" },
        { path: "b.txt", change: "restored" },
      ),
      "2 files restored: a.txt, b.txt.\n1 file removed: new.txt.",
    );
  });

  it("names five files of a kind", () => {
    const files = [..."abcdef"].map((path) => ({ path, change: "removed" }) as const);
    assert.equal(text(...files), "6 files removed: a, b, c, d, e, ….");
    assert.equal(text(), "No file had to be restored.");
  });
});
