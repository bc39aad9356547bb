/** Vectors on a Postgres with pgvector: the contract of chunks, and a database that gets pgvector later. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, describe, it } from "node:test";
import {
  type ChunkStore,
  type Nearest,
  toLikeness,
  type VectorSearch,
} from "../../../src/store/chunk-store.ts";
import type { KeptRecord } from "../../../src/store/kept.ts";
import { openKept } from "../../../src/store/open-kept.ts";
import {
  openDatabase,
  type PostgresDatabase,
} from "../../../src/store/postgres/postgres-database.ts";
import { findNearest, toIndexSql } from "../../../src/store/postgres/postgres-nearest.ts";
import {
  dropVectorTable,
  findVectorTable,
  makeVectorTable,
} from "../../../src/store/postgres/vector-table.ts";
import { describeChunks } from "../chunks-contract.ts";
import { PLACE } from "../copy/full-record.ts";
import { inProcess, makeRecord } from "../copy/record-process.ts";
import { PGVECTOR_LACK, startPgvector } from "./pgvector-server.ts";
import type { PostgresServer } from "./postgres-server.ts";

const server = PGVECTOR_LACK === undefined ? await startPgvector() : undefined;
const opened: { close(): Promise<void> }[] = [];
after(async () => {
  for (const one of opened) await one.close();
  await server?.[Symbol.asyncDispose]();
});

async function open(address?: string): Promise<KeptRecord> {
  const kept = await openKept(address ?? (await server?.newAddress()));
  opened.push(kept);
  return kept;
}

async function connect(address: string): Promise<PostgresDatabase> {
  const db = await openDatabase(address);
  opened.push(db);
  return db;
}

const STORE = { tenant: "t", store: "vs_1" };
const LENGTH = 16;

/** The same each time, and spread over all directions. */
function toVector(seed: number): Float32Array {
  const vector = Float32Array.from({ length: LENGTH }, (_, at) => Math.sin(seed * 7.1 + at * 1.3));
  const size = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / size);
}

async function put(chunks: ChunkStore, file: string, seeds: readonly number[]): Promise<void> {
  const all = seeds.map((seed) => ({
    text: String(seed),
    embedding: { model: "m", vector: toVector(seed) },
  }));
  await chunks.put({ ...STORE, file }, 0, all);
}

function toSearch(seed: number, more: Partial<VectorSearch> = {}): VectorSearch {
  const all = { files: undefined, except: [], count: 5, names: [] };
  return { ...STORE, model: "m", vector: toVector(seed), ...all, ...more };
}

async function textsOf(chunks: ChunkStore, found: Nearest | undefined): Promise<string[]> {
  const { best } = found ?? assert.fail("the database found none");
  const all = await Promise.all(best.map(({ id }) => chunks.getChunk(STORE, id)));
  return all.map((chunk) => chunk?.text ?? "");
}

/** The nearest, by comparing all of them here; of equals the one that was written first. */
function compare(seeds: readonly number[], asked: number, count = 5): string[] {
  const vector = toVector(asked);
  const likeness = (seed: number): number => toLikeness(toVector(seed), 0, vector);
  const sorted = seeds.toSorted((one, other) => likeness(other) - likeness(one));
  return sorted.slice(0, count).map(String);
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, at) => from + at);

if (server === undefined) {
  it(`Postgres with pgvector (skipped: ${PGVECTOR_LACK})`, { skip: true }, () => {});
} else {
  describeChunks("Postgres chunks with pgvector", async () => (await open()).chunks(), {
    findsNearest: true,
  });
  describeIndex(server);
  describeUpgrade(server);
}

