/** The usage of a response is booked once, whatever happens while it ends. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import { toRunId } from "../../../src/responses/fold/response-object.ts";
import { createMemorySpending } from "../../../src/store/memory/memory-spending.ts";
import type { Spending } from "../../../src/store/spending.ts";
import { openDatabase } from "../../../src/store/sqlite/sqlite-database.ts";
import { reply, respond, script } from "../../../src/testing/index.ts";
import { until } from "../../patience.ts";
import { createGuardBench, type GuardBench, openFileBench, startGuarded } from "./guard-fixture.ts";

const USAGE = { input: 100, output: 10 };
/** With a budget, which is reserved; with a limit that is not; with none, which is only counted. */
const KEYS: Readonly<Record<string, Record<string, number>>> = {
  "a budget": { tokens_per_day: 3000 },
  "a limit of a minute": { tokens_per_minute: 3000 },
  "no limit": {},
};

function newStorePath(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-booked-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, "runs.db");
}

async function readBooked({ guard, spending, clock }: GuardBench, keyId: string): Promise<number> {
  await guard.budgets.flush();
  return (await spending.read(keyId, clock.now())).total.tokens;
}

/** Lets no run of the file end until it is called. */
async function refuseEndings(t: TestContext, storePath: string): Promise<() => void> {
  const db = await openDatabase(storePath);
  t.after(() => db.close());
  db.run(`create trigger no_ending before update of status on runs when new.status = 'ended'
    begin select raise(abort, 'It may not end.'); end`);
  return () => void db.run("drop trigger no_ending");
}

describe("a stored response", () => {
  for (const [name, limits] of Object.entries(KEYS)) {
    it(`is booked once where its process died before it ended: ${name}`, async (t) => {
      const storePath = newStorePath(t);
      const bench = await openFileBench(t, storePath);
      const { token, key } = await bench.makeKey({ limits });
      const engine = respond(() => reply.text("Done.", { usage: USAGE }));
      const first = await startGuarded(t, bench, engine, { storePath });
      const allow = await refuseEndings(t, storePath);
      const made = await first.send({ token, body: { input: "Hi", background: true } });
      const { id } = JSON.parse(made.text) as { id: string };
      await first.responses.durable.idle();
      await first.runtime.close();
      allow();
      const second = await startGuarded(t, bench, script(), { storePath });
      await second.responses.start();
      await second.responses.durable.result(toRunId(id));
      await second.responses.durable.idle();
      assert.equal(await readBooked(bench, key.id), 110);
      assert.deepEqual(await bench.spending.readHolds(key.id), []);
    });

    it(`is booked once where its items cannot be kept: ${name}`, async (t) => {
      const bench = createGuardBench();
      const { token, key } = await bench.makeKey({ limits });
      const engine = respond(() => reply.text("Done.", { usage: USAGE }));
      const server = await startGuarded(t, bench, engine);
      const path = "/v1/conversations";
      const { id } = JSON.parse((await server.send({ token, path, body: {} })).text) as {
        id: string;
      };
      const refuse = () => Promise.reject(new Failure("store_failed", "It cannot be kept."));
      for (const { shelf } of server.replicas) Object.assign(shelf, { putUnder: refuse });
      const body = { input: "Hi", conversation: id };
      const { status, usage } = JSON.parse((await server.send({ token, body })).text);
      assert.deepEqual([status, usage.total_tokens], ["failed", 110]);
      assert.equal(await readBooked(bench, key.id), 110);
      assert.deepEqual(await bench.spending.readHolds(key.id), []);
    });
  }

  it("is booked once where its end did not fit, and it ends as failed once there is room", async (t) => {
    const storePath = newStorePath(t);
    const bench = await openFileBench(t, storePath);
    const { token, key } = await bench.makeKey({ limits: KEYS["a budget"] });
    const engine = respond(() => reply.text("Done.", { usage: USAGE }));
    const server = await startGuarded(t, bench, engine, { storePath });
    const allow = await refuseEndings(t, storePath);
    const { status } = await server.send({ token, body: { input: "Hi" } });
    assert.ok(status >= 500, String(status));
    assert.equal(await readBooked(bench, key.id), 0);
    allow();
    await until(async () => {
      await server.responses.start();
      const [run] = await server.runtime.engine.record.listRuns({ limit: 1 });
      return run?.status === "ended" ? true : undefined;
    }, "it has ended");
    assert.equal(server.upstream.requests.length, 1, "it is not asked again");
    assert.equal(await readBooked(bench, key.id), 110);
    assert.deepEqual(await bench.spending.readHolds(key.id), []);
  });
});

describe("a response that is not stored", () => {
  it("is booked once if its client never learns that it was", async (t) => {
    const spending = createMemorySpending();
    const silent: Spending = {
      ...spending,
      async settle(...values) {
        await spending.settle(...values);
        throw new Failure("store_busy", "The store does not answer.");
      },
    };
    const bench = createGuardBench({}, { spending: silent });
    const { token, key } = await bench.makeKey({ limits: KEYS["a budget"] });
    const engine = respond(() => reply.text("Done.", { usage: USAGE }));
    const server = await startGuarded(t, bench, engine);
    await server.send({ token, body: { input: "Hi", store: false } });
    assert.equal(await readBooked(bench, key.id), 110);
  });
});
