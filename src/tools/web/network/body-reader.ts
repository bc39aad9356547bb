/** Reads a body within the limits, which count its bytes before and after decompression. */

import { PassThrough, pipeline, Readable, type Transform } from "node:stream";
import * as zlib from "node:zlib";
import { Failure } from "../../../base/failure.ts";
import { clip } from "../../../base/text.ts";
import type { WebLimits } from "./web-answer.ts";

/** A body that was cut still gives the bytes before the cut. */
const DEFLATED = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
const BROTLI = { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };

/** Newer runtimes have it; the types are those of the oldest. */
const createZstd = (zlib as { createZstdDecompress?: () => Transform }).createZstdDecompress;

const DECODERS: Readonly<Record<string, (first: Buffer) => Transform>> = {
  "": () => new PassThrough(),
  identity: () => new PassThrough(),
  gzip: () => zlib.createGunzip(DEFLATED),
  "x-gzip": () => zlib.createGunzip(DEFLATED),
  // Some servers leave out the wrapper, whose first byte names the method, 8.
  deflate: (first) =>
    ((first[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate(DEFLATED) : zlib.createInflateRaw(DEFLATED),
  br: () => zlib.createBrotliDecompress(BROTLI),
  ...(createZstd ? { zstd: () => createZstd() } : {}),
};

export const ACCEPT_ENCODING = ["gzip", "deflate", "br", ...(createZstd ? ["zstd"] : [])].join(
  ", ",
);

interface Limited {
  readonly body: Buffer;
  readonly isCut: boolean;
}

/** Rejects with the error of the source or of the decompression. */
export async function readBody(
  source: Readable,
  headers: Readonly<Record<string, string | undefined>>,
  limits: Pick<WebLimits, "wireBytes" | "plainBytes">,
): Promise<Limited> {
  const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase();
  // One layer only: with two, a few kilobytes keep a processor busy for minutes.
  const open = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (!open) {
    const message = `The answer is compressed in an unknown way: ${clip(encoding, 40)}.`;
    throw new Failure("tool_failed", message);
  }
  const wire = new Meter(limits.wireBytes);
  const plain = new Meter(limits.plainBytes);
  const chunks = wire.upTo(source);
  const first = await chunks.next();
  const decoder = open(first.done ? Buffer.alloc(0) : first.value);
  // The reader sees the decoder's end or failure; a reader that stops ends the source.
  pipeline(Readable.from(startingWith(first, chunks)), decoder, () => {});
  const pieces: Buffer[] = [];
  for await (const piece of plain.upTo(decoder)) pieces.push(piece);
  return { body: Buffer.concat(pieces), isCut: wire.isOver || plain.isOver };
}

class Meter {
  isOver = false;
  #left: number;

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  async *upTo(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    for await (const chunk of source) {
      this.isOver = chunk.length > this.#left;
      yield this.isOver ? chunk.subarray(0, this.#left) : chunk;
      if (this.isOver) return;
      this.#left -= chunk.length;
    }
  }
}

async function* startingWith(
  first: IteratorResult<Buffer, void>,
  rest: AsyncGenerator<Buffer, void>,
): AsyncGenerator<Buffer, void> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
