/**
 * The one file that talks to models' servers: pooled connections, proxies, CA bundles, timeouts.
 *
 * The body is handed on read by read, from undici's callbacks through a queue. Web streams would
 * cost three times as much an event when events come one by one (bench/decode.ts).
 */

import type { Dispatcher } from "undici";
import Agent from "undici/lib/dispatcher/agent.js";
import { addStop, removeStop, toAbortFailure } from "../../base/async.ts";
import { Failure } from "../../base/failure.ts";
import { readSystemBundle, readTrustedBundle, SYSTEM_BUNDLES } from "./ca-bundles.ts";
import { proxyFor, readProxies } from "./proxies.ts";
import { type RequestBody, sizeOfPieces } from "./request-body.ts";
import { TextJoiner } from "./text-joiner.ts";
import { isUntrusted, toTransportFailure } from "./transport-failure.ts";

export interface Transport {
  /** Resolves with the status line and headers; the body comes in `chunks`. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Drops all connections, also those in use. */
  close(): Promise<void>;
}

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RequestBody | undefined;
  readonly signal: AbortSignal;
  readonly timeouts: Timeouts;
  /** Most bytes of the answer's body; the transport's own limit when left out. */
  readonly maxBytes?: number | undefined;
}

export interface Timeouts {
  /** To a connection, TLS included. */
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
   * The body as it comes. Leaving it early closes the connection. Rejects with a `Failure`: with
   * `answer_too_large` when all bytes within the limit were given on.
   */
  readonly chunks: Chunks;
  /** The same to its end, in place of `chunks`, without a promise for each piece. */
  readAll(onChunk: (chunk: Buffer) => void): Promise<void>;
  /** The whole body, in place of `chunks`; what is beyond `maxBytes` is not waited for. */
  text(maxBytes: number): Promise<string>;
}

/** Unlike a generator's, its `return` also works before the first `next`. */
export interface Chunks extends AsyncIterableIterator<Buffer, void> {
  return(): Promise<IteratorResult<Buffer, void>>;
}

/** A reader this far behind makes the connection wait. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;

/** The limit on an answer where no setting gives one: far more than the longest that models write. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export interface TransportOptions {
  /** Where the distribution's authorities are looked for. */
  readonly systemBundles?: readonly string[] | undefined;
  readonly maxAnswerBytes?: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function createTransport(
  env: Environment,
  { systemBundles = SYSTEM_BUNDLES, maxAnswerBytes = MAX_ANSWER_BYTES }: TransportOptions = {},
): Transport {
  const dispatchers = new Map<string, Promise<Dispatcher>>();
  const trusted = readTrustedBundle(env);
  const proxies = readProxies(env);
  /** The pools that are open and trust what is usual, by their connect timeouts. */
  const usual = new Map<number, Dispatcher>();

  /** One pool for each set of connection options; connect timeouts are part of a pool. */
  function dispatcherFor(
    connectMs: number,
    ca: readonly string[] | undefined,
  ): Promise<Dispatcher> {
    const key = `${connectMs} ${ca ? ca.length : 0}`;
    const known = dispatchers.get(key) ?? createDispatcher(env, connectMs, ca);
    dispatchers.set(key, known);
    return known;
  }

  async function open(connectMs: number): Promise<Dispatcher> {
    const dispatcher = await dispatcherFor(connectMs, trusted);
    usual.set(connectMs, dispatcher);
    return dispatcher;
  }

  /** Reading the system's bundle costs 20 ms of every start, so it is read when it is needed. */
  async function sendAgain(thrown: unknown, request: HttpRequest): Promise<HttpAnswer> {
    const system = isUntrusted(thrown) && !trusted ? readSystemBundle(systemBundles) : undefined;
    const proxy = proxyFor(proxies, request.url);
    if (!system) throw toTransportFailure(thrown, request.url, proxy);
    const dispatcher = await dispatcherFor(request.timeouts.connectMs, system);
    return await exchange(dispatcher, request).catch((again) => {
      throw toTransportFailure(again, request.url, proxy);
    });
  }

  return {
    send(asked) {
      const request = asked.maxBytes === undefined ? { ...asked, maxBytes: maxAnswerBytes } : asked;
      const known = usual.get(request.timeouts.connectMs);
      const sent = known
        ? exchange(known, request)
        : open(request.timeouts.connectMs).then((dispatcher) => exchange(dispatcher, request));
      return sent.catch((thrown) => sendAgain(thrown, request));
    },
    async close() {
      const all = await Promise.all(dispatchers.values());
      await Promise.all(all.map((dispatcher) => dispatcher.destroy()));
    },
  };
}

