import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { matchesGlob } from "../../src/base/glob.ts";

const CASES: readonly [glob: string, matches: readonly string[], others: readonly string[]][] = [
  ["*.ts", ["a.ts", ".ts"], ["a.tsx", "a/b.ts", "ats"]],
  ["?.ts", ["a.ts", "é.ts"], ["ab.ts", ".ts", "/.ts"]],
  ["src/*.ts", ["src/a.ts"], ["src/a/b.ts", "a.ts"]],
  ["src/**", ["src/a", "src/a/b.ts"], ["src", "lib/a"]],
  ["**/*.ts", ["a.ts", "a/b.ts", "a/b/c.ts"], ["a.js"]],
  ["a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb"]],
  ["*.{ts,js}", ["a.ts", "a.js"], ["a.tsx", "a.{ts,js}"]],
  ["{src,test}/**/*.test.{ts,js}", ["src/a.test.ts", "test/a/b.test.js"], ["lib/a.test.ts"]],
  ["{a*,b?}", ["a", "axx", "bx"], ["b", "c"]],
  ["a{,b}", ["a", "ab"], ["abb"]],
  ["openai/gpt-*", ["openai/gpt-5"], ["openai/o3", "x/openai/gpt-5"]],
  ["a.b+c(d)[e]^$|", ["a.b+c(d)[e]^$|"], ["axb+c(d)[e]^$|", "a.bbc(d)e^$|"]],
  ["a\\d", ["a\\d"], ["a1"]],
  ["{a", ["{a"], ["a"]],
  ["", [""], ["a"]],
];

describe("glob", () => {
  for (const [glob, matches, others] of CASES) {
    it(`matches all of the text and nothing else: ${JSON.stringify(glob)}`, () => {
      for (const text of matches) assert.ok(matchesGlob(text, glob), text);
      for (const text of others) assert.ok(!matchesGlob(text, glob), text);
    });
  }
});
