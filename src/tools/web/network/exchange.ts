/**
 * One request and its answer over a connection of its own, to an address that was checked.
 *
 * The name is never looked up again: the connection is given the address, TLS and the `Host` header
 * keep the name.
 */

import { isIP } from "node:net";
import { buildConnector, Client, type Dispatcher, ProxyAgent } from "undici";
import { ACCEPT_ENCODING, readBody } from "./body-reader.ts";
import { toHostName, toPort } from "./url-guard.ts";
import type { Dial, WebAnswer, WebLimits } from "./web-client.ts";
import { toWebFailure } from "./web-failure.ts";

export interface HopRequest {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  /** What the caller adds, with its keys: it stays with its origin. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Addresses in the order in which to try them, never none. A proxy gets the name. */
export type Route = { readonly addresses: readonly string[] } | { readonly proxy: string };

export interface Line {
  readonly route: Route;
  readonly limits: WebLimits;
  readonly dial: Dial | undefined;
  readonly ca: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

export interface Exchanged extends Omit<WebAnswer, "url"> {
  /** Where a redirect leads, as the server wrote it. */
  readonly location: string | undefined;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Rejects with `Failure("tool_failed")` when there is no whole answer. */
export async function exchange(request: HopRequest, line: Line): Promise<Exchanged> {
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
    // A redirect's own page is nobody's business.
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
  { signal, limits }: Line,
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

function openDispatcher(url: URL, line: Line): Dispatcher {
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
  { limits, ca, dial }: Line,
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
      // An address is no server name: TLS has nothing to send then.
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
  // Of a header that must come once, the first counts.
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}