async function createDispatcher(
  env: Environment,
  connectMs: number,
  ca: readonly string[] | undefined,
): Promise<Dispatcher> {
  const connect = { timeout: connectMs, ...(ca ? { ca: [...ca] } : {}) };
  const options = { connect, keepAliveTimeout: 30_000, maxResponseSize: -1 };
  const { http: httpProxy, https: httpsProxy } = readProxies(env);
  if (!httpProxy && !httpsProxy) return new Agent(options);
  // The proxy agents work only with what undici's entry adds to its dispatchers.
  const { EnvHttpProxyAgent } = await import("undici");
  // A model server of one's own is never behind the company's proxy.
  const noProxy = `${env["no_proxy"] ?? env["NO_PROXY"] ?? ""},localhost,127.0.0.1,[::1]`;
  return new EnvHttpProxyAgent({
    ...options,
    requestTls: connect,
    // An empty text means "no proxy" to undici, where `undefined` would make it read the process.
    httpProxy: httpProxy ?? "",
    httpsProxy: httpsProxy ?? "",
    noProxy,
  });
}

/** Of the addresses that are asked again and again; parsing one takes as long as writing a request. */
const addresses = new Map<string, { readonly origin: string; readonly path: string }>();
const MAX_ADDRESSES = 1000;

function splitAddress(url: string): { readonly origin: string; readonly path: string } {
  const known = addresses.get(url);
  if (known) return known;
  const { origin, pathname, search } = new URL(url);
  if (addresses.size >= MAX_ADDRESSES) addresses.clear();
  const split = { origin, path: pathname + search };
  addresses.set(url, split);
  return split;
}

function exchange(dispatcher: Dispatcher, request: HttpRequest): Promise<HttpAnswer> {
  const { signal, timeouts } = request;
  if (signal.aborted) return Promise.reject(toAbortFailure(signal));
  return new Promise((resolve, reject) => {
    const { origin, path } = splitAddress(request.url);
    const handler = new AnswerReader(request, resolve, reject);
    dispatcher.dispatch(
      {
        origin,
        path,
        method: request.method,
        headers: headersOf(request),
        body: (request.body ?? null) as string | null,
        headersTimeout: timeouts.firstByteMs,
        bodyTimeout: timeouts.idleMs,
      },
      handler,
    );
  });
}

/** Of pieces undici does not know how long they are together, and some servers want to be told. */
function headersOf({ headers, body }: HttpRequest): Record<string, string> {
  if (typeof body !== "object") return headers as Record<string, string>;
  return { ...headers, "content-length": String(sizeOfPieces(body)) };
}

/** Undici's callbacks on one side, a promise and the answer on the other. Owns the abort listener. */
class AnswerReader implements Dispatcher.DispatchHandler, HttpAnswer {
  status = 0;
  headers: HttpAnswer["headers"] = {};
  readonly #request: HttpRequest;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onAbort: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  readonly #queue: Buffer[] = [];
  #queuedBytes = 0;
  #bytes = 0;
  #isAnswered = false;
  #ending: { error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(
    request: HttpRequest,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#onAbort = () => this.#stop(toAbortFailure(request.signal));
    addStop(request.signal, this.#onAbort);
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
    this.#resolve(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ending) return;
    const { maxBytes = MAX_ANSWER_BYTES, url } = this.#request;
    const room = maxBytes - this.#bytes;
    this.#bytes += chunk.length;
    this.#queue.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes > MAX_QUEUED_BYTES) controller.pause();
    if (chunk.length > room) return this.#stop(toTooLarge(maxBytes, url));
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
        // Made only when it is needed: a stack costs as much as a small answer.
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
   * All that is there, as one piece: a server that writes each event by itself sends dozens of HTTP
   * chunks in one packet, and each batch costs more than its events (bench/gateway.ts).
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
    if (error !== undefined) throw toTransportFailure(error, this.#request.url);
  }

  #stop(reason: Failure): void {
    if (this.#ending) return;
    this.#finish(reason);
    this.#controller?.abort(reason);
  }

  /** Called by whoever is first: the end, an error, an abort. The others find it done. */
  #finish(error: unknown): void {
    if (this.#ending) return;
    this.#ending = { error };
    removeStop(this.#request.signal, this.#onAbort);
    if (!this.#isAnswered) this.#reject(error);
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

/** Undici has made them for this answer: those that came twice are joined in place. */
function joinHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string | undefined> {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value.join(", ");
  }
  return headers as Record<string, string | undefined>;
}
