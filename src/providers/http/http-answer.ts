/** One request to a model's server and its answer, as the transport takes and gives them. */

import type { RequestBody } from "./request-body.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RequestBody | undefined;
  readonly signal: AbortSignal;
  readonly timeouts: Timeouts;
  /** The most bytes of the answer's body; the transport's own limit if missing. */
  readonly maxBytes?: number | undefined;
}

export interface Timeouts {
  /** The time to a connection, TLS included. */
  readonly connectMs: number;
  /** From the request to the answer's headers. */
  readonly firstByteMs: number;
  /** Between two reads of the body. */
  readonly idleMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * The body while it arrives. A reader that stops early closes the connection. Rejects with a `Failure`,
   * which is `answer_too_large` after all bytes within the limit.
   */
  readonly chunks: Chunks;
  /** Reads the body to its end, in place of `chunks`, without a promise for each piece. */
  readAll(onChunk: (chunk: Buffer) => void): Promise<void>;
  /** The whole body, in place of `chunks`. Does not wait for bytes beyond `maxBytes`. */
  text(maxBytes: number): Promise<string>;
}

/** Unlike the `return` of a generator, this one also works before the first `next`. */
export interface Chunks extends AsyncIterableIterator<Buffer, void> {
  return(): Promise<IteratorResult<Buffer, void>>;
}
