import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cleanForTerminal } from "../../src/cli/terminal.ts";

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

  it("leaves no control character behind, whatever stands around it", () => {
    for (let code = 0; code < 0xa0; code++) {
      if (code >= 0x20 && code < 0x7f) continue;
      const control = String.fromCharCode(code);
      const kept = control === "\t" || control === "\n" ? control : "";
      assert.equal(cleanForTerminal(`a${control}`), `a${kept}`);
    }
  });
});
