/**
 * A search among 110,000 vectors of 256 floats after the first one, compared with multiplying the same vectors in
 * memory and sorting the results: in a file of SQLite, in Postgres, and in Postgres with pgvector if it is installed.
 * Also the time of the first search, and the memory of the process that searches keep.
 *
 *     npm run bench:vectors [-- --check] [-- --stores=sqlite,postgres,pgvector]
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { systemClock } from "../src/base/clock.ts";
import { makeId } from "../src/base/ids.ts";
import type { Json } from "../src/base/json.ts";
import type { Embedder } from "../src/providers/embeddings/embedder.ts";
import {
  encodeStore,
  encodeStoreFile,
  type KeptStoreFile,
  nameStore,
  nameStoreFile,
  type VectorParts,
} from "../src/responses/vector-stores/kept-store.ts";
import { type SearchPage, searchStore } from "../src/responses/vector-stores/search.ts";
import { createVectorMemory } from "../src/responses/vector-stores/vector-memory.ts";
import type { KeptRecord } from "../src/store/kept.ts";
import { openKept } from "../src/store/open-kept.ts";
import { openDatabase } from "../src/store/postgres/postgres-database.ts";
import { dropVectorTable } from "../src/store/postgres/vector-table.ts";
import type { ThingName } from "../src/store/shelf.ts";
import { PGVECTOR_LACK, startPgvector } from "../test/store/postgres/pgvector-server.ts";
import {
  POSTGRES_LACK,
  type PostgresServer,
  startPostgres,
} from "../test/store/postgres/postgres-server.ts";
import { type Contender, runBench } from "./measure.ts";

const VECTORS = 110_000;
const LENGTH = 256;
const FILES = 11;
const ROUNDS = 7;
/** Compared with the plain product; measured: 1.2. */
const LIMIT = 2;
/** What a search may take after the first one. */
const GOAL_MS = 200;
const GOAL: Contender = { name: "the goal", measure: () => GOAL_MS };
/** The subjects of vectors, and how much of each is its own. */
const SUBJECTS = 1000;
const OWN_PART = 0.7;
const TENANT = "t";
const STORE = "vs_bench";
const signal = new AbortController().signal;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

interface Place {
  readonly kept: KeptRecord;
  /** Brings the vectors into the form that the database searches. */
  finish(): Promise<KeptRecord>;
  close(): Promise<void>;
}

const PLACES: Readonly<Record<string, { lack: string | undefined; open(): Promise<Place> }>> = {
  sqlite: { lack: undefined, open: openSqlite },
  postgres: { lack: POSTGRES_LACK, open: async () => openServer(await startPostgres(DURABLE)) },
  pgvector: { lack: PGVECTOR_LACK, open: async () => openServer(await startPgvector(DURABLE)) },
};
const DURABLE = { durable: true };

const vectors = Array.from({ length: VECTORS }, (_, at) => toVector(at));
const question = toVector(0.5);
const embedder: Embedder = { model: "m", embed: async (texts) => texts.map(() => question) };

const only = process.argv
  .find((word) => word.startsWith("--stores="))
  ?.slice(9)
  .split(",");
const expected = multiplyAll(vectors, question);
for (const [name, { lack, open }] of Object.entries(PLACES)) {
  if (only && !only.includes(name)) continue;
  if (lack) console.log(`\n${name} is not measured: ${lack}.`);
  else await measurePlace(name, await open());
}

async function measurePlace(name: string, place: Place): Promise<void> {
  try {
    const filledMs = await measureMs(async () => await fillAll(await toParts(place.kept)));
    let kept = place.kept;
    const finishedMs = await measureMs(async () => {
      kept = await place.finish();
    });
    console.log(`\n${name}: ${toSeconds(filledMs)} to fill, ${toSeconds(finishedMs)} to finish`);
    const parts = await toParts(kept);
    const before = readMemory();
    const first = await measureMs(() => search(parts));
    console.log(`first search: ${first.toFixed(0)} ms, recall ${await recall(parts)} of 10`);
    await runBench([
      {
        title: `a search among ${VECTORS} vectors, ${name}`,
        unit: "ms",
        rounds: ROUNDS,
        contenders: [
          { name: "in memory", measure: () => measureMs(async () => void expectedAgain()) },
          { name: "offshoot", measure: () => measureMs(() => search(parts)) },
          GOAL,
        ],
        limits: [
          { subject: "offshoot", baseline: "in memory", atMost: LIMIT },
          { subject: "offshoot", baseline: GOAL.name, atMost: 1 },
        ],
      },
    ]);
    const grown = (readMemory() - before) / 1e6;
    console.log(`memory that searches keep: ${grown.toFixed(0)} MB`);
  } finally {
    await place.close();
  }
}

