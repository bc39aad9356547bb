/** Keys that are changed while a server uses them: what counts, and from when on. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NOTHING } from "../../../src/agent/limits.ts";
import { type KeyChange, rotateKey, updateKey } from "../../../src/server/guard/keys.ts";
import { createGuardBench, type GuardBench } from "./guard-fixture.ts";

/** How long a process remembers a key. */
const REMEMBERED_MS = 2000;

async function change({ shelf, clock }: GuardBench, id: string, what: KeyChange): Promise<void> {
  await updateKey({ shelf, clock }, id, what);
  await clock.advance(REMEMBERED_MS);
}

describe("a key that is changed while it is used", () => {
  it("has its new limits and permissions two seconds later, and keeps the others", async () => {
    const bench = createGuardBench();
    const { key, token } = await bench.makeKey({ limits: { requests_per_day: 2 } });
    await bench.admit({ token });
    await updateKey(bench, key.id, { models: ["gpt-*"] });
    await bench.clock.advance(REMEMBERED_MS - 1);
    const { caller: before } = await bench.admit({ token });
    assert.equal(before.models, undefined);
    await bench.clock.advance(1);
    await assert.rejects(bench.admit({ token }), { code: "rate_limited" });
    await change(bench, key.id, { limits: { requests_per_day: null } });
    const { caller } = await bench.admit({ token });
    assert.deepEqual(caller.models, ["gpt-*"]);
    await change(bench, key.id, { scopes: ["models"] });
    await assert.rejects(bench.admit({ token }), { code: "forbidden" });
  });

  it("bounds what its tenant keeps as soon", async () => {
    const bench = createGuardBench();
    const { key } = await bench.makeKey({ limits: { storage_bytes: 10 } });
    assert.equal(await bench.guard.quotaOf("default"), 10);
    await change(bench, key.id, { limits: { storage_bytes: 20 } });
    assert.equal(await bench.guard.quotaOf("default"), 20);
  });

  it("bounds responses that begin without a request as soon", async () => {
    const bench = createGuardBench();
    const { key, token } = await bench.makeKey({ limits: { concurrent: 1 } });
    (await bench.admit({ token, method: "GET", about: { route: "GET /v1/models" } })).done({
      route: "GET /v1/models",
      status: 200,
      target: undefined,
    });
    assert.ok(await bench.guard.enterPlace(key.id));
    assert.equal(await bench.guard.enterPlace(key.id), undefined);
    await change(bench, key.id, { limits: { concurrent: 2 } });
    assert.ok(await bench.guard.enterPlace(key.id), "without another request of the key");
  });

  it("gives back what a response holds whose limit was taken away meanwhile", async () => {
    const bench = createGuardBench();
    const { charge, openPurse, flush } = bench.guard.budgets;
    const { key, token } = await bench.makeKey({ limits: { tokens_per_day: 100_000 } });
    const purse = await openPurse(key.id, "run_1");
    const wish = { ...NOTHING, tokens: 500 };
    await purse?.draw?.(wish, wish, new AbortController().signal);
    assert.equal((await bench.spending.readHolds(key.id)).length, 1);
    await change(bench, key.id, { limits: { tokens_per_day: null } });
    await bench.admit({ token });
    await charge(key.id, { tokens: 110, usd: 0 }, "run_1");
    assert.deepEqual(await bench.spending.readHolds(key.id), []);
    await flush();
    assert.equal((await bench.spending.read(key.id, bench.clock.now())).total.tokens, 110);
  });
});

describe("a key whose secret is rotated", () => {
  it("is the same key: with its id, its limits and what it has used", async () => {
    const bench = createGuardBench();
    const { key, token } = await bench.makeKey({ limits: { requests_per_day: 2 } });
    await bench.admit({ token });
    const rotated = await rotateKey(bench, key.id, { keepOldMs: 0 });
    assert.notEqual(rotated.token, token);
    const { caller } = await bench.admit({ token: rotated.token });
    assert.equal(caller.keyId, key.id);
    await assert.rejects(bench.admit({ token: rotated.token }), { code: "rate_limited" });
  });

  it("is known by its old secret for the time that was given, and not longer", async () => {
    const bench = createGuardBench();
    const { key, token: old } = await bench.makeKey();
    const { token } = await rotateKey(bench, key.id, { keepOldMs: 3_600_000 });
    await bench.clock.advance(3_599_000);
    for (const shown of [old, token]) {
      assert.equal((await bench.admit({ token: shown })).caller.keyId, key.id);
    }
    await bench.clock.advance(1000);
    const replaced = { code: "unauthorized", message: /was replaced\. Send the new one/ };
    await assert.rejects(bench.admit({ token: old }), replaced);
    await bench.admit({ token });
  });

  it("ends an old secret at once, and those of earlier rotations too", async () => {
    const bench = createGuardBench();
    const { key, token: first } = await bench.makeKey();
    await bench.admit({ token: first });
    const { token: second } = await rotateKey(bench, key.id, { keepOldMs: 3_600_000 });
    const { token: third } = await rotateKey(bench, key.id, { keepOldMs: 0 });
    await bench.clock.advance(REMEMBERED_MS);
    await assert.rejects(bench.admit({ token: first }), { code: "unauthorized" });
    await assert.rejects(bench.admit({ token: second }), { code: "unauthorized" });
    await bench.admit({ token: third });
  });
});