function describeIndex(postgres: PostgresServer): void {
  describe("an index of vectors", () => {
    it("finds what comparing all of them finds, and compares all if it found too few", async () => {
      const address = await postgres.newAddress();
      const chunks = await (await open(address)).chunks();
      await put(chunks, "f", range(0, 400));
      await chunks.put({ tenant: "t", store: "vs_small", file: "f" }, 0, [
        { text: "far", embedding: { model: "m", vector: toVector(1000) } },
      ]);
      const db = await connect(address);
      await makeVectorTable(db);
      const table = (await findVectorTable(db)) ?? assert.fail();
      assert.ok(table.lengths.has(LENGTH), "the length of the chunks has an index");
      for (const seed of [0.5, 77.2, 300.9]) {
        const found = await findNearest(db, table, toSearch(seed), 10);
        assert.deepEqual(await textsOf(chunks, found), compare(range(0, 400), seed));
      }
      const small = await findNearest(db, table, toSearch(3, { store: "vs_small" }), 0);
      assert.equal(small?.best.length, 1);
    });

    it("is used by the statement of a search", async () => {
      const address = await postgres.newAddress();
      const kept = await open(address);
      await put(await kept.chunks(), "f", [1, 2, 3]);
      await kept.maintenance.migrate();
      const db = await connect(address);
      const table = (await findVectorTable(db)) ?? assert.fail();
      const text = `[${toVector(1).join(",")}]`;
      const plan = await db.transact(async (tx) => {
        await tx.run("set local enable_seqscan = off; set local enable_sort = off");
        const sql = `explain ${toIndexSql(table, LENGTH)}`;
        return await tx.all(sql, "t", "vs_1", "m", null, [], text, 5);
      });
      assert.match(JSON.stringify(plan), new RegExp(`vectors_near_${LENGTH}`));
    });
  });
}