async function openSqlite(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "offshoot-bench-"));
  const kept = await openKept(join(folder, "runs.db"));
  return {
    kept,
    finish: async () => kept,
    async close() {
      await kept.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Filled before pgvector is used, which is faster than adding each vector to an index, then upgraded. */
async function openServer(server: PostgresServer): Promise<Place> {
  const address = await server.newAddress();
  const kept = await openKept(address);
  await kept.shelf();
  const db = await openDatabase(address);
  await db.transact((tx) => dropVectorTable(tx));
  await db.close();
  let upgraded: KeptRecord | undefined;
  return {
    kept,
    async finish() {
      await kept.maintenance.migrate();
      await kept.maintenance.vacuum();
      upgraded = await openKept(address);
      return upgraded;
    },
    async close() {
      await upgraded?.close();
      await kept.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function toParts(kept: KeptRecord): Promise<VectorParts> {
  const shelf = await kept.shelf();
  const chunks = await kept.chunks();
  const memory = createVectorMemory(chunks);
  return { shelf, clock: systemClock, makeId, chunks, vectors: memory, embedder };
}

async function ask(parts: VectorParts): Promise<SearchPage> {
  const ranking_options = { hybrid_search: { embedding_weight: 1, text_weight: 0 } };
  const body = { query: "q", ranking_options };
  return await searchStore(parts, TENANT, { store: STORE, body }, signal);
}

async function search(parts: VectorParts): Promise<void> {
  await ask(parts);
}

/** How many of the ten best were found. */
async function recall(parts: VectorParts): Promise<number> {
  const { data } = await ask(parts);
  const worst = expected.at(-1) ?? 1;
  return data.filter(({ score }) => score >= Math.round(worst * 1e4) / 1e4).length;
}

async function fillAll(parts: VectorParts): Promise<void> {
  const store = {
    name: "",
    description: null,
    metadata: {},
    expires_after_days: null,
    last_active_at_ms: 0,
  };
  await putThing(parts, nameStore(TENANT, STORE), null, encodeStore(store));
  for (let file = 0; file < FILES; file++) await fill(parts, file);
}

async function fill(parts: VectorParts, file: number): Promise<void> {
  const file_id = `file-${file}`;
  const each = VECTORS / FILES;
  const mine = vectors.slice(file * each, (file + 1) * each);
  for (let from = 0; from < mine.length; from += 1000) {
    const part = mine.slice(from, from + 1000);
    const texts = part.map((vector, at) => ({
      text: `${file} ${from + at}`,
      embedding: { vector, model: "m" },
    }));
    await parts.chunks.put({ tenant: TENANT, store: STORE, file: file_id }, from, texts);
  }
  const kept: KeptStoreFile = {
    file_id,
    filename: file_id,
    status: "completed",
    usage_bytes: 0,
    last_error: null,
    chunking: { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 },
    attributes: {},
    batch_id: null,
    run_id: `run-${file}`,
  };
  await putThing(parts, nameStoreFile(TENANT, STORE, file_id), STORE, encodeStoreFile(kept));
}

async function putThing(
  { shelf }: VectorParts,
  name: ThingName,
  parent: string | null,
  body: Json,
): Promise<void> {
  await shelf.put({ ...name, parent, body, created_at_ms: 0, expires_at_ms: null });
}

/** One of a thousand subjects, and something of its own: similar to real embeddings, and the same each time. */
function toVector(seed: number): Float32Array {
  const subject = createChance(Math.floor(seed) % SUBJECTS);
  const own = createChance(SUBJECTS + seed * 2);
  const vector = Float32Array.from({ length: LENGTH }, () => subject() + OWN_PART * own());
  const size = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / size);
}

/** Numbers between -0.5 and 0.5 (mulberry32). */
function createChance(seed: number): () => number {
  let state = Math.floor(seed) + 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 - 0.5;
  };
}

function expectedAgain(): number[] {
  return multiplyAll(vectors, question);
}

function multiplyAll(among: readonly Float32Array[], asked: Float32Array): number[] {
  const products = among.map((vector) => {
    let sum = 0;
    for (let at = 0; at < LENGTH; at++) sum += (vector[at] ?? 0) * (asked[at] ?? 0);
    return sum;
  });
  return products.sort((a, b) => b - a).slice(0, 10);
}

/** Memory of buffers, after garbage was collected: vectors are in nothing else. */
function readMemory(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}

function toSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

async function measureMs(work: () => Promise<void>): Promise<number> {
  const started = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - started) / 1e6;
}
