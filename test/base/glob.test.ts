import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { matchesGlob, toGlobPattern } from "../../src/base/glob.ts";

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
  ["****/a", ["a", "b/a", "b/ca"], ["b"]],
  ["*a**/b", ["aab", "ab", "a/b", "ba/c/b"], ["b", "a/ab/c"]],
  ["**/.env", ["n\nl/.env", ".env"], ["n\nl.env"]],
  ["*", ["n\nl", ""], ["n/l"]],
  ["", [""], ["a"]],
];

/** A glob as a regular expression: correct, but it may never end in bad cases. */
function toExpression(glob: string): RegExp {
  const toSource = (part: string): string =>
    part.replace(/\*\*\/|\*\*|\*|\?|\{([^{}]*)\}|[{}]/g, (token, list?: string) => {
      if (list !== undefined) return `(?:${list.split(",").map(toSource).join("|")})`;
      return SOURCES[token] ?? `\\${token}`;
    });
  return new RegExp(`^${toSource(glob)}$`, "s");
}
const SOURCES: Readonly<Record<string, string>> = {
  "**/": "(?:.*/)?",
  "**": ".*",
  "*": "[^/]*",
  "?": "[^/]",
};

describe("glob", () => {
  for (const [glob, matches, others] of CASES) {
    it(`matches all of the text and nothing else: ${JSON.stringify(glob)}`, () => {
      for (const text of matches) assert.ok(matchesGlob(text, glob), text);
      for (const text of others) assert.ok(!matchesGlob(text, glob), text);
    });
  }

  it("means the same as a regular expression does", () => {
    const globs = fc
      .array(fc.constantFrom("a", "b", "/", "*", "**", "**/", "?", "{", "}", ",", "{a*,,?b}"), {
        maxLength: 8,
      })
      .map((parts) => parts.join(""));
    const texts = fc.string({ unit: fc.constantFrom("a", "b", "/", "\n", "{"), maxLength: 8 });
    fc.assert(
      fc.property(globs, fc.array(texts, { minLength: 20, maxLength: 20 }), (glob, some) => {
        const expression = toExpression(glob);
        for (const text of some) assert.equal(matchesGlob(text, glob), expression.test(text), text);
      }),
      { numRuns: 300 },
    );
  });

  it("takes no longer for a glob that can match in many ways", () => {
    const text = "a".repeat(4000);
    for (const glob of ["**a**a**a**b", "*a".repeat(200), "**/*/**".repeat(100), "{*,**}b"]) {
      assert.equal(matchesGlob(text, `${glob}b`), false);
    }
  });

  it("becomes one pattern together with other globs", () => {
    const pattern = toGlobPattern(["*.ts", "**/b"]);
    assert.deepEqual(
      ["a.ts", "x/b", "b", "x/a.ts"].map((text) => pattern.test(text)),
      [true, true, true, false],
    );
    assert.equal(toGlobPattern([]).test(""), false);
  });
});