function describeUpgrade(postgres: PostgresServer): void {
  /** A record as it was before pgvector was on the server. */
  async function openWithout(): Promise<{
    address: string;
    kept: KeptRecord;
    db: PostgresDatabase;
  }> {
    const address = await postgres.newAddress();
    const kept = await open(address);
    await kept.chunks();
    const db = await connect(address);
    await db.transact((tx) => dropVectorTable(tx));
    return { address, kept, db };
  }

  describe("a database that gets pgvector later", () => {
    it("has all its vectors in the database after `store migrate`, and `store check` says so", async () => {
      const { address, kept } = await openWithout();
      await postgres.query(address, "drop extension vector");
      await put(await kept.chunks(), "f", range(0, 1200));
      const before = (await kept.maintenance.check()).vectors;
      assert.equal(before?.search, "memory");
      assert.match(before?.detail ?? "", /create extension vector/);
      const { vectors } = await kept.maintenance.migrate();
      assert.equal(vectors?.search, "pgvector");
      assert.match(vectors?.detail ?? "", /^pgvector [\d.]+, 1200 vectors$/);
      const chunks = await (await open(address)).chunks();
      const found = await chunks.findNearest(toSearch(70.5));
      assert.deepEqual(await textsOf(chunks, found), compare(range(0, 1200), 70.5));
      assert.deepEqual((await kept.maintenance.migrate()).vectors, vectors, "it is done once");
    });

    it("is not searched before every vector is there, and an interrupted `migrate` continues", async () => {
      const { address, kept, db } = await openWithout();
      await put(await kept.chunks(), "f", range(0, 1200));
      let writes = 0;
      const failing: PostgresDatabase = {
        name: db.name,
        address,
        get: (...asked) => db.get(...asked),
        all: (...asked) => db.all(...asked),
        transact: (work) => db.transact(work),
        write: (work) => (++writes === 2 ? Promise.reject(new Error("cut")) : db.write(work)),
        full: undefined,
        close: () => db.close(),
      };
      await assert.rejects(makeVectorTable(failing), /cut/);
      const [{ n } = { n: 0 }] = await postgres.query(
        address,
        "select count(*) as n from offshoot_vectors.vectors",
      );
      assert.equal(Number(n), 500, "the first batch is there");
      assert.equal(
        await (await (await open(address)).chunks()).findNearest(toSearch(1)),
        undefined,
      );
      assert.match((await kept.maintenance.check()).vectors?.detail ?? "", /store migrate/);
      await kept.maintenance.migrate();
      const chunks = await (await open(address)).chunks();
      const found = await chunks.findNearest(toSearch(1100.5));
      assert.deepEqual(await textsOf(chunks, found), compare(range(0, 1200), 1100.5));
    });

    it("finds chunks of a process that was started before", async () => {
      const { address, kept } = await openWithout();
      const old = await kept.chunks();
      await put(old, "before", [1]);
      await kept.maintenance.migrate();
      await put(old, "after", range(10, 20));
      const count = "select count(*) as n from offshoot_vectors.vectors where vector is null";
      assert.equal(Number((await postgres.query(address, count))[0]?.["n"]), 10);
      const chunks = await (await open(address)).chunks();
      const all = [1, ...range(10, 20)];
      const found = await chunks.findNearest(toSearch(12.2));
      assert.deepEqual(await textsOf(chunks, found), compare(all, 12.2));
      assert.equal(Number((await postgres.query(address, count))[0]?.["n"]), 0, "they are written");
      assert.deepEqual(
        await textsOf(chunks, await chunks.findNearest(toSearch(12.2))),
        compare(all, 12.2),
      );
    });

    it("works without the table, as after a restored backup, and creates it again", async () => {
      const address = await postgres.newAddress();
      const kept = await open(address);
      await kept.chunks();
      await postgres.query(address, "drop schema offshoot_vectors cascade");
      const chunks = await (await open(address)).chunks();
      await put(chunks, "f", [1, 2]);
      assert.equal(await chunks.findNearest(toSearch(1)), undefined);
      await kept.maintenance.migrate();
      const again = await (await open(address)).chunks();
      assert.equal((await again.findNearest(toSearch(1)))?.best.length, 2);
    });

    it("searches in memory after the extension was dropped, and by the database after `store migrate`", async () => {
      const address = await postgres.newAddress();
      const kept = await open(address);
      await put(await kept.chunks(), "f", [1, 2]);
      await postgres.query(address, "drop extension vector cascade");
      const chunks = await (await open(address)).chunks();
      await put(chunks, "g", [3]);
      assert.equal(await chunks.findNearest(toSearch(1)), undefined);
      assert.equal((await kept.maintenance.migrate()).vectors?.search, "pgvector");
      const again = await (await open(address)).chunks();
      assert.equal((await again.findNearest(toSearch(1)))?.best.length, 3);
    });

    it("says what to do if its user may not create the extension", async () => {
      const { address, kept } = await openWithout();
      await postgres.query(address, "drop extension vector");
      const user = `limited_${randomUUID().replaceAll("-", "")}`;
      await postgres.query(
        address,
        `create role ${user} login; grant usage on schema offshoot to ${user};
          grant all on all tables in schema offshoot to ${user}`,
      );
      const limited = new URL(address);
      limited.username = user;
      const theirs = await open(limited.href);
      const { vectors } = await theirs.maintenance.migrate();
      assert.equal(vectors?.search, "memory");
      assert.match(vectors?.detail ?? "", /run `create extension vector` as a superuser/);
      await put(await theirs.chunks(), "f", [1]);
      assert.equal((await kept.maintenance.migrate()).vectors?.search, "pgvector");
      await theirs.close();
      await postgres.query(address, `drop owned by ${user}; drop role ${user}`);
    });

    it("has the vectors of a record that was copied into it", async () => {
      const address = await postgres.newAddress();
      const kept = await open(address);
      await kept.maintenance.migrate();
      const copied = await inProcess("copy", { path: await makeRecord(), address });
      assert.ok(typeof copied === "object" && copied !== null);
      const { vectors } = await kept.maintenance.check();
      assert.equal(vectors?.search, "pgvector");
      const [{ n } = { n: 0 }] = await postgres.query(
        address,
        `select count(*) as n from offshoot.chunks c join offshoot_vectors.vectors v
          on v.chunk_id = c.id where v.vector is not null and c.store = '${PLACE.store}'`,
      );
      assert.ok(Number(n) > 0, "the record has vectors");
    });
  });
}
