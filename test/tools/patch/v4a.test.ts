import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { patchText, toNewText } from "../../../src/tools/patch/v4a.ts";

const FILE = "class A:\n  def f(self):\n    return 1\n\nclass B:\n  def f(self):\n    return 1\n";

describe("a diff without line numbers", () => {
  const fitting: readonly [name: string, before: string, diff: string, after: string][] = [
    ["changes a line between others", "a\nb\nc\n", " a\n-b\n+B\n c\n", "a\nB\nc\n"],
    ["adds after context", "a\nb\n", "@@\n a\n+x\n", "a\nx\nb\n"],
    ["removes lines", "a\nb\nc\n", "@@\n-b\n", "a\nc\n"],
    [
      "takes the first place without an anchor",
      FILE,
      "-    return 1\n+    return 2\n",
      FILE.replace("1", "2"),
    ],
    [
      "begins from the line it names",
      FILE,
      "@@ class B:\n@@   def f(self):\n-    return 1\n+    return 2\n",
      FILE.replace(/1\n$/, "2\n"),
    ],
    ["changes several places in order", "a\nb\na\nb\n", "@@\n-a\n+1\n@@\n-a\n+2\n", "1\nb\n2\nb\n"],
    ["puts lines after the one it names", "a\nb\n", "@@ a\n+x\n", "a\nx\nb\n"],
    ["puts lines at the end without a place", "a\n", "+b\n", "a\nb\n"],
    ["takes the file's end for a place", "a\nb\na\n", "@@\n-a\n+c\n*** End of File\n", "a\nb\nc\n"],
    [
      "overlooks white space, and keeps the file's own",
      "\ta \nb\n",
      "@@\n a\n-b\n+c\n",
      "\ta \nc\n",
    ],
    ["keeps the line ends of the file", "a\r\nb\r\n", "@@\n a\n-b\n+c\n", "a\r\nc\r\n"],
    ["keeps a file without a last line end", "a\nb", "@@\n-b\n+c\n", "a\nc"],
    ["overlooks line numbers", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc\n"],
    ["takes an empty line for context", "a\n\nb\n", "@@\n a\n\n-b\n+c\n", "a\n\nc\n"],
    ["writes into an empty file", "", "+a\n", "a\n"],
    ["may leave nothing", "a\n", "-a\n", ""],
  ];
  for (const [name, before, diff, after] of fitting) {
    it(name, () => assert.equal(patchText(before, diff), after));
  }

  const misfits: readonly [name: string, diff: string, message: RegExp][] = [
    ["lines that are not there", "@@\n-x\n+y\n", /not in the file:\nx/],
    ["an anchor that is not there", "@@ def g\n-a\n", /no line `def g`/],
    ["a place above the one before", "@@\n-b\n+1\n@@\n-a\n+2\n", /not in the file/],
    ["a line of no kind", "@@\n*** Update File: a\n", /begins with a space, - or \+/],
    ["nothing to change", "@@\n a\n", /changes nothing/],
  ];
  for (const [name, diff, message] of misfits) {
    it(`is refused for ${name}`, () => assert.throws(() => patchText("a\nb\n", diff), message));
  }

  it("makes any text of any other, if all its lines are named", () => {
    const lines = fc.array(fc.stringMatching(/^[a-z ]{1,8}$/), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)];
        const text = `${before.join("\n")}\n`;
        assert.equal(patchText(text, diff.join("\n")), `${after.join("\n")}\n`);
      }),
      { numRuns: 200 },
    );
  });
});

describe("a new file", () => {
  it("is made of added lines", () => {
    assert.equal(toNewText("+a\n+\n+b\n"), "a\n\nb\n");
    assert.equal(toNewText("+a\n+b\n*** End of File"), "a\nb\n");
    assert.equal(toNewText(""), "");
  });

  it("is the given text, if the form was forgotten altogether, and refused if in part", () => {
    assert.equal(toNewText("a\nb"), "a\nb\n");
    assert.throws(() => toNewText("+a\nb\n"), /not `b`/);
  });
});
