import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createHiddenLine, LEFT } from "../../src/cli/terminal-device.ts";

describe("a line that is typed without echo", () => {
  const rows: readonly [
    what: string,
    keys: readonly string[],
    line: string | typeof LEFT | undefined,
  ][] = [
    ["ends with Enter", ["s", "k", "-1", "\r"], "sk-1"],
    ["is not complete before Enter", ["sk-1"], undefined],
    ["is what was pasted, without the marks around it", ["\x1b[200~sk-9\x1b[201~", "\r"], "sk-9"],
    ["loses a character with backspace", ["sk-12", "\x7f", "\b", "3\n"], "sk-3"],
    ["begins again with Ctrl-U", ["wrong", "\x15", "right\r"], "right"],
    ["has no arrows and controls", ["a\x1b[D", "\x1bOA", "\tb\r"], "ab"],
    ["is left with Ctrl-C", ["sk", "\x03"], LEFT],
    ["is left with Ctrl-D where it is empty", ["\x04"], LEFT],
    ["is not left with Ctrl-D else", ["a\x04b\r"], "ab"],
  ];
  for (const [what, keys, line] of rows) {
    it(what, () => {
      const hidden = createHiddenLine();
      let last: ReturnType<typeof hidden.take>;
      for (const piece of keys) last = hidden.take(piece);
      assert.equal(last, line);
    });
  }
});
