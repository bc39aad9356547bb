import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { newDatabasePath } from "./database-path.ts";
import { newRun } from "./store-contract.ts";

const STORES = {
  memory: async () => createMemoryStore(),
  SQLite: () => openSqliteStore(newDatabasePath()),
};

describe("messages that wait for a run", () => {
  for (const [name, open] of Object.entries(STORES)) {
    it(`are refused when it reads none of them, and accepted again when it has: ${name}`, async () => {
      const store = await open();
      await store.createRun(newRun("run_1"));
      const epoch = (await store.claim("run_1", "worker")) ?? 0;
      const put = (key: string): Promise<void> =>
        store.putSignal("run_1", { topic: "t", key, body: "x".repeat(2_000_000) });
      for (const key of ["a", "b"]) await put(key);
      await assert.rejects(put("c"), { code: "rate_limited" });
      await store.takeSignals("run_1", epoch, { topic: "t", key: "@take" });
      await put("c");
      await store.close();
    });
  }
});
