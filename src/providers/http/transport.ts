/** The only file that talks to models' servers: pooled connections, proxies, CA bundles, timeouts. */

import type { Dispatcher } from "undici";
import Agent from "undici/lib/dispatcher/agent.js";
import { toAbortFailure } from "../../base/async.ts";
import { AnswerReader } from "./answer-reader.ts";
import { readSystemBundle, readTrustedBundle, SYSTEM_BUNDLES } from "./ca-bundles.ts";
import type { HttpAnswer, HttpRequest } from "./http-answer.ts";
import { proxyFor, readProxies } from "./proxies.ts";
import { sizeOfPieces } from "./request-body.ts";
import { isUntrusted, toTransportFailure } from "./transport-failure.ts";

export interface Transport {
  /** Resolves with the status line and headers. The body comes in `chunks`. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Closes all connections, even those in use. */
  close(): Promise<void>;
}

/** The default limit on an answer: far more than the longest that models write. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export interface TransportOptions {
  /** Files in which the distribution may keep its authorities. */
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
  /** Open pools with the usual authorities, by their connect timeouts. */
  const usual = new Map<number, Dispatcher>();

  /** One pool for each set of connection options; the connect timeout is one of them. */
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
  async function sendAgain(
    thrown: unknown,
    request: HttpRequest,
    maxBytes: number,
  ): Promise<HttpAnswer> {
    const system = isUntrusted(thrown) && !trusted ? readSystemBundle(systemBundles) : undefined;
    const proxy = proxyFor(proxies, request.url);
    if (!system) throw toTransportFailure(thrown, request.url, proxy);
    const dispatcher = await dispatcherFor(request.timeouts.connectMs, system);
    return await exchange(dispatcher, request, maxBytes).catch((again) => {
      throw toTransportFailure(again, request.url, proxy);
    });
  }

  return {
    send(request) {
      const { maxBytes = maxAnswerBytes, timeouts } = request;
      const known = usual.get(timeouts.connectMs);
      const sent = known
        ? exchange(known, request, maxBytes)
        : open(timeouts.connectMs).then((dispatcher) => exchange(dispatcher, request, maxBytes));
      return sent.catch((thrown) => sendAgain(thrown, request, maxBytes));
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
  // The proxy agents need what undici's entry adds to its dispatchers.
  const { EnvHttpProxyAgent } = await import("undici");
  // A model server on this machine is never asked through the company's proxy.
  const noProxy = `${env["no_proxy"] ?? env["NO_PROXY"] ?? ""},localhost,127.0.0.1,[::1]`;
  return new EnvHttpProxyAgent({
    ...options,
    requestTls: connect,
    // To undici an empty text means "no proxy"; `undefined` would make it read the process's environment.
    httpProxy: httpProxy ?? "",
    httpsProxy: httpsProxy ?? "",
    noProxy,
  });
}

/** Addresses that are asked repeatedly; parsing one takes as long as writing a request. */
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

function exchange(
  dispatcher: Dispatcher,
  request: HttpRequest,
  maxBytes: number,
): Promise<HttpAnswer> {
  const { signal, timeouts } = request;
  if (signal.aborted) return Promise.reject(toAbortFailure(signal));
  return new Promise((resolve, reject) => {
    const { origin, path } = splitAddress(request.url);
    const handler = new AnswerReader({ request, maxBytes, resolve, reject });
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

/** The headers. Undici does not know the total size of pieces, and some servers require it. */
function headersOf({ headers, body }: HttpRequest): Record<string, string> {
  if (typeof body !== "object") return headers as Record<string, string>;
  return { ...headers, "content-length": String(sizeOfPieces(body)) };
}
