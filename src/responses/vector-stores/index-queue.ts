/**
 * Files on their way into vector stores: their text, its chunks, their embeddings. It goes on behind
 * the requests that asked for it, a few files at a time.
 *
 * Each has a marker among the server's own things, put before anything else and removed at the end, so
 * that another process finds what this one has left. To index a file twice does no harm.
 */

import { throwIfAborted } from "../../base/async.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import type { Json } from "../../base/json.ts";
import { createTurnstile } from "../../base/turnstile.ts";
import type { ThingName } from "../../store/shelf.ts";
import { readFileParts } from "../files/files.ts";
import { chunkText } from "./chunk-text.ts";
import { extractText } from "./extract-text.ts";
import {
  encodeKept,
  type FileError,
  type KeptStoreFile,
  nameStoreFile,
  readStoreFile,
  type VectorParts,
} from "./kept-store.ts";

export interface IndexQueue {
  /** Writes down that the file is to be indexed. Call `begin` with it once its thing is on the shelf. */
  promise(job: IndexJob): Promise<IndexTicket>;
  begin(ticket: IndexTicket): void;
  /** Goes on with what others have left. May be called again, where another one has stopped meanwhile. */
  start(): Promise<void>;
  /** Resolves when there is nothing to do. */
  idle(): Promise<void>;
  /** Ends what runs; it is gone on with at the next start. */
  close(): Promise<void>;
}

export interface IndexJob {
  readonly tenant: string;
  readonly store: string;
  readonly file: string;
}

export interface IndexTicket {
  readonly job: IndexJob;
  readonly marker: ThingName;
}

/** Reading a PDF is a process of its own; more at once would slow the answers. */
const MAX_AT_ONCE = 2;
/** Chunks that are embedded and written together. */
const BATCH_CHUNKS = 32;
const MAX_MARKERS = 10_000;
const MARKER_KIND = "indexing";

export function createIndexQueue(parts: VectorParts): IndexQueue {
  const turnstile = createTurnstile(MAX_AT_ONCE);
  const closing = new AbortController();
  /** By the ids of their markers. */
  const running = new Map<string, Promise<void>>();

  const begin = (ticket: IndexTicket): void => {
    const { id } = ticket.marker;
    if (running.has(id)) return;
    running.set(
      id,
      work(ticket).finally(() => running.delete(id)),
    );
  };
  async function work({ job, marker }: IndexTicket): Promise<void> {
    try {
      const leave = await turnstile.enter(closing.signal);
      try {
        await indexFile(parts, job, closing.signal);
      } finally {
        leave();
      }
      await parts.shelf.delete(marker);
    } catch {
      // Closed, or the record cannot be written: the marker stays, and the next start finds it.
    }
  }

  return {
    begin,
    async promise(job) {
      const marker = { tenant: "", kind: MARKER_KIND, id: parts.makeId("job") };
      const created_at_ms = parts.clock.now();
      const body = job as unknown as Json;
      await parts.shelf.put({ ...marker, parent: null, body, created_at_ms, expires_at_ms: null });
      return { job, marker };
    },
    async start() {
      const among = { tenant: "", kind: MARKER_KIND, order: "oldest" } as const;
      for (const thing of await parts.shelf.list({ ...among, limit: MAX_MARKERS })) {
        const { tenant, kind, id } = thing;
        begin({ job: thing.body as unknown as IndexJob, marker: { tenant, kind, id } });
      }
    },
    async idle() {
      while (running.size > 0) await Promise.all(running.values());
    },
    async close() {
      closing.abort(new Failure("cancelled", "The server stops."));
      await Promise.all(running.values());
    },
  };
}

/** Resolves also for a file that cannot be indexed, which says so. Rejects when it is to stop. */
async function indexFile(parts: VectorParts, job: IndexJob, signal: AbortSignal): Promise<void> {
  try {
    const usage_bytes = await tryIndex(parts, job, signal);
    if (usage_bytes !== undefined) await settle(parts, job, { status: "completed", usage_bytes });
  } catch (thrown) {
    throwIfAborted(signal);
    await parts.chunks.trim(job, 0);
    const last_error = toFileError(toFailure(thrown));
    await settle(parts, job, { status: "failed", usage_bytes: 0, last_error });
  }
}

/** How many bytes it takes; undefined where nobody waits for it any more. */
async function tryIndex(
  parts: VectorParts,
  job: IndexJob,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { tenant, store, file } = job;
  const name = nameStoreFile(tenant, store, file);
  const kept = await findWaiting(parts, job);
  if (!kept) return undefined;
  const text = await extractText(await readFileParts(parts, tenant, file), signal);
  const size = await parts.shelf.writeContent(name, toBytes(text));
  let usage = size;
  let part = 0;
  for (const batch of toBatches(chunkText(text, kept.chunking))) {
    const vectors = await parts.embedder?.embed(batch, signal);
    // Asked again for each batch: it may have been cancelled or removed meanwhile.
    if (!(await findWaiting(parts, job))) break;
    throwIfAborted(signal);
    const { model = "" } = parts.embedder ?? {};
    const chunks = batch.map((one, at) => {
      const vector = vectors?.[at];
      usage += Buffer.byteLength(one) + (vector?.byteLength ?? 0);
      return { text: one, embedding: vector ? { vector, model } : null };
    });
    await parts.chunks.put(job, part, chunks);
    part += batch.length;
    // Writing is synchronous: others get their turn between two batches.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await parts.chunks.trim(job, part);
  return usage;
}

async function findWaiting(
  { shelf }: VectorParts,
  { tenant, store, file }: IndexJob,
): Promise<KeptStoreFile | undefined> {
  const thing = await shelf.get(nameStoreFile(tenant, store, file));
  const kept = thing && readStoreFile(thing);
  return kept?.status === "in_progress" ? kept : undefined;
}

type Settled = Pick<KeptStoreFile, "status" | "usage_bytes"> &
  Partial<Pick<KeptStoreFile, "last_error">>;

/** Of a file that was cancelled or removed meanwhile, nothing stays. */
async function settle(parts: VectorParts, job: IndexJob, settled: Settled): Promise<void> {
  const { tenant, store, file } = job;
  let isWaited = false;
  await parts.shelf.change(nameStoreFile(tenant, store, file), (body) => {
    const kept = readStoreFile({ body });
    isWaited = kept.status === "in_progress";
    return isWaited ? encodeKept({ ...kept, ...settled }) : undefined;
  });
  if (!isWaited) await parts.chunks.trim(job, 0);
}

function toFileError({ code, message }: Failure): FileError {
  if (code === "invalid_request") return { code: "unsupported_file", message };
  if (code === "tool_failed" || code === "not_found") return { code: "invalid_file", message };
  return { code: "server_error", message };
}

function* toBatches(chunks: Iterable<string>): Generator<string[]> {
  let batch: string[] = [];
  for (const chunk of chunks) {
    batch.push(chunk);
    if (batch.length < BATCH_CHUNKS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function* toBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
