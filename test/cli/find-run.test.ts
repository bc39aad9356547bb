import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findRun } from "../../src/cli/find-run.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";

/**
 * A response of a server, two trees of the command line, and a run that indexes a file, which no person started.
 */
const IDS = [
  "run_00d",
  "run_00d/helper-1.0",
  "run_01a",
  "run_01a/parser-1.0",
  "run_01b",
  "run_01b/parser-1.0",
  "run_01b/parser-1.1",
];

/** Which code runs a tree, where it is not an agent of the command line. */
const BODIES: Readonly<Record<string, string>> = { run_00d: "response", run_01c: "index" };

/** Titles of some of them; the root of a tree has the beginning of its prompt. */
const TITLES: Readonly<Record<string, string>> = {
  run_01a: "part 01",
  "run_01a/parser-1.0": "old part",
  "run_01b/parser-1.0": "part 01",
  "run_01b/parser-1.1": "twice",
  "run_01b/parser-1.0/deep-2.0": "twice",
};

async function open(): Promise<Store> {
  const store = createMemoryStore();
  for (const [at, id] of [...IDS, "run_01b/parser-1.0/deep-2.0", "run_01c"].entries()) {
    const slash = id.lastIndexOf("/");
    const parent_id = slash < 0 ? null : id.slice(0, slash);
    const name = BODIES[id.slice(0, 7)] ?? "agent";
    const run = {
      id,
      parent_id,
      path: "",
      name,
      input: null,
      title: TITLES[id] ?? "",
      created_at_ms: at,
    };
    await store.createRun(run);
  }
  return store;
}

describe("a run is found", () => {
  const NAMES: Readonly<Record<string, string>> = {
    run_01a: "run_01a",
    last: "run_01b",
    resp_00d: "run_00d",
    resp_0: "run_00d",
    "resp_00d/helper-1.0": "run_00d/helper-1.0",
    run_00d: "run_00d",
    run_01b: "run_01b",
    "run_01a/p": "run_01a/parser-1.0",
    "/root/parser-1.1": "run_01b/parser-1.1",
    "/root/parser-1.0/deep-2.0": "run_01b/parser-1.0/deep-2.0",
    "last/parser-1.0": "run_01b/parser-1.0",
    "last/parser-1.0/deep": "run_01b/parser-1.0/deep-2.0",
    "last/parser-1.1/": "run_01b/parser-1.1",
    "run_01b/parser-1.1": "run_01b/parser-1.1",
    "part 01": "run_01b/parser-1.0",
    "old part": "run_01a/parser-1.0",
    "last/part 01": "run_01b/parser-1.0",
    "parser-1.0/twice": "run_01b/parser-1.0/deep-2.0",
  };
  for (const [name, id] of Object.entries(NAMES)) {
    it(`as \`${name}\``, async () => {
      assert.equal((await findRun(await open(), name)).id, id);
    });
  }
});

describe("a run is not found", () => {
  const NAMES: Readonly<Record<string, RegExp>> = {
    run_x:
      /^There is no run `run_x`\. `offshoot runs list` has the ids, `offshoot runs tree last` the/,
    resp_x: /^There is no response `resp_x`\. `offshoot runs list` has the ids of/,
    // Runs of the command line, and runs that index files, are not responses.
    resp_01a: /^There is no response `resp_01a`/,
    resp_01c: /^There is no response `resp_01c`/,
    "resp_01a/parser-1.0": /^There is no response `resp_01a`/,
    twice:
      /^`twice` is the label of 2 subagents \(run_01b\/\S+, run_01b\/\S+\)\. Write the name of/,
    "last/twice": /^`twice` is the label of 2 subagents/,
    "last/old part": /^Run run_01b has no subagent `old part`/,
    run_01: /^`run_01` is the beginning of 7 runs \(.*, …\)\. Write more of the id\.$/,
    "last/": /^The name of the subagent is missing after `\/`/,
    "last/parser": /^`parser` is the beginning of 3 runs/,
    "last/reader": /^Run run_01b has no subagent `reader`\. `offshoot runs tree run_01b` has/,
    "/root": /^There is no run ``/,
  };
  for (const [name, message] of Object.entries(NAMES)) {
    it(`as \`${name}\``, async () => {
      await assert.rejects(findRun(await open(), name), { code: "not_found", message });
    });
  }

  it("while it waits for its start; the message says so", async () => {
    const store = await open();
    const children = [{ child_id: "run_01b/late-1.2", label: "late part" }];
    await store.claim("run_01b", "worker");
    await store.append("run_01b", 1, 0, [
      { type: "child_queue", why: "place", children, at_ms: 1 },
    ]);
    for (const name of ["late-1.2", "late part"]) {
      const found = findRun(store, `run_01b/${name}`);
      await assert.rejects(found, {
        code: "conflict",
        message: /waits to be started and has no run/,
      });
    }
  });

  it("as `last` in an empty record", async () => {
    const message = /^There is no run yet\. Start one/;
    await assert.rejects(findRun(createMemoryStore(), "last"), { code: "not_found", message });
  });
});
