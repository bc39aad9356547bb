import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canRedraw, cleanForTerminal, dim, toLooks } from "../../src/cli/terminal.ts";

const CASES: readonly [name: string, text: string, clean: string][] = [
  ["text is left alone", "a\tb\nc é€😀 [1;2m ]0;", "a\tb\nc é€😀 [1;2m ]0;"],
  ["colours", "\x1b[1;31mred\x1b[0m", "red"],
  ["cursor movement", "a\x1b[2Jb\x1b[10;10Hc\x1b[?25ld", "abcd"],
  ["a CSI with a space", "a\x1b[4 qb", "ab"],
  ["an unfinished CSI", "a\x1b[12", "a"],
  ["a title, ended by BEL", "a\x1b]0;owned\x07b", "ab"],
  ["a title, ended by ST", "a\x1b]2;owned\x1b\\b", "ab"],
  ["a link keeps its text", "\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"],
  ["a clipboard write", "\x1b]52;c;ZXZpbA==\x07a", "a"],
  ["an unfinished title", "a\x1b]0;owned", "a"],
  ["a title cut by another escape", "a\x1b]0;owned\x1b[31mb", "ab"],
  ["DCS", "a\x1bPq#0;2;0\x1b\\b", "ab"],
  ["APC, PM and SOS", "a\x1b_G1\x1b\\b\x1b^p\x1b\\c\x1bXs\x1b\\d", "abcd"],
  ["other escapes", "a\x1bcb\x1b7c\x1b=d", "abcd"],
  ["an escape at the end", "a\x1b", "a"],
  ["escapes that are left when others go", "\x1b\x1b[31m[32mred", "[31m[32mred"],
  ["C0", "a\x00b\x07c\x08d\x0be\x0cf\rg\x1fh\x7f", "abcdefgh"],
  ["C1", "a\x9b31mb\x9dt\x9cc\x90d\x85", "a31mbtcd"],
  ["direction overrides", "a\u202eb\u202dc\u202ad\u202be\u202cf", "abcdef"],
  ["direction isolates", "a\u2066b\u2067c\u2068d\u2069e", "abcde"],
  ["writing from right to left stays", "שלום عالم", "שלום عالم"],
];

describe("cleanForTerminal", () => {
  for (const [name, text, clean] of CASES) {
    it(name, () => assert.equal(cleanForTerminal(text), clean));
  }

  it("leaves no control character in it, whatever is around it", () => {
    for (let code = 0; code < 0xa0; code++) {
      if (code >= 0x20 && code < 0x7f) continue;
      const control = String.fromCharCode(code);
      const kept = control === "\t" || control === "\n" ? control : "";
      assert.equal(cleanForTerminal(`a${control}`), `a${kept}`);
    }
  });
});

describe("what a terminal is shown", () => {
  const rows: readonly (readonly [string, boolean, Record<string, string>, boolean, boolean])[] = [
    ["an ordinary one", true, { TERM: "xterm-256color" }, true, true],
    ["a dumb one", true, { TERM: "dumb" }, false, false],
    ["one without colour", true, { TERM: "xterm", NO_COLOR: "1" }, false, true],
    ["one whose NO_COLOR is empty", true, { TERM: "xterm", NO_COLOR: "" }, true, true],
    ["a pipe", false, { TERM: "xterm" }, false, false],
    ["a pipe that colour is forced on", false, { FORCE_COLOR: "1" }, true, false],
    ["a pipe with FORCE_COLOR=0", false, { FORCE_COLOR: "0" }, false, false],
    ["a dumb one that colour is forced on", true, { TERM: "dumb", FORCE_COLOR: "3" }, true, false],
  ];
  for (const [name, isTerminal, env, isStyled, isRedrawn] of rows) {
    it(`${name}: ${isStyled ? "" : "not "}dimmed, ${isRedrawn ? "" : "not "}drawn over`, () => {
      assert.deepEqual(toLooks(isTerminal, env), { isStyled, isRedrawn });
      const output = { isTerminal, columns: 80, write: () => {}, isStyled, isRedrawn };
      assert.equal(dim(output, "x") === "x", !isStyled);
      assert.equal(canRedraw(output), isRedrawn);
    });
  }
});
