/**
 * Indexes a file for a vector store, as a run of the engine: its text, then a step for each batch of chunks and their
 * embeddings. So each file has one owner, the run of a dead process is taken over, and a batch that was embedded is
 * not embedded again.
 *
 * The file's thing names its run. A run that it does not name, or no longer waits for, writes nothing: chunks are
 * stored under that condition, in one transaction with it.
 */

import { type Failure, toFailure } from "../../base/failure.ts";
import { toQuietOutcome } from "../../engine/ending.ts";
import type { Engine, RunBody, RunContext } from "../../engine/engine.ts";
import { readFileParts } from "../files/files.ts";
import { chunkText } from "./chunk-text.ts";
import { extractText } from "./extract-text.ts";
import { INDEX_BODY, INDEX_JOB, type IndexJob } from "./index-runs.ts";
import {
  encodeStoreFile,
  type FileError,
  findPayer,
  type KeptStoreFile,
  nameStoreFile,
  readStoreFile,
  type VectorParts,
} from "./kept-store.ts";
import { embedPaid } from "./paid-embedding.ts";

const INDEX_QUEUE = "index";

/** Each PDF is read by a process of its own; more at once would slow down answers. */
const MAX_HERE = 2;
/** Chunks that are embedded and written together. */
const BATCH_CHUNKS = 32;

export function defineIndexing(engine: Engine, parts: VectorParts): void {
  engine.defineQueue(INDEX_QUEUE, { atOnce: Number.MAX_SAFE_INTEGER, here: MAX_HERE });
  engine.define(INDEX_BODY, createIndexBody(parts));
}

function createIndexBody(parts: VectorParts): RunBody {
  return async (context, input) => {
    const job = INDEX_JOB.read(input);
    await context.waiting(undefined, () => context.turn(INDEX_QUEUE, job.tenant));
    try {
      await indexFile(parts, context, job);
      return toQuietOutcome(parts.clock.now());
    } catch (thrown) {
      // Cancelled, or continued by another process.
      if (context.signal.aborted) throw thrown;
      const last_error = toFileError(toFailure(thrown));
      await context.step("fail", () =>
        settle(parts, context.id, job, { status: "failed", usage_bytes: 0, last_error }),
      );
      const { message } = last_error;
      return toQuietOutcome(parts.clock.now(), { code: "tool_failed", message });
    }
  };
}

/** Ends early if the file is not waited for any more. */
async function indexFile(parts: VectorParts, context: RunContext, job: IndexJob): Promise<void> {
  let text: string | undefined;
  await context.rest();
  const size = await context.step("text", async ({ signal }) => {
    if (!(await isWaited(parts, context.id, job))) return null;
    text = await extractText(await readFileParts(parts, job.tenant, job.file), signal);
    return await parts.shelf.writeContent(toName(job), toBytes(text));
  });
  if (size === null) return;
  let usage_bytes = Number(size);
  let part = 0;
  for (const batch of toBatches(chunkText(text ?? (await readText(parts, job)), job.chunking))) {
    const firstPart = part;
    part += batch.length;
    await context.rest();
    const used = await context.step(`batch:${firstPart}`, ({ signal }) =>
      putBatch(parts, { job, run: context.id, firstPart, batch }, signal),
    );
    if (used === null) return;
    usage_bytes += Number(used);
  }
  await context.step("end", () =>
    settle(parts, context.id, job, { status: "completed", usage_bytes }),
  );
}

interface Batch {
  readonly job: IndexJob;
  readonly run: string;
  readonly firstPart: number;
  readonly batch: readonly string[];
}

/** Returns the stored bytes; null if the file is not waited for any more. May be repeated. */
async function putBatch(
  parts: VectorParts,
  { job, run, firstPart, batch }: Batch,
  signal: AbortSignal,
): Promise<number | null> {
  if (!(await isWaited(parts, run, job))) return null;
  const paid = { texts: batch, signal };
  const payer = findPayer(parts, job.key_id);
  const vectors = parts.embedder && (await embedPaid(parts.embedder, paid, payer));
  signal.throwIfAborted();
  const { model = "" } = parts.embedder ?? {};
  let usage = 0;
  const chunks = batch.map((text, at) => {
    const vector = vectors?.[at];
    usage += Buffer.byteLength(text) + (vector?.byteLength ?? 0);
    return { text, embedding: vector ? { vector, model } : null };
  });
  if (!(await parts.chunks.put(job, firstPart, chunks, run))) return null;
  // Writing is synchronous: other work gets its turn between two batches.
  await new Promise((resolve) => setImmediate(resolve));
  return usage;
}

async function isWaited({ shelf }: VectorParts, run: string, job: IndexJob): Promise<boolean> {
  const thing = await shelf.get(toName(job));
  return thing !== undefined && waitsFor(readStoreFile(thing), run);
}

function waitsFor({ status, run_id }: KeptStoreFile, run: string): boolean {
  return status === "in_progress" && run_id === run;
}

type Settled = Pick<KeptStoreFile, "status" | "usage_bytes"> &
  Partial<Pick<KeptStoreFile, "last_error">>;

async function settle(
  { shelf, chunks }: VectorParts,
  run: string,
  job: IndexJob,
  settled: Settled,
): Promise<null> {
  let isOurs = false;
  await shelf.change(toName(job), (body) => {
    const kept = readStoreFile({ body });
    isOurs = waitsFor(kept, run);
    return isOurs ? encodeStoreFile({ ...kept, ...settled }) : undefined;
  });
  if (isOurs && settled.status === "failed") await chunks.trim(job, 0);
  return null;
}

/** The text that the step before a crash has stored. */
async function readText({ shelf }: VectorParts, job: IndexJob): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of shelf.readContent(toName(job))) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

function toName({ tenant, store, file }: IndexJob): ReturnType<typeof nameStoreFile> {
  return nameStoreFile(tenant, store, file);
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
