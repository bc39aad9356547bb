import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createKey,
  findKey,
  hasKeys,
  listKeys,
  readKeyId,
  revokeKey,
  rotateKey,
  updateKey,
} from "../../../src/server/guard/keys.ts";
import { createMemoryShelf } from "../../../src/store/memory/memory-shelf.ts";
import { createManualClock } from "../../../src/testing/index.ts";

const openParts = () => ({ shelf: createMemoryShelf(), clock: createManualClock(5000) });

describe("keys", () => {
  it("have 256 bits of chance, and are kept without them", async () => {
    const parts = openParts();
    const made = await Promise.all([1, 2].map(() => createKey(parts, { name: "mine" })));
    const [first, second] = made.map(({ token }) => token);
    assert.match(first ?? "", /^osk_[0-9a-z]{12}_[0-9a-f]{64}$/);
    assert.notEqual(first, second);
    const secret = first?.split("_")[2] ?? "";
    assert.ok(!JSON.stringify(await listKeys(parts.shelf)).includes(secret));
  });

  it("may do what clients do, and not what the operator does", async () => {
    const { key } = await createKey(openParts(), { name: "mine" });
    assert.deepEqual(key.scopes, ["responses", "files", "models"]);
    assert.equal(key.tenant, "default");
  });

  it("are found by their id, listed, and revoked for good", async () => {
    const parts = openParts();
    assert.equal(await hasKeys(parts.shelf), false);
    const { key, token } = await createKey(parts, { name: "mine", tenant: "a" });
    assert.equal(await hasKeys(parts.shelf), true);
    assert.equal(readKeyId(token), key.id);
    assert.deepEqual(await findKey(parts.shelf, key.id), key);
    const revoked = await revokeKey(parts, key.id);
    assert.equal(revoked.revoked_at_ms, 5000);
    await parts.clock.advance(1000);
    assert.deepEqual(await revokeKey(parts, key.id), revoked);
    assert.deepEqual(await listKeys(parts.shelf), [revoked]);
    await assert.rejects(revokeKey(parts, "nobody"), { code: "not_found" });
  });

  it("are changed in what is named alone", async () => {
    const parts = openParts();
    const wish = { limits: { usd_per_day: 5, concurrent: 2 }, models: ["gpt-*"] };
    const { key } = await createKey(parts, { name: "mine", ...wish });
    const changed = await updateKey(parts, key.id, { limits: { usd_per_day: null } });
    assert.deepEqual(changed, { ...key, limits: { concurrent: 2 } });
    assert.ok(!("usd_per_day" in changed.limits), "a name without a number would be a limit");
    const opened = await updateKey(parts, key.id, { models: null, responseLimits: { usd: 1 } });
    assert.deepEqual([opened.models, opened.limits], [null, { concurrent: 2 }]);
    assert.equal(opened.response_limits.usd, 1);
    await assert.rejects(updateKey(parts, "nobody", {}), { code: "not_found" });
  });

  it("keep their old secret for a while also if the record makes each change twice", async () => {
    const parts = openParts();
    const { key } = await createKey(parts, { name: "mine" });
    const change = parts.shelf.change.bind(parts.shelf);
    parts.shelf.change = async (...asked) => {
      await change(...asked);
      return await change(...asked);
    };
    const rotated = await rotateKey(parts, key.id, { keepOldMs: 1000 });
    assert.equal(rotated.key.replaced?.hash, key.hash);
    assert.notEqual(rotated.key.hash, key.hash);
  });

  it("get no new secret once they are revoked or expired", async () => {
    const parts = openParts();
    const { key } = await createKey(parts, { name: "mine", expiresAtMs: 6000 });
    await parts.clock.advance(1000);
    await assert.rejects(rotateKey(parts, key.id, { keepOldMs: 0 }), { code: "conflict" });
    assert.deepEqual(await findKey(parts.shelf, key.id), key);
    await updateKey(parts, key.id, { expiresAtMs: null });
    assert.equal((await rotateKey(parts, key.id, { keepOldMs: 0 })).key.id, key.id);
    await revokeKey(parts, key.id);
    await assert.rejects(rotateKey(parts, key.id, { keepOldMs: 0 }), { code: "conflict" });
  });

  for (const name of ["", "a b", "a/b", "a\n", "a".repeat(65)]) {
    it(`take no name or tenant like ${JSON.stringify(name.slice(0, 10))}`, async () => {
      await assert.rejects(createKey(openParts(), { name }), { code: "invalid_request" });
      await assert.rejects(createKey(openParts(), { name: "a", tenant: name }), {
        code: "invalid_request",
      });
    });
  }
});
