import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TreeRow } from "../../src/runtime/record/views.ts";
import { toNode, toPlace, toSpan, toVisible } from "../../web/views/run/tree-model.ts";

function row(id: string, depth: number, start = 0, end: number | null = 10): TreeRow {
  return [id, null, depth, "turn", null, start, end, 3, 4, null, "ok", null];
}

describe("the tree of a run in the console", () => {
  const nodes = [row("a", 0), row("b", 1), row("c", 2), row("d", 1), row("e", 0)].map(toNode);

  it("hides what is below a folded node, and nothing beside it", () => {
    assert.deepEqual(toVisible(nodes, new Set()), [0, 1, 2, 3, 4]);
    assert.deepEqual(toVisible(nodes, new Set(["b"])), [0, 1, 3, 4]);
    assert.deepEqual(toVisible(nodes, new Set(["a"])), [0, 4]);
  });

  it("shows 50,000 nodes in one pass", () => {
    const many = Array.from({ length: 50_000 }, (_, at) => toNode(row(`n${at}`, at % 7)));
    assert.equal(toVisible(many, new Set(["n0"])).length, 50_000 - 6);
  });

  it("knows the run and the event that a node stands for", () => {
    assert.deepEqual(toPlace("run_1/parser-1.0:17"), { run: "run_1/parser-1.0", seq: 17 });
    assert.deepEqual(toPlace("run_1"), { run: "run_1", seq: undefined });
  });

  it("spans from the first start to the last end, and to now while something is open", () => {
    const ended = [row("a", 0, 100, 400), row("b", 1, 150, 300)].map(toNode);
    assert.deepEqual(toSpan(ended, 999), { from: 100, to: 400 });
    const open = [row("a", 0, 100, null), row("b", 1, 150, 300)].map(toNode);
    assert.deepEqual(toSpan(open, 999), { from: 100, to: 999 });
  });
});
