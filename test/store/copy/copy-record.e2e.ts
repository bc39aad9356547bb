/** A SQLite record copied to a real Postgres: complete, after any interruption, and refused until it is whole. */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { COPIED_TABLES } from "../../../src/store/copy/copied-tables.ts";
import { openCopySource } from "../../../src/store/copy/copy-source.ts";
import { isSameTable } from "../../../src/store/copy/store-copy.ts";
import type { KeptRecord } from "../../../src/store/kept.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import { openConnection } from "../../../src/store/sqlite/sqlite-driver.ts";
import { POSTGRES_LACK, type PostgresServer, startPostgres } from "../postgres/postgres-server.ts";
import { nameOf, newThing } from "../shelf-contract.ts";
import { newRun, notices } from "../store-contract.ts";
import { LARGE, LONG, ODD, PLACE, readAll } from "./full-record.ts";
import { type Copied, type CopyWish, inProcess, makeRecord } from "./record-process.ts";

const server = POSTGRES_LACK === undefined ? await startPostgres() : undefined;
after(() => server?.[Symbol.asyncDispose]());
/** The record of all tests that do not change it. */
const path = POSTGRES_LACK === undefined ? await makeRecord() : "";
const postgres = (): PostgresServer => server ?? assert.fail();

async function use(address: string): Promise<KeptRecord & AsyncDisposable> {
  const kept = await openKept(address);
  return Object.assign(kept, { [Symbol.asyncDispose]: () => kept.close() });
}

async function copy(from: string, address: string, more: Partial<CopyWish> = {}): Promise<Copied> {
  return (await inProcess("copy", { path: from, address, ...more })) as Copied;
}

async function copyInPart(
  from: string,
  address: string,
  killAt: CopyWish["killAt"] = 5,
): Promise<void> {
  assert.equal(await copy(from, address, { killAt }), "killed");
}

const held = POSTGRES_LACK === undefined ? "" : ` (skipped: ${POSTGRES_LACK})`;

describe(`a record copied to Postgres${held}`, { skip: POSTGRES_LACK !== undefined }, () => {
  it("has everything, under the same numbers, and continues from there", async () => {
    const address = await postgres().newAddress();
    const seal = newThing("key", { tenant: "", kind: "seal", body: "secret" });
    const { isSame, tables, begun } = await copy(path, address, { things: [seal] });
    assert.deepEqual([isSame, begun], [true, "new"]);
    for (const { name, source } of tables) assert.ok(source.rows > 0, `${name} has rows`);
    await using kept = await use(address);
    assert.deepEqual(await readAll(kept), await inProcess("read", path));
    assert.deepEqual((await kept.maintenance.check()).problems, []);
    assert.equal((await (await kept.shelf()).get(seal))?.body, "secret");
    await checkRuns(kept);
    await checkShelf(kept);
  });

  it("continues after a kill after any batch, and copies none twice", async () => {
    const address = await postgres().newAddress();
    const { batches } = await copy(path, await postgres().newAddress());
    assert.ok(batches > COPIED_TABLES.length, `${batches} batches`);
    for (let batch = 0; batch < batches; batch++) await copyInPart(path, address, 1);
    const last = await copy(path, address);
    assert.deepEqual([last.isSame, last.begun, last.batches], [true, "resumed", 0]);
  });

  it("cannot be used, updated or copied to from elsewhere before it is whole", async () => {
    const address = await postgres().newAddress();
    await copyInPart(path, address);
    await using half = await use(address);
    const refusal = {
      code: "invalid_request",
      message:
        /^The store `[^`]+` is a copy that is not finished\. Run `offshoot store copy` again: it continues where it stopped\.$/,
    };
    for (const open of [half.runs, half.shelf, half.spending, half.maintenance.migrate]) {
      await assert.rejects(open(), refusal);
    }
    await assert.rejects(copy(await makeRecord(), address), {
      code: "conflict",
      message: /has an unfinished copy of `[^`]+\.db`\. Finish that one, or drop its schema/,
    });
    assert.equal((await copy(path, address)).isSame, true);
    await half.runs();
  });

  it("starts again if the record has changed since", async () => {
    const changed = await makeRecord();
    const address = await postgres().newAddress();
    await copyInPart(changed, address, 12);
    await inProcess("change", changed);
    const { begun, isSame } = await copy(changed, address);
    assert.deepEqual([begun, isSame], ["restarted", true]);
    await using kept = await use(address);
    assert.equal((await (await kept.shelf()).get(nameOf("small")))?.body, "changed");
  });

  it("is not accepted if a row differs, is missing or is too many", async () => {
    const address = await postgres().newAddress();
    await copyInPart(path, address, "comparing");
    const changes = {
      things: "update offshoot.things set body = '1' where id = 'small'",
      events: "update offshoot.events set epoch = 9 where run_id = 'run_2'",
      contents: "delete from offshoot.contents where part = 1",
      holds: "insert into offshoot.holds values ('x', 'y', 0, 0, 0)",
      spending: "update offshoot.spending set usd = usd + 1e-16",
    };
    for (const sql of Object.values(changes)) await postgres().query(address, sql);
    const { isSame, tables } = await copy(path, address);
    const different = tables.filter((table) => !isSameTable(table)).map(({ name }) => name);
    assert.deepEqual([isSame, different.sort()], [false, Object.keys(changes).sort()]);
    await using kept = await use(address);
    await assert.rejects(kept.runs(), { code: "invalid_request" });
    const again = await copy(path, address);
    assert.deepEqual([again.begun, again.isSame], ["restarted", true]);
  });
});

