/**
 * The answer of our app for a fetch-style server. What the app writes becomes the body of a `Response`, and is
 * written no faster than its client reads. The class extends Node's own, because all code in the app expects that
 * one; nothing is written to a socket.
 */

import { type IncomingMessage, ServerResponse } from "node:http";

/**
 * Bytes that may wait for the reader before the app must pause. A socket of Node's holds as many.
 */
const WAITING_BYTES = 64 * 1024;

/** Statuses whose answers have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Headers that belong to the connection, which the outer server owns. */
const HOP_BY_HOP: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

export class WebAnswer extends ServerResponse {
  /** Resolves when the status and headers are known. Rejects if the answer is interrupted before. */
  readonly response: Promise<Response>;
  #begin: (response: Response) => void = () => {};
  #fail: (cause: unknown) => void = () => {};
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #hasHead = false;
  #isEnded = false;

  constructor(request: IncomingMessage) {
    super(request);
    this.response = new Promise((resolve, reject) => {
      this.#begin = resolve;
      this.#fail = reject;
    });
    // If the client has left, this rejection has no other handler.
    this.response.catch(() => {});
    // Node's types declare these as fields, so a subclass cannot define getters for them.
    Object.defineProperties(this, {
      socket: { value: request.socket },
      headersSent: { get: () => this.#hasHead },
      // Node's own values depend on a socket of Node's, and differ between its versions.
      writableEnded: { get: () => this.#isEnded },
      writableFinished: { get: () => this.#isEnded },
      writableLength: { get: () => this.#waiting() },
      writableNeedDrain: { get: () => !this.writableEnded && this.#waiting() >= WAITING_BYTES },
    });
    // The app cuts a client by destroying its socket. A client that leaves closes the socket too.
    request.socket.once("close", () => this.destroy());
  }

  override writeHead(statusCode: number, ...rest: readonly unknown[]): this {
    this.statusCode = statusCode;
    for (const [name, value] of toPairs(rest.at(-1))) this.setHeader(name, value);
    this.flushHeaders();
    return this;
  }

  override flushHeaders(): void {
    if (this.#hasHead || this.destroyed) return;
    this.#hasHead = true;
    const headers = new Headers();
    for (const [name, value] of Object.entries(this.getHeaders())) {
      if (value === undefined || HOP_BY_HOP.has(name)) continue;
      for (const one of [value].flat()) headers.append(name, String(one));
    }
    const isEmpty = this.req.method === "HEAD" || BODILESS.has(this.statusCode);
    const body = isEmpty ? null : this.#openBody();
    this.#begin(new Response(body, { status: this.statusCode, headers }));
  }

  override write(chunk: unknown, ...rest: readonly unknown[]): boolean {
    this.flushHeaders();
    if (!this.destroyed && !this.writableEnded) this.#body?.enqueue(toBytes(chunk));
    callBack(rest);
    return !this.writableNeedDrain;
  }

  override end(...given: readonly unknown[]): this {
    if (this.destroyed || this.writableEnded) return this;
    const [chunk] = given;
    if (chunk !== undefined && chunk !== null && typeof chunk !== "function") this.write(chunk);
    this.flushHeaders();
    this.#body?.close();
    this.#isEnded = true;
    this.finished = true;
    this.emit("finish");
    this.#close();
    callBack(given);
    return this;
  }

  override destroy(error?: Error): this {
    if (this.destroyed) return this;
    const cause = error ?? new Error("The answer was interrupted.");
    this.#fail(cause);
    this.#body?.error(cause);
    this.#close();
    return this;
  }

  #openBody(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#body = controller;
        },
        pull: () => void this.emit("drain"),
        // The client has left and has stopped reading.
        cancel: () => {
          this.#body = undefined;
          this.req.socket.destroy();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: WAITING_BYTES }),
    );
  }

  /** Bytes that were written and not yet read. */
  #waiting(): number {
    return WAITING_BYTES - (this.#body?.desiredSize ?? WAITING_BYTES);
  }

  #close(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

/** `given` is an object, or a list of names and values in turn. */
function toPairs(given: unknown): [string, string | string[]][] {
  if (Array.isArray(given)) {
    return given.flatMap((name, at): [string, string][] =>
      at % 2 === 0 ? [[String(name), String(given[at + 1])]] : [],
    );
  }
  if (typeof given !== "object" || given === null) return [];
  return Object.entries(given).flatMap(([name, value]): [string, string | string[]][] => {
    if (value === undefined) return [];
    return [[name, Array.isArray(value) ? value.map(String) : String(value)]];
  });
}

function toBytes(chunk: unknown): Uint8Array {
  return typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Uint8Array);
}

function callBack(given: readonly unknown[]): void {
  const last = given.at(-1);
  if (typeof last === "function") queueMicrotask(() => last());
}
