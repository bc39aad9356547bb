import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { toToolNames } from "../../../src/tools/mcp/server-tools.ts";

describe("the names of remote tools", () => {
  it("are the server's and the tool's if they fit", () => {
    const names = toToolNames("files", ["read_file", "a.b"]);
    assert.deepEqual([...names.values()], ["mcp__files__read_file", "mcp__files__a_b"]);
  });

  it("keep the one that was clean, and distinguish those that were not", () => {
    const names = toToolNames("s", ["a_b", "a.b", "a/b"]);
    assert.equal(names.get("a_b"), "mcp__s__a_b");
    assert.match(names.get("a.b") ?? "", /^mcp__s__a_b_[0-9a-f]{8}$/);
    assert.notEqual(names.get("a.b"), names.get("a/b"));
    assert.deepEqual([...toToolNames("s", ["a/b", "a.b", "a_b"])].sort(), [...names].sort());
  });

  it("are shortened to what every vendor accepts", () => {
    const long = "x".repeat(100);
    const name = toToolNames("s".repeat(64), [long]).get(long) ?? "";
    assert.equal(name.length, 64);
    assert.notEqual(name, toToolNames("s".repeat(63), [long]).get(long));
  });

  it("are valid and different, whatever the server calls its tools", () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 90, unit: "grapheme" }));
    fc.assert(
      fc.property(names, (remote) => {
        const made = [...toToolNames("server", remote).values()];
        assert.equal(new Set(made).size, remote.length);
        assert.ok(made.every((name) => /^mcp__server__[\w-]*$/.test(name) && name.length <= 64));
      }),
    );
  });
});