describe(`the source of a copy${held}`, { skip: POSTGRES_LACK !== undefined }, () => {
  it("is refused while another process has it open", async () => {
    const used = await makeRecord();
    await using kept = await use(used);
    await kept.runs();
    await assert.rejects(copy(used, await postgres().newAddress()), {
      code: "store_busy",
      message: `The store \`${used}\` is in use. Stop the servers and let the runs of this record end, then copy it.`,
    });
  });

  it("cannot be opened while it is copied", async () => {
    const source = await openCopySource(await makeRecord());
    const other = await openConnection(source.path);
    assert.throws(() => other.prepare("select * from runs").all(), /locked/);
    other.close();
    source.close();
  });
});

describe(`the target of a copy${held}`, { skip: POSTGRES_LACK !== undefined }, () => {
  it("may have empty tables, and nothing in them", async () => {
    const address = await postgres().newAddress();
    await using kept = await use(address);
    await kept.maintenance.migrate();
    const shelf = await kept.shelf();
    await shelf.put(newThing("mine"));
    const filled = { code: "conflict", message: /^The store `[^`]+` has data already, in `off/ };
    await assert.rejects(copy(path, address), filled);
    assert.ok(await shelf.get(nameOf("mine")), "it is left as it was");
    await shelf.delete(nameOf("mine"));
    await postgres().query(address, "truncate offshoot.storage");
    assert.equal((await copy(path, address)).isSame, true);
    const finished = { code: "conflict", message: /is a finished copy of `[^`]+`\. Nothing was/ };
    await assert.rejects(copy(path, address), finished);
  });

  it("of another version is not changed, and the error says what to do", async () => {
    const address = await postgres().newAddress();
    await using kept = await use(address);
    const { to } = await kept.maintenance.migrate();
    const rows: [number, RegExp][] = [
      [to + 1, /written by a newer Offshoot .*: update Offshoot\./],
      [to - 1, /tables of an older Offshoot .* Run `offshoot store migrate`\./],
    ];
    for (const [version, message] of rows) {
      await postgres().query(address, `update offshoot.version set version = ${version}`);
      await assert.rejects(copy(path, address), { code: "invalid_request", message });
    }
  });

  it("gets a value for each of its columns", async () => {
    const address = await postgres().newAddress();
    await using kept = await use(address);
    await kept.maintenance.migrate();
    const found = await postgres().query(
      address,
      `select table_name, column_name from information_schema.columns
        join information_schema.tables using (table_schema, table_name)
        where table_schema = 'offshoot' and table_type = 'BASE TABLE'
          and table_name not in ('version', 'workers', 'bookings') and column_name <> 'words'
          and not exists (select 1 from pg_class where relname = table_name
            and relnamespace = 'offshoot'::regnamespace and relpersistence = 'u')`,
    );
    const copied = COPIED_TABLES.flatMap(({ name, columns }) =>
      columns.map((column) => `${name}.${column.name}`),
    );
    const all = found.map((row) => `${row["table_name"]}.${row["column_name"]}`);
    assert.deepEqual(copied.sort(), all.sort());
  });

  it("is a database of Postgres; a record that is in one already is not copied", async () => {
    await using kept = await use(await postgres().newAddress());
    const options = { things: [], onBegin: () => {}, onProgress: () => {} };
    await assert.rejects(kept.maintenance.copyTo(await postgres().newAddress(), options), {
      code: "invalid_request",
      message: /is in Postgres already/,
    });
  });
});

async function checkRuns(kept: KeptRecord): Promise<void> {
  const store = await kept.runs();
  assert.deepEqual((await store.getRun("run_1"))?.input, LARGE);
  assert.deepEqual((await store.readSteps("run_1")).get("model:1"), LONG);
  assert.equal((await store.getRun(ODD))?.title, '"quoted');
  assert.equal(await store.getWorker("worker_1"), undefined, "no process runs a copied run");
  await assert.rejects(store.append("run_2", 2, 5, notices(1)), { code: "fenced" });
  assert.equal(await store.claim("run_2", "worker_2", 3), 4);
  await store.append("run_2", 4, 5, notices(1));
  assert.equal(await store.takeSignal("run_2", 4, "input"), "waiting");
  await store.createRun(newRun("run_new", { created_at_ms: 1000 }));
  const [newest] = await store.listRuns({ limit: 1 });
  assert.equal(newest?.id, "run_new", "its number comes after all others");
  await store.deleteRun("run_1");
}

async function checkShelf(kept: KeptRecord): Promise<void> {
  const shelf = await kept.shelf();
  const file = (await shelf.get(nameOf("file"))) ?? assert.fail();
  await shelf.put(newThing("next"));
  const next = (await shelf.get(nameOf("next"))) ?? assert.fail();
  assert.equal(next.position, file.position + 3, "numbers of what is gone are not used again");
  for (const id of ["small", "large", "file", "next"]) await shelf.delete(nameOf(id));
  const chunks = await kept.chunks();
  const terms = [{ kind: "word", text: "arger", prefix: false } as const];
  const search = { ...PLACE, terms, weights: [1], files: undefined, limit: 5 };
  assert.equal((await chunks.findByWords(search)).length, 1);
  await chunks.deleteStore(PLACE);
  assert.ok(Math.abs(await shelf.countBytes("tenant")) < 10, "all that was counted is given back");
}
