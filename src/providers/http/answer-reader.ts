/**
 * Reads one answer from a connection as it comes, within its limits of time and size.
 *
 * The body is passed on for each read, from undici's callbacks through a queue. Web streams would cost
 * three times as much for each event when events come one by one (bench/decode.ts).
 */

import type { Dispatcher } from "undici";
import { addStop, removeStop, toAbortFailure } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import type { Chunks, HttpAnswer, HttpRequest } from "./http-answer.ts";
import { TextJoiner } from "./text-joiner.ts";
import { toTransportFailure } from "./transport-failure.ts";

/** When this many bytes wait for the reader, the connection pauses. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;

/** A request on its way, and who waits for its answer. */
interface Exchange {
  readonly request: HttpRequest;
  readonly maxBytes: number;
  readonly resolve: (answer: HttpAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Undici's callbacks on one side, a promise and the answer on the other. Owns the abort listener. */
export class AnswerReader implements Dispatcher.DispatchHandler, HttpAnswer {
  status = 0;
  headers: HttpAnswer["headers"] = {};
  readonly #exchange: Exchange;
  readonly #onAbort: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  readonly #queue: Buffer[] = [];
  #queuedBytes = 0;
  #bytes = 0;
  #isAnswered = false;
  #ending: { error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(exchange: Exchange) {
    const { signal } = exchange.request;
    this.#exchange = exchange;
    this.#onAbort = () => this.#stop(toAbortFailure(signal));
    addStop(signal, this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Aborted while the connection was being made.
    if (this.#ending) controller.abort(this.#ending.error as Error);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#isAnswered = true;
    this.status = status;
    this.headers = joinHeaders(headers);
    this.#exchange.resolve(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ending) return;
    const { maxBytes, request } = this.#exchange;
    const room = maxBytes - this.#bytes;
    this.#bytes += chunk.length;
    this.#queue.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes > MAX_QUEUED_BYTES) controller.pause();
    if (chunk.length > room) return this.#stop(toTooLarge(maxBytes, request.url));
    this.#wake?.();
  }

  onResponseEnd(): void {
    this.#finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish(error);
  }

  get chunks(): Chunks {
    const chunks: Chunks = {
      next: () => this.#next(),
      return: async () => {
        // Created only when it is needed: a stack costs as much as a small answer.
        if (!this.#ending)
          this.#stop(new Failure("cancelled", "The answer was not read to its end."));
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => chunks,
    };
    return chunks;
  }

  async text(maxBytes: number): Promise<string> {
    const text = new TextJoiner();
    let bytes = 0;
    while (bytes <= maxBytes) {
      const piece = this.#take();
      if (piece) {
        text.push(piece);
        bytes += piece.length;
      } else if (this.#ending) break;
      else await this.#news();
    }
    if (bytes > maxBytes) await this.chunks.return();
    else this.#throwEnding();
    return text.join();
  }

  async readAll(onChunk: (chunk: Buffer) => void): Promise<void> {
    for (;;) {
      const piece = this.#take();
      if (piece) onChunk(piece);
      else if (this.#ending) return this.#throwEnding();
      else await this.#news();
    }
  }

  async #next(): Promise<IteratorResult<Buffer, void>> {
    for (;;) {
      const value = this.#take();
      if (value) return { done: false, value };
      if (this.#ending) {
        this.#throwEnding();
        return { done: true, value: undefined };
      }
      await this.#news();
    }
  }

  /** Resolves when there is more, or the end. */
  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /**
   * All bytes so far, as one piece: a server that writes each event by itself sends dozens of HTTP chunks
   * in one packet, and each batch costs more than its events (bench/gateway.ts).
   */
  #take(): Buffer | undefined {
    const [first] = this.#queue;
    if (!first) return undefined;
    const value = this.#queue.length === 1 ? first : Buffer.concat(this.#queue);
    this.#queue.length = 0;
    this.#queuedBytes = 0;
    if (this.#controller?.paused) this.#controller.resume();
    return value;
  }

  #throwEnding(): void {
    const error = this.#ending?.error;
    if (error !== undefined) throw toTransportFailure(error, this.#exchange.request.url);
  }

  #stop(reason: Failure): void {
    if (this.#ending) return;
    this.#finish(reason);
    this.#controller?.abort(reason);
  }

  /** Called by the first of the end, an error and an abort. Later calls have no effect. */
  #finish(error: unknown): void {
    if (this.#ending) return;
    this.#ending = { error };
    removeStop(this.#exchange.request.signal, this.#onAbort);
    if (!this.#isAnswered) this.#exchange.reject(error);
    this.#wake?.();
  }
}

function toTooLarge(maxBytes: number, url: string): Failure {
  const megabytes = maxBytes / 1024 / 1024;
  const limit = megabytes >= 1 ? `${Math.round(megabytes * 10) / 10} MiB` : `${maxBytes} bytes`;
  return new Failure(
    "answer_too_large",
    `The answer of ${new URL(url).host} is larger than ${limit}. The setting \`max_answer_bytes\` allows more.`,
  );
}

/** Undici created the headers for this answer, so repeated ones are joined in place. */
function joinHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string | undefined> {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value.join(", ");
  }
  return headers as Record<string, string | undefined>;
}
