/** Files are indexed once, by one owner, whichever processes share the record and whenever one dies. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createIds } from "../../../src/base/ids.ts";
import { createLocalEngine } from "../../../src/engine/local-engine.ts";
import type { Embedder } from "../../../src/providers/embeddings/embedder.ts";
import { createFile } from "../../../src/responses/files/files.ts";
import { parseNewFile } from "../../../src/responses/files/new-file.ts";
import {
  cancelBatch,
  createBatch,
  getBatch,
} from "../../../src/responses/vector-stores/batches.ts";
import { defineIndexing } from "../../../src/responses/vector-stores/index-body.ts";
import { createIndexRuns } from "../../../src/responses/vector-stores/index-runs.ts";
import type { FileIndexParts } from "../../../src/responses/vector-stores/kept-store.ts";
import {
  createStoreFile,
  deleteStoreFile,
  forgetFile,
  getStoreFile,
} from "../../../src/responses/vector-stores/store-files.ts";
import { createStore, deleteStore } from "../../../src/responses/vector-stores/stores.ts";
import { createVectorMemory } from "../../../src/responses/vector-stores/vector-memory.ts";
import { createSqliteChunks } from "../../../src/store/sqlite/sqlite-chunks.ts";
import { openSqliteStores, type SqliteStores } from "../../../src/store/sqlite/sqlite-store.ts";
import { createManualClock, type ManualClock } from "../../../src/testing/manual-clock.ts";
import { newDatabasePath } from "../../store/database-path.ts";
import { streamOf } from "../../store/shelf-contract.ts";

const TENANT = "t";
/** About 100 chunks: four batches. */
const LONG = Array.from({ length: 100 }, (_, at) => `Fact ${at}. `.repeat(60)).join("\n\n");
const SMALL = {
  type: "static",
  static: { max_chunk_size_tokens: 200, chunk_overlap_tokens: 0 },
};

interface Process {
  readonly parts: FileIndexParts;
  readonly engine: ReturnType<typeof createLocalEngine>;
  /** From here on it reads nothing and writes nothing. */
  kill(): void;
}

interface Shared {
  readonly stores: SqliteStores;
  readonly clock: ManualClock;
  /** Texts in the order in which they were embedded, by any process. */
  readonly asked: string[];
  /** Set to hold embeddings back. */
  gate: Promise<void> | undefined;
  open(isAlive?: () => boolean): Process;
  upload(content: string): Promise<string>;
  count(table: string): number;
}

async function share(t: TestContext): Promise<Shared> {
  const stores = await openSqliteStores(newDatabasePath());
  const living = new Set<Process["engine"]>();
  t.after(async () => {
    for (const engine of living) await engine.stop();
    await stores.close();
  });
  const clock = createManualClock(1_790_000_000_000);
  const makeId = createIds(clock);
  const kept = { shelf: stores.shelf, clock, makeId };
  const shared: Shared = {
    stores,
    clock,
    asked: [],
    gate: undefined,
    open(isAlive = () => true) {
      let isDead = false;
      const die = <Parts extends object>(whole: Parts): Parts => mortal(whole, () => isDead);
      const embedder: Embedder = {
        model: "words",
        async embed(texts, signal) {
          shared.asked.push(...texts);
          if (shared.gate !== undefined) await Promise.race([shared.gate, untilAborted(signal)]);
          return texts.map(() => new Float32Array([1, 0]));
        },
      };
      const store = die(stores.store);
      const engine = createLocalEngine({ store, clock, isAlive });
      const chunks = die(createSqliteChunks(stores.chunksDb));
      const vectors = createVectorMemory(chunks);
      const parts = { ...kept, shelf: die(stores.shelf), embedder, chunks, vectors };
      defineIndexing(engine, parts);
      const indexing = createIndexRuns(engine);
      living.add(engine);
      const kill = (): void => {
        isDead = true;
        living.delete(engine);
      };
      return { parts: { ...parts, indexing }, engine, kill };
    },
    async upload(content) {
      const asked = parseNewFile("a.txt", { purpose: "assistants" });
      const bytes = streamOf(Buffer.from(content));
      return (await createFile(kept, TENANT, asked, { bytes, maxBytes: 10_000_000 })).id;
    },
    count: (table) => Number(stores.chunksDb.get(`select count(*) as n from ${table}`)?.["n"]),
  };
  return shared;
}

/** The record as one process sees it; unreachable once the process is dead. */
function mortal<Whole extends object>(whole: Whole, isDead: () => boolean): Whole {
  return new Proxy(whole, {
    get(target, name) {
      if (name === "close") return async () => {};
      const method = Reflect.get(target, name, target) as unknown;
      if (typeof method !== "function") return method;
      return (...values: unknown[]) =>
        isDead() ? new Promise(() => {}) : Reflect.apply(method, target, values);
    },
  });
}

