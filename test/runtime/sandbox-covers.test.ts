import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseRule } from "../../src/index.ts";
import { toSandboxCovers } from "../../src/runtime/sandbox-covers.ts";
import { type Grant, WHOLE_GRANT } from "../../src/tools/gate/grant.ts";
import type { EntryKind } from "../../src/tools/sandbox/holder.ts";

const RULES = [
  parseRule("deny", "path(private/**)", "test"),
  parseRule("deny", "path(*.log)", "test"),
  parseRule("deny", "shell(cat open.txt)", "test"),
  parseRule("ask", "path(asked.txt)", "test"),
  parseRule("allow", "path(fixtures/*.pem)", "test"),
];

describe("toSandboxCovers", () => {
  const rows: readonly [path: string, kind: EntryKind, isHidden: boolean, why: string][] = [
    ["src/main.ts", "file", false, "an ordinary file"],
    ["private/a", "file", true, "denied by a rule"],
    ["a/b.log", "file", true, "denied by its name"],
    ["open.txt", "file", false, "named by a rule about a command"],
    ["asked.txt", "file", false, "only asked about"],
    ["a/.env", "file", true, "usually a secret"],
    ["a/server.pem", "file", true, "usually a secret"],
    ["fixtures/server.pem", "file", false, "allowed by a rule"],
    ["a/credentials", "folder", false, "a folder, not the file of that name"],
    ["a/.ssh", "folder", true, "protected"],
    [".offshoot", "folder", true, "protected"],
    ["a/.git", "folder", false, "version control's"],
    ["a/.git/refs/heads/server.pem", "file", false, "a branch"],
    [".git/hook.log", "file", true, "version control's, and denied"],
  ];
  const { isHidden, isReadOnly, hidden, readOnly } = toSandboxCovers(WHOLE_GRANT, RULES);
  for (const [path, kind, expected, why] of rows) {
    it(`${expected ? "hides" : "shows"} what is ${why}: ${path}`, () => {
      assert.equal(isHidden?.(path, kind), expected);
    });
  }

  it("hides what was not granted, except for folders above what was", () => {
    const grant: Grant = [{ reads: ["src/**"] }];
    const covers = toSandboxCovers(grant, []);
    const isShown = (path: string, kind: EntryKind): boolean => !covers.isHidden?.(path, kind);
    assert.ok(isShown("src", "folder") && isShown("src/a.ts", "file"));
    assert.ok(!isShown("other", "folder") && !isShown("a.ts", "file"));
  });

  it("keeps version control as it is, at any depth", () => {
    assert.ok(isReadOnly?.(".git", "folder") && isReadOnly?.("a/.git", "file"));
    assert.ok(!isReadOnly?.("a.git", "folder"));
  });

  it("lets no command create files that programs take orders from", () => {
    assert.deepEqual(
      { hidden, readOnly },
      { hidden: [".offshoot"], readOnly: [".git", ".hg", ".jj"] },
    );
  });
});
