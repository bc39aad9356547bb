/**
 * `offshoot store copy` of a large record that is killed twice on its way. `OFFSHOOT_TEST_COPY_MB=1000` makes the record
 * that large; the few megabytes of every day take the same way through batches, pieces and the comparison.
 */

import assert from "node:assert/strict";
import { rmSync, statSync } from "node:fs";
import { after, describe, it } from "node:test";
import { openConnection } from "../../../src/store/sqlite/sqlite-driver.ts";
import { newDatabasePath } from "../database-path.ts";
import { POSTGRES_LACK, type PostgresServer, startPostgres } from "../postgres/postgres-server.ts";
import { type Copied, type CopyWish, inProcess } from "./record-process.ts";

const BYTES = Number(process.env["OFFSHOOT_TEST_COPY_MB"] ?? 24) * 1_000_000;
/** What the source reads at once. */
const BATCH_BYTES = 2_000_000;
/** Whatever the size of the record: rows go in batches, large values in pieces. */
const MOST_MEMORY = 400_000_000;

const server = POSTGRES_LACK === undefined ? await startPostgres({ durable: true }) : undefined;
after(() => server?.[Symbol.asyncDispose]());
const postgres = (): PostgresServer => server ?? assert.fail();

const held = POSTGRES_LACK === undefined ? "" : ` (skipped: ${POSTGRES_LACK})`;

describe(`a record of ${BYTES / 1_000_000} MB${held}`, {
  skip: POSTGRES_LACK !== undefined,
}, () => {
  it("is copied whole though the copy is killed twice, and nothing of it twice", async (t) => {
    const path = newDatabasePath();
    t.after(() => rmSync(path, { force: true }));
    await inProcess("fillLarge", { path, bytes: BYTES });
    const { size } = statSync(path);
    assert.ok(size > BYTES * 0.8, `${size} bytes`);
    const address = await postgres().newAddress();
    const third = Math.floor(size / BATCH_BYTES / 3);
    const startedMs = performance.now();
    const copy = (more: Partial<CopyWish> = {}) => inProcess("copy", { path, address, ...more });
    assert.equal(await copy({ killAt: third }), "killed");
    assert.equal(await copy({ killAt: third }), "killed");
    const done = (await copy()) as Copied;
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    assert.deepEqual([done.isSame, done.begun], [true, "resumed"]);
    assert.ok(done.batches > 0, "there was something left to copy");
    for (const table of done.tables) {
      assert.deepEqual(table.copy, table.source, table.name);
      t.diagnostic(`${table.name}: ${table.source.rows} rows, sha256 ${table.source.sha256}`);
    }
    assert.deepEqual(await countCopied(address), await countSource(path));
    assert.ok(done.memoryBytes < MOST_MEMORY, `${done.memoryBytes} bytes of memory`);
    const memory = Math.round(done.memoryBytes / 1_000_000);
    t.diagnostic(`${size} bytes in ${seconds} s with both kills, ${memory} MB of memory at most`);
  });
});

/** Asked of the databases themselves, beside what the copy says of them. */
const COUNTS = ["runs", "events", "things", "contents", "chunks"];
const SQL = COUNTS.map((name) => `(select count(*) from ${name}) as ${name}`).join(", ");

async function countSource(path: string): Promise<object> {
  const connection = await openConnection(path);
  try {
    return { ...connection.prepare(`select ${SQL}`).get() };
  } finally {
    connection.close();
  }
}

async function countCopied(address: string): Promise<object> {
  const [row = {}] = await postgres().query(
    address,
    `select ${SQL.replaceAll("from ", "from offshoot.")}`,
  );
  return Object.fromEntries(Object.entries(row).map(([name, count]) => [name, Number(count)]));
}
