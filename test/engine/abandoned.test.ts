import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findAbandoned } from "../../src/engine/abandoned.ts";
import type { UnfinishedRun } from "../../src/store/run-reader.ts";

const run = (id: string, owner: string | null, parent_id: string | null = null): UnfinishedRun => ({
  id,
  parent_id,
  name: "node",
  owner,
  epoch: 1,
  created_at_ms: 0,
  journal: 1,
});

async function find(runs: readonly UnfinishedRun[], here: readonly string[]): Promise<string[]> {
  const found = await findAbandoned(runs, {
    isHere: (id) => here.includes(id),
    hasBody: () => true,
    knowsJournal: (version) => version === 1,
    isOther: async (owner) => owner === "alive",
    isYoung: () => false,
  });
  return found.map(({ id }) => id);
}

describe("abandoned runs", () => {
  it("are those of dead owners, the topmost of each tree", async () => {
    const tree = [run("a", "dead"), run("a/1", "dead", "a"), run("b", "alive")];
    assert.deepEqual(await find(tree, []), ["a"]);
  });

  it("are not the children of a run that another process runs", async () => {
    const tree = [run("a", "alive"), run("a/1", "dead", "a"), run("a/1/x", "dead", "a/1")];
    assert.deepEqual(await find(tree, []), []);
  });

  it("are not the children of a run that is being taken over here, even if another process may get it", async () => {
    const tree = [run("a", "dead"), run("a/1", "dead", "a"), run("a/1/x", "dead", "a/1")];
    assert.deepEqual(await find(tree, ["a"]), []);
  });

  it("are not those of a newer program, nor any run below them", async () => {
    const tree = [{ ...run("a", "dead"), journal: 2 }, run("a/1", "dead", "a"), run("b", "dead")];
    assert.deepEqual(await find(tree, []), ["b"]);
  });
});
