/** A batch whose answer was lost, and whose second try failed for another reason: each write is then tried alone. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import { createAppender } from "../../src/store/postgres/postgres-append.ts";
import type { PostgresDatabase, Queries } from "../../src/store/postgres/postgres-database.ts";
import { createRecorder } from "../../src/store/postgres/postgres-record.ts";
import { newRun } from "./store-contract.ts";

const LOST = new Failure("store_busy", "The connection was lost after the commit.");
const REFUSED = new Failure("store_full", "There is no room.");

/** Tries again as the database does. */
async function again<Out>(work: (isRetry: boolean) => Promise<Out>): Promise<Out> {
  for (let isRetry = false; ; isRetry = true) {
    try {
      return await work(isRetry);
    } catch (thrown) {
      if (thrown !== LOST) throw thrown;
    }
  }
}

describe("a write of a batch that was committed, although its answer was lost", () => {
  it("is found in the log when it is tried alone", async () => {
    const answers = [LOST, REFUSED];
    const queries = {
      async all() {
        const answer = answers.shift();
        if (answer) throw answer;
        // The events are there already.
        return [];
      },
      get: async () => ({ epoch: 1, status: "running", next_seq: 5 }),
    } as unknown as Queries;
    const db = { write: (work) => again((isRetry) => work(queries, isRetry)) } as PostgresDatabase;
    const append = createAppender(db);
    const log = { bytes: 2, inline: "[]", parts: null };
    await append({ belief: { id: "run_1", epoch: 1, firstSeq: 3, count: 2 }, log });
    assert.deepEqual(answers, []);
    const others = append({ belief: { id: "run_1", epoch: 1, firstSeq: 9, count: 2 }, log });
    await assert.rejects(others, { code: "internal" });
  });

  it("is recorded once, and its caller is told so", async () => {
    const answers = [LOST, REFUSED];
    const queries = {
      async all() {
        throw answers.shift() ?? assert.fail("asked again");
      },
    } as unknown as Queries;
    const db = {
      transact: (work) => again((isRetry) => work(queries, isRetry)),
    } as PostgresDatabase;
    // The run is there: it is the caller's own only if an earlier try may have written it.
    const record = createRecorder(db, async (_run, _end, mayBeWritten) => mayBeWritten);
    const end = { ending: "completed", result: null, events: [], at_ms: 1 } as const;
    assert.equal(await record({ ...newRun("run_1"), parent_id: null }, end), true);
  });
});
