/**
 * The web client of the tools: http and https to public addresses, with limits on everything that a server
 * decides.
 *
 * A host is resolved once for each hop, all its addresses are checked, and the connection goes to one of
 * those. A redirect is a new hop with the same checks. No cookies are kept, and headers that a caller adds
 * go to the first origin only.
 */

import { throwIfAborted, toAbortFailure } from "../../../base/async.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Environment } from "../../../base/environment.ts";
import { Failure } from "../../../base/failure.ts";
import type { ScopedResource } from "../../scope.ts";
import { type Exchanged, exchange, type HopRequest, type NetworkRoute } from "./exchange.ts";
import { findRoute } from "./find-route.ts";
import type { ResolveHost } from "./resolve-host.ts";
import { createRobots } from "./robots.ts";
import { checkUrl } from "./url-guard.ts";
import type { ApiRequest, Dial, GetOptions, WebAnswer, WebCall, WebLimits } from "./web-answer.ts";

export interface WebClient extends ScopedResource {
  /**
   * Reads a page or file, after its redirects. Resolves with every status. Rejects with `forbidden` if it
   * is refused, with `tool_failed` if no answer comes.
   */
  get(url: string, options: GetOptions): Promise<WebAnswer>;
  /** Calls an API, whose URL, headers and body may contain keys: no redirect may leave its origin. */
  request(request: ApiRequest): Promise<WebAnswer>;
}

export interface WebClientParts {
  readonly clock: Clock;
  readonly resolve: ResolveHost;
  /** Connects to a checked address; a test replaces it to use a server of its own. */
  readonly dial?: Dial | undefined;
  /** Private hosts that are allowed: `wiki.lan`, `localhost:8080`. */
  readonly privateHosts: readonly string[];
  readonly userAgent: string;
  readonly respectRobots: boolean;
  /**
   * The environment with the proxies; undefined to use none, because addresses that a proxy resolves cannot
   * be checked.
   */
  readonly proxies?: Environment | undefined;
  /** The authorities to trust, in place of the runtime's. */
  readonly ca?: readonly string[] | undefined;
  readonly limits?: Partial<WebLimits>;
}

/** A long page is one megabyte; the size after decompression is for compressed data sets. */
const LIMITS: WebLimits = {
  wireBytes: 5 * 1024 * 1024,
  plainBytes: 20 * 1024 * 1024,
  headerBytes: 32 * 1024,
  connectMs: 10_000,
  totalMs: 30_000,
  redirects: 5,
  perMinute: 120,
};

/** Creates a client. It keeps no connections between calls: each call goes to addresses checked for it. */
export function createWebClient(parts: WebClientParts): WebClient {
  const limits = { ...LIMITS, ...parts.limits };
  const rate = createRequestRate(parts.clock, limits.perMinute);
  const travel = { parts, limits };
  const robots = createRobots((url, asking) => follow({ ...travel, asking }, toGet(url, {})));

  async function bounded(
    asking: WebCall,
    work: (asking: WebCall) => Promise<WebAnswer>,
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
  readonly asking: WebCall;
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
      const message = `\`${first.url.host}\` redirects to \`${request.url.host}\`. Keys are not sent to another server.`;
      throw new Failure("forbidden", message);
    }
  }
  const message = `\`${first.url.host}\` redirects more than ${travel.limits.redirects} times.`;
  throw new Failure("tool_failed", message);
}

async function take(travel: Travel, request: HopRequest): Promise<Exchanged> {
  const { parts, limits, asking, privateHosts = [] } = travel;
  const { dial, ca, userAgent } = parts;
  const route: NetworkRoute = await findRoute(request.url, {
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

/** Like browsers: only 307 and 308 keep the method and the body. */
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
  asking: WebCall,
  work: (asking: WebCall) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const over = new AbortController();
  const signal = AbortSignal.any([asking.signal, late.signal]);
  const message = `There was no complete answer within ${limitMs / 1000} s.`;
  clock.sleep(limitMs, over.signal).then(
    () => late.abort(new Failure("tool_failed", message)),
    // The rest of the wait is not needed.
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

/** Limits how often a run may make web requests: a model in a loop must not flood a server. */
interface RequestRate {
  /** Counts one request. Throws `Failure("tool_failed")` if the limit of the last minute is reached. */
  take(): void;
}

const MINUTE_MS = 60_000;

function createRequestRate(clock: Clock, perMinute: number): RequestRate {
  /** Times of the last minute, oldest first. */
  const taken: number[] = [];

  return {
    take() {
      const nowMs = clock.now();
      while ((taken[0] ?? nowMs) <= nowMs - MINUTE_MS) taken.shift();
      const [oldest = nowMs] = taken;
      if (taken.length >= perMinute) {
        const waitS = Math.ceil((oldest + MINUTE_MS - nowMs) / 1000);
        const message = `The run has made ${perMinute} web requests within a minute. Try again in ${waitS} s.`;
        throw new Failure("tool_failed", message);
      }
      taken.push(nowMs);
    },
  };
}
