/**
 * One request and its answer over a connection of its own, to a checked address.
 *
 * The name is never looked up again: the connection uses the address, TLS and the `Host` header keep the
 * name.
 */

import { isIP } from "node:net";
import { buildConnector, Client, type Dispatcher, ProxyAgent } from "undici";
import { ACCEPT_ENCODING, readBody } from "./body-reader.ts";
import { toHostName, toPort } from "./url-guard.ts";
import type { Dial, WebAnswer, WebLimits } from "./web-answer.ts";
import { toWebFailure } from "./web-failure.ts";

export interface HopRequest {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that the caller adds, with its keys: they are sent to their origin only. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Addresses in the order in which to try them, at least one. A proxy gets the name. */
export type NetworkRoute = { readonly addresses: readonly string[] } | { readonly proxy: string };

export interface ExchangeParts {
  readonly route: NetworkRoute;
  readonly limits: WebLimits;
  readonly dial: Dial | undefined;
  readonly ca: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

export interface Exchanged extends Omit<WebAnswer, "url"> {
  /** The target of a redirect, as the server wrote it. */
  readonly location: string | undefined;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Rejects with `Failure("tool_failed")` if no complete answer comes. */
export async function exchange(request: HopRequest, line: ExchangeParts): Promise<Exchanged> {
  const dispatcher = openDispatcher(request.url, line);
  try {
    const answer = await send(dispatcher, request, line);
    const headers = joinHeaders(answer.headers);
    const location = REDIRECTS.has(answer.statusCode) ? headers["location"] : undefined;
    const shared = {
      status: answer.statusCode,
      headers,
      contentType: headers["content-type"] ?? "",
      location,
    };
    // The page of a redirect is not needed.
    if (location) return { ...shared, body: Buffer.alloc(0), isCut: false };
    return { ...shared, ...(await readBody(answer.body, headers, line.limits)) };
  } catch (thrown) {
    throw toWebFailure(thrown, toHostName(request.url), line.signal);
  } finally {
    await dispatcher.destroy();
  }
}

function send(
  dispatcher: Dispatcher,
  request: HopRequest,
  { signal, limits }: ExchangeParts,
): Promise<Dispatcher.ResponseData> {
  const { url, method, headers, ownHeaders, body } = request;
  return dispatcher.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: { "accept-encoding": ACCEPT_ENCODING, ...headers, ...ownHeaders },
    body: body ?? null,
    signal,
    headersTimeout: limits.totalMs,
    bodyTimeout: limits.totalMs,
  });
}

function openDispatcher(url: URL, line: ExchangeParts): Dispatcher {
  const { route, limits, ca } = line;
  const tls = { timeout: limits.connectMs, ...(ca ? { ca: [...ca] } : {}) };
  const shared = { maxHeaderSize: limits.headerBytes, pipelining: 1 };
  if ("proxy" in route) {
    return new ProxyAgent({ ...shared, uri: route.proxy, requestTls: tls, proxyTls: tls });
  }
  return new Client(url.origin, { ...shared, connect: pinned(url, route.addresses, line) });
}

/** Tries the addresses one after the other; a machine without IPv6 fails at once on the first. */
function pinned(
  url: URL,
  addresses: readonly string[],
  { limits, ca, dial }: ExchangeParts,
): buildConnector.connector {
  const name = toHostName(url);
  const connect = buildConnector({
    timeout: limits.connectMs,
    maxCachedSessions: 0,
    ...(ca ? { ca: [...ca] } : {}),
  });
  return (target, callback) => {
    const attempt = ([address = "", ...rest]: readonly string[]): void => {
      const place = dial?.(address, toPort(url)) ?? { host: address, port: toPort(url) };
      const to = { ...target, hostname: place.host, port: String(place.port) };
      // An address is not a server name, so TLS sends none.
      const named = isIP(name) === 0 ? { ...to, servername: name } : to;
      connect(named, (...[error, socket]) => {
        if (error && rest.length > 0) attempt(rest);
        else if (error) callback(error, null);
        else callback(null, socket);
      });
    };
    attempt(addresses);
  };
}

function joinHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string | undefined> {
  const entries = Object.entries(headers);
  // If a header that must come once is repeated, the first one counts.
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}
