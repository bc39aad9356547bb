import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkRuleNames } from "../../../src/tools/gate/rule-names.ts";
import { parseRule } from "../../../src/tools/gate/rules.ts";

const KNOWN = ["read", "shell", "write"];
const check = (text: string): void => checkRuleNames([parseRule("deny", text, "`--deny`")], KNOWN);

describe("a rule's name", () => {
  for (const text of [
    "shell",
    "shell(rm *)",
    "w*",
    "*",
    "path(a)",
    "mcp__x__*",
    "mcp__*",
    "docs__read",
  ]) {
    it(`may be ${text}`, () => check(text));
  }

  for (const [text, hint] of [
    ["shel(rm *)", "Did you mean `shell`?"],
    ["paht(secrets)", "Did you mean `path`?"],
    ["nosuchtool", "Tools: read, shell, write."],
    ["x*", "Tools: read, shell, write."],
  ]) {
    it(`is refused if no tool has it: ${text}`, () => {
      assert.throws(
        () => check(text ?? ""),
        (thrown: Error) => {
          assert.match(thrown.message, /^`--deny`: the rule .* names no tool\. /);
          return thrown.message.includes(hint ?? "");
        },
      );
    });
  }
});
