/** Postgres as a record: every contract that SQLite and memory keep, on a real server. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { openKept } from "../../../src/store/open-kept.ts";
import type { Kept } from "../../../src/store/kept.ts";
import { POSTGRES_LACK, startPostgres } from "../../postgres/server.ts";
import { describeAudit } from "../audit-contract.ts";
import { describeBatches } from "../batches-contract.ts";
import { describeChunks } from "../chunks-contract.ts";
import { describeShelf } from "../shelf-contract.ts";
import { describeSharedSpending, describeSpending } from "../spending-contract.ts";
import { describeStorage } from "../storage-contract.ts";
import { describeStore } from "../store-contract.ts";
import { describeStoreModel } from "../store-model.ts";
import { describeTurns } from "../turns-contract.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
const opened: Kept[] = [];
after(async () => {
  for (const kept of opened) await kept.close();
  await server?.[Symbol.asyncDispose]();
});

async function open(address?: string): Promise<Kept> {
  const kept = await openKept(address ?? (await server?.newAddress()));
  opened.push(kept);
  return kept;
}

if (server === undefined) {
  it(`Postgres (skipped: ${POSTGRES_LACK})`, { skip: true }, () => {});
} else {
  describeStore("Postgres store", async () => (await open()).runs());
  describeStoreModel("Postgres store", async () => (await open()).runs());
  describeTurns("Postgres store", async () => (await open()).runs());
  describeShelf("Postgres shelf", async () => (await open()).shelf());
  describeStorage("Postgres shelf", async () => (await open()).shelf());
  describeBatches("Postgres shelf", async () => {
    const address = await server.newAddress();
    return [await (await open(address)).shelf(), await (await open(address)).shelf()];
  });
  describeChunks("Postgres chunks", async () => (await open()).chunks());
  describeSpending("Postgres spending", async () => (await open()).spending());
  describeSharedSpending("Postgres spending", async () => {
    const address = await server.newAddress();
    return [await (await open(address)).spending(), await (await open(address)).spending()];
  });
  describeAudit("Postgres audit", async () => (await open()).audit());

  describe("Postgres: opening", () => {
    it("makes the tables once, however many open an empty database", async () => {
      const address = await server.newAddress();
      const all = await Promise.all(Array.from({ length: 5 }, () => open(address)));
      await Promise.all(all.map((kept) => kept.runs()));
      const [row] = await server.query(address, "select count(*) as n from offshoot.version");
      assert.equal(Number(row?.["n"]), 1);
    });
  });
}
