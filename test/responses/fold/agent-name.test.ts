import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  isBelow,
  isChild,
  isTaskName,
  toAgentName,
} from "../../../src/responses/fold/agent-name.ts";

describe("the names of a team's agents", () => {
  const meant: readonly (readonly [string, string, string])[] = [
    ["research", "/root", "/root/research"],
    ["research", "/root/a", "/root/a/research"],
    ["/root/b", "/root/a", "/root/b"],
    ["root", "/root/a", "/root"],
    [" research/ ", "/root", "/root/research"],
    ["a/b", "/root", "/root/a/b"],
  ];
  for (const [text, me, name] of meant) {
    it(`\`${text}\`, written by ${me}, means ${name}`, () =>
      assert.equal(toAgentName(text, me), name));
  }

  it("are below those that they begin with, and not below names that only look alike", () => {
    assert.ok(isBelow("/root/a/b", "/root/a") && isBelow("/root/a/b", "/root"));
    assert.ok(!isBelow("/root/ab", "/root/a") && !isBelow("/root/a", "/root/a"));
  });

  it("are children of the one directly above", () => {
    assert.ok(isChild("/root/a", "/root") && isChild("/root/a/b", "/root/a"));
    assert.ok(!isChild("/root/a/b", "/root") && !isChild("/root", "/root"));
  });

  it("end in a short word without a path", () => {
    for (const text of ["research", "a-1_B", "x".repeat(48)]) assert.ok(isTaskName(text), text);
    for (const text of ["", "a b", "a/b", "é", "x".repeat(49), "..", "a\n"]) {
      assert.ok(!isTaskName(text), text);
    }
  });
});
