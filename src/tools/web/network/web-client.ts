/**
 * The web as the tools reach it: http and https to public addresses, with limits on everything a
 * server decides.
 *
 * A host is resolved once a hop, all its addresses are checked, and the connection goes to one of
 * those; a redirect is a new hop with the same checks. No cookies are kept, and headers that a caller
 * adds go to the first origin alone.
 */

import { throwIfAborted, toAbortFailure } from "../../../base/async.ts";
import type { Clock } from "../../../base/clock.ts";
import { Failure } from "../../../base/failure.ts";
import type { Kept } from "../../scope.ts";
import { type Exchanged, exchange, type HopRequest, type Route } from "./exchange.ts";
import { findRoute } from "./find-route.ts";
import type { Environment } from "./proxy.ts";
import { createRequestRate } from "./request-rate.ts";
import type { ResolveHost } from "./resolve-host.ts";
import { createRobots } from "./robots.ts";
import { checkUrl } from "./url-guard.ts";

export interface WebClient extends Kept {
  /**
   * A page or file, wherever its redirects lead. Resolves whatever the status says. Rejects with
   * `forbidden` for what is refused, with `tool_failed` when there is no answer.
   */
  get(url: string, options: GetOptions): Promise<WebAnswer>;
  /** A call of an API, whose URL, headers and body may hold keys: no redirect leaves its origin. */
  request(request: ApiRequest): Promise<WebAnswer>;
}

interface Asking {
  readonly signal: AbortSignal;
  /** Whether the run's grant and rules let it talk to this host; asked for every hop. */
  readonly allowsHost: (host: string) => boolean;
}

export interface GetOptions extends Asking {
  readonly accept?: string;
  /** For the first origin alone. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiRequest extends Asking {
  readonly url: string;
  readonly method: "GET" | "POST";
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Hosts let through although private, beside the client's: an address that the user configured. */
  readonly privateHosts?: readonly string[];
}

export interface WebAnswer {
  /** Where the last redirect led. */
  readonly url: string;
  readonly status: number;
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As the server wrote it; empty where it did not say. */
  readonly contentType: string;
  /** Decompressed. */
  readonly body: Buffer;
  /** Whether a limit ended the body before its end. */
  readonly isCut: boolean;
}

export interface WebClientParts {
  readonly clock: Clock;
  readonly resolve: ResolveHost;
  /** Where a checked address is reached: a test leads it to a server of its own. */
  readonly dial?: Dial | undefined;
  /** Hosts let through although private: `wiki.lan`, `localhost:8080`. */
  readonly privateHosts: readonly string[];
  readonly userAgent: string;
  readonly respectRobots: boolean;
  /** Where proxies are named; undefined to use none: what a proxy resolves cannot be checked. */
  readonly proxies?: Environment | undefined;
  /** The authorities to trust, in place of the runtime's. */
  readonly ca?: readonly string[] | undefined;
  readonly limits?: Partial<WebLimits>;
}

export type Dial = (address: string, port: number) => { host: string; port: number };

export interface WebLimits {
  readonly wireBytes: number;
  readonly plainBytes: number;
  readonly headerBytes: number;
  readonly connectMs: number;
  /** One `get` or `request` in all, its redirects included. */
  readonly totalMs: number;
  readonly redirects: number;
  readonly perMinute: number;
}

/** A long page is one megabyte; the plain size is for compressed data sets. */
const LIMITS: WebLimits = {
  wireBytes: 5 * 1024 * 1024,
  plainBytes: 20 * 1024 * 1024,
  headerBytes: 32 * 1024,
  connectMs: 10_000,
  totalMs: 30_000,
  redirects: 5,
  perMinute: 120,
};