async function until(look: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let turn = 0; turn < 5000; turn++) {
    if (await look()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.fail(`not: ${what}`);
}

const isDone = async ({ parts }: Process, store: string, file: string): Promise<boolean> =>
  (await getStoreFile(parts, TENANT, { store, file })).status !== "in_progress";

describe("indexing in several processes", () => {
  it("embeds each text once and keeps every chunk, however often all of them look", async (t) => {
    const shared = await share(t);
    const processes = [shared.open(), shared.open(), shared.open()] as const;
    const [first] = processes;
    const { id: store } = await createStore(first.parts, TENANT, {});
    const files: string[] = [];
    for (let at = 0; at < 12; at++) files.push(await shared.upload(`${at} ${LONG}`));
    const asked = { file_ids: files, chunking_strategy: SMALL };
    const { id: batch } = await createBatch(first.parts, TENANT, store, asked);
    await until(async () => {
      for (const { engine } of processes) await engine.start();
      const { file_counts } = await getBatch(first.parts, TENANT, { store, batch });
      return file_counts.in_progress === 0;
    }, "all are indexed");
    const { file_counts } = await getBatch(first.parts, TENANT, { store, batch });
    assert.equal(file_counts.completed, 12);
    assert.ok(shared.count("chunks") > 12 * 32, `${shared.count("chunks")} chunks`);
    assert.equal(shared.asked.length, shared.count("chunks"));
    const owners = shared.stores.chunksDb.all("select distinct owner from runs");
    assert.ok(owners.length > 1, "others have helped");
  });

  it("continues after a kill with the interrupted batch, and repeats no other", async (t) => {
    const shared = await share(t);
    const first = shared.open();
    const { id: store } = await createStore(first.parts, TENANT, {});
    const file = await shared.upload(LONG);
    await createStoreFile(first.parts, TENANT, store, {
      file_id: file,
      chunking_strategy: SMALL,
    });
    await until(() => shared.asked.length >= 64, "the second batch is asked for");
    first.kill();
    const before = shared.asked.length;
    const second = shared.open(() => false);
    await second.engine.start();
    await until(() => isDone(second, store, file), "it is indexed");
    const chunks = shared.count("chunks");
    assert.ok(chunks > 64);
    const repeated = shared.asked.length - new Set(shared.asked).size;
    assert.ok(repeated <= 32, `${repeated} texts were embedded twice`);
    assert.equal(new Set(shared.asked.slice(before)).size <= chunks - 32, true);
    const parts = shared.stores.chunksDb.all("select distinct part from chunks");
    assert.equal(parts.length, chunks, "no part is there twice");
  });

  it("leaves no chunk and no run of what is removed while another process works on it", async (t) => {
    const shared = await share(t);
    const first = shared.open();
    const second = shared.open();
    for (const how of ["file of the store", "store", "file", "batch"] as const) {
      let open = (): void => {};
      shared.gate = new Promise((resolve) => {
        open = resolve;
      });
      shared.asked.length = 0;
      const { id: store } = await createStore(first.parts, TENANT, {});
      const file = await shared.upload(LONG);
      const asked = { file_ids: [file], chunking_strategy: SMALL };
      const { id: batch } = await createBatch(first.parts, TENANT, store, asked);
      await until(() => shared.asked.length > 0, "it is on its way");
      const removed = {
        "file of the store": () => deleteStoreFile(second.parts, TENANT, { store, file }),
        store: () => deleteStore(second.parts, TENANT, store),
        file: () => forgetFile(second.parts, TENANT, file),
        batch: () => cancelBatch(second.parts, TENANT, { store, batch }),
      }[how]();
      await until(() => {
        shared.clock.advance(250);
        return Promise.race([Promise.resolve(removed).then(() => true), tick()]);
      }, `the ${how} is removed`);
      open();
      await first.engine.idle();
      assert.equal(shared.count("chunks"), 0, how);
      assert.equal(shared.count("runs"), 0, how);
      assert.equal(shared.count("turns"), 0, how);
    }
  });

  it("reads a file again that is added a second time, in place of the first", async (t) => {
    const shared = await share(t);
    const first = shared.open();
    const { id: store } = await createStore(first.parts, TENANT, {});
    const file = await shared.upload(LONG);
    await createStoreFile(first.parts, TENANT, store, {
      file_id: file,
      chunking_strategy: SMALL,
    });
    await createStoreFile(first.parts, TENANT, store, { file_id: file });
    await until(() => isDone(first, store, file), "it is indexed");
    await first.engine.idle();
    const large = shared.count("chunks");
    assert.equal((await getStoreFile(first.parts, TENANT, { store, file })).status, "completed");
    assert.equal(shared.count("runs"), 1);
    await createStoreFile(first.parts, TENANT, store, {
      file_id: file,
      chunking_strategy: SMALL,
    });
    await until(() => isDone(first, store, file), "it is indexed");
    assert.ok(shared.count("chunks") > large);
  });
});

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

function tick(): Promise<false> {
  return new Promise((resolve) => setImmediate(() => resolve(false)));
}
