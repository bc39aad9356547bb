/** What every `Audit` must do. Each implementation calls this from its own test file. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Audit, AuditEntry, AuditQuery } from "../../src/store/audit.ts";

export function entry(at_ms: number, more: Partial<AuditEntry> = {}): AuditEntry {
  const rest = { tenant: "t", key_id: "key_1", action: "responses.create", target: null };
  return { at_ms, ...rest, status: 200, address: "127.0.0.1", ...more };
}

export function describeAudit(name: string, open: () => Promise<Audit>): void {
  describe(name, () => {
    it("lists entries newest first, a page at a time", async () => {
      const audit = await open();
      const odd = {
        tenant: "nul\0",
        key_id: null,
        action: '"q"',
        target: "half \ud800",
        address: null,
      };
      const entries = [entry(1), entry(2, odd), entry(3, { status: 404 }), entry(3)];
      for (const each of entries) audit.write(each);
      const [last, ...older] = await audit.list({ limit: 3 });
      assert.ok(last && older.length === 2);
      const rest = await audit.list({ limit: 3, before: older[1]?.id });
      assert.deepEqual(
        [last, ...older, ...rest].map(({ id: _, ...kept }) => kept),
        entries.toReversed(),
      );
      assert.deepEqual(await audit.list({ limit: 3, before: rest[0]?.id }), []);
      await audit.close();
    });

    it("lists the entries that match every condition, a page at a time", async () => {
      const audit = await open();
      audit.write(entry(10, { key_id: "a", action: "POST /v1/files", status: 429 }));
      audit.write(entry(20, { key_id: "a", action: "POST /v1/responses", status: 400 }));
      audit.write(entry(30, { key_id: "b", action: "DELETE /v1/files/:id", tenant: "u" }));
      audit.write(entry(40, { key_id: null, action: "POST /v1/responses", status: 401 }));
      const times = async (query: Omit<AuditQuery, "limit">, limit = 9): Promise<number[]> =>
        (await audit.list({ ...query, limit })).map(({ at_ms }) => at_ms);
      assert.deepEqual(await times({ keyId: "a" }), [20, 10]);
      assert.deepEqual(await times({ keyId: "a" }, 1), [20]);
      assert.deepEqual(await times({ keyId: "a", before: 2 }), [10]);
      assert.deepEqual(await times({ tenant: "u" }), [30]);
      assert.deepEqual(await times({ time: [20, 40] }), [30, 20]);
      assert.deepEqual(await times({ action: "/v1/files" }), [30, 10]);
      assert.deepEqual(await times({ action: "POST /v1/f" }), [10]);
      assert.deepEqual(await times({ status: [400, 500] }), [40, 20, 10]);
      assert.deepEqual(await times({ status: [429, 430] }), [10]);
      assert.deepEqual(await times({ keyId: "a", action: "%" }), []);
      await audit.close();
    });

    it("the audit removes entries older than a given time", async () => {
      const audit = await open();
      for (const at of [1, 2, 3]) audit.write(entry(at));
      await audit.prune(3);
      assert.deepEqual(
        (await audit.list({ limit: 9 })).map(({ at_ms }) => at_ms),
        [3],
      );
      await audit.close();
    });
  });
}