/** A client keeps no connections between calls: each one goes to addresses checked for it. */
export function createWebClient(parts: WebClientParts): WebClient {
  const limits = { ...LIMITS, ...parts.limits };
  const rate = createRequestRate(parts.clock, limits.perMinute);
  const travel = { parts, limits };
  const robots = createRobots((url, asking) => follow({ ...travel, asking }, toGet(url, {})));

  async function bounded(
    asking: Asking,
    work: (asking: Asking) => Promise<WebAnswer>,
  ): Promise<WebAnswer> {
    throwIfAborted(asking.signal);
    rate.take();
    return await within(limits.totalMs, parts.clock, asking, work);
  }

  return {
    get: (url, options) =>
      bounded(options, (asking) => {
        const beforeHop = (next: URL): Promise<void> => robots.check(next, asking);
        const isPolite = parts.respectRobots;
        return follow(
          { ...travel, asking, ...(isPolite ? { beforeHop } : {}) },
          toGet(url, options),
        );
      }),
    request: (request) =>
      bounded(request, (asking) => {
        const { privateHosts = [] } = request;
        return follow({ ...travel, asking, privateHosts, staysAtOrigin: true }, toCall(request));
      }),
    close: async () => {},
  };
}

interface Travel {
  readonly parts: WebClientParts;
  readonly limits: WebLimits;
  readonly asking: Asking;
  readonly privateHosts?: readonly string[];
  readonly staysAtOrigin?: true;
  beforeHop?(url: URL): Promise<void>;
}

function toGet(url: string, { accept = "*/*", headers = {} }: Partial<GetOptions>): HopRequest {
  return { url: checkUrl(url), method: "GET", headers: { accept }, ownHeaders: headers };
}

function toCall({ url, method, headers, body }: ApiRequest): HopRequest {
  return { url: checkUrl(url), method, headers: {}, ownHeaders: headers, body };
}

async function follow(travel: Travel, first: HopRequest): Promise<WebAnswer> {
  let request = first;
  for (let hops = 0; hops <= travel.limits.redirects; hops++) {
    await travel.beforeHop?.(request.url);
    const answer = await take(travel, request);
    if (!answer.location) return { ...answer, url: request.url.href };
    request = redirect(request, answer.status, answer.location);
    if (travel.staysAtOrigin && request.url.origin !== first.url.origin) {
      const message = `\`${first.url.host}\` sends its callers on to \`${request.url.host}\`. Keys are not sent to another server.`;
      throw new Failure("forbidden", message);
    }
  }
  const message = `\`${first.url.host}\` redirects more than ${travel.limits.redirects} times.`;
  throw new Failure("tool_failed", message);
}

async function take(travel: Travel, request: HopRequest): Promise<Exchanged> {
  const { parts, limits, asking, privateHosts = [] } = travel;
  const { dial, ca, userAgent } = parts;
  const route: Route = await findRoute(request.url, {
    resolve: parts.resolve,
    proxies: parts.proxies,
    privateHosts: [...parts.privateHosts, ...privateHosts],
    ...asking,
  });
  const headers = { "user-agent": userAgent, ...request.headers };
  return await exchange(
    { ...request, headers },
    { route, limits, dial, ca, signal: asking.signal },
  );
}

/** As browsers do: only 307 and 308 keep the method and the body. */
function redirect(request: HopRequest, status: number, location: string): HopRequest {
  const url = checkUrl(location, request.url);
  if (url.hash === "") url.hash = request.url.hash;
  const keepsBody = status === 307 || status === 308 || request.method === "GET";
  const isSameOrigin = url.origin === request.url.origin;
  return {
    url,
    method: keepsBody ? request.method : "GET",
    headers: request.headers,
    ownHeaders: isSameOrigin ? request.ownHeaders : {},
    body: keepsBody && isSameOrigin ? request.body : undefined,
  };
}

/** Runs `work` with a signal that also aborts when the time is over. */
async function within<Result>(
  limitMs: number,
  clock: Clock,
  asking: Asking,
  work: (asking: Asking) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const over = new AbortController();
  const signal = AbortSignal.any([asking.signal, late.signal]);
  const message = `There was no whole answer within ${limitMs / 1000} s.`;
  clock.sleep(limitMs, over.signal).then(
    () => late.abort(new Failure("tool_failed", message)),
    // Its end was not needed.
    () => {},
  );
  try {
    return await work({ ...asking, signal });
  } catch (thrown) {
    if (signal.aborted) throw toAbortFailure(signal);
    throw thrown;
  } finally {
    over.abort();
  }
}
