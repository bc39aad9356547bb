/**
 * The network for MCP servers that a client names: with the same guard as that of the web tools. A name is
 * resolved and checked when a connection is opened, and the connection goes to a checked address, so a
 * later change of the name has no effect.
 *
 * A redirect to another origin is refused, because it would send the client's headers to another server.
 */

import { isIP } from "node:net";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { Agent, buildConnector, type Dispatcher, ProxyAgent, fetch as send } from "undici";
import { Failure } from "../../base/failure.ts";
import { findRoute, type RouteRules } from "../web/network/find-route.ts";
import { type ResolveHost, resolveHost } from "../web/network/resolve-host.ts";
import { checkUrl, refused, toHostName, toPort } from "../web/network/url-guard.ts";
import type { OpenedFetch } from "./session/open-fetch.ts";

export interface GuardedNetwork {
  /** Hosts of private networks that may be reached nevertheless, by name or by name and port. */
  readonly privateHosts: readonly string[];
  /** The environment with the proxies, if they are used. */
  readonly proxies?: RouteRules["proxies"];
  /** The authorities to trust, in place of the runtime's. */
  readonly ca?: readonly string[] | undefined;
  readonly resolve?: ResolveHost | undefined;
}

interface FetchLimits {
  readonly connectMs: number;
  /** The longest wait for the beginning of an answer. */
  readonly answerMs: number;
}

const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

export function openGuardedFetch(network: GuardedNetwork, limits: FetchLimits): OpenedFetch {
  const closing = new AbortController();
  const rules: RouteRules = {
    resolve: network.resolve ?? resolveHost,
    privateHosts: network.privateHosts,
    proxies: network.proxies,
    allowsHost: () => true,
    signal: closing.signal,
  };
  const shared = { headersTimeout: limits.answerMs, bodyTimeout: 0 };
  const direct = new Agent({ ...shared, connect: createConnect(rules, network, limits) });
  const proxies = new Map<string, ProxyAgent>();

  async function findDispatcher(url: URL): Promise<Dispatcher> {
    const route = await findRoute(url, rules);
    if (!("proxy" in route)) return direct;
    const tls = network.ca ? { ca: [...network.ca] } : {};
    const known = proxies.get(route.proxy);
    const proxy =
      known ?? new ProxyAgent({ ...shared, uri: route.proxy, requestTls: tls, proxyTls: tls });
    proxies.set(route.proxy, proxy);
    return proxy;
  }

  return {
    fetch: (url, init) => follow(checkUrl(String(url)), init, findDispatcher),
    async close() {
      closing.abort(new Failure("cancelled", "The MCP servers are closed."));
      await Promise.all([direct, ...proxies.values()].map((agent) => agent.destroy()));
    },
  };
}

type Init = Parameters<FetchLike>[1];

async function follow(
  first: URL,
  init: Init,
  findDispatcher: (url: URL) => Promise<Dispatcher>,
): Promise<Response> {
  // The package's types of a request and those of Node differ only in name.
  const request = send as unknown as (url: URL, init: object) => Promise<Response>;
  let url = first;
  for (let hops = 0; ; hops++) {
    const dispatcher = await findDispatcher(url);
    const answer = await request(url, { ...init, redirect: "manual", dispatcher }).catch(rethrow);
    const location = REDIRECTS.has(answer.status) ? answer.headers.get("location") : null;
    if (location === null) return answer;
    await answer.body?.cancel();
    const next = checkUrl(location, url);
    if (next.origin !== url.origin) throw refused(next.host, "a redirect to another server");
    if (hops === MAX_REDIRECTS) throw refused(url.host, "it redirects in a circle");
    url = next;
  }
}

/** The guard's failure is the cause of the one from `fetch`. */
function rethrow(thrown: unknown): never {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  throw cause instanceof Failure ? cause : thrown;
}

/** Tries the addresses one after the other. TLS and the `Host` header keep the name. */
function createConnect(
  rules: RouteRules,
  { ca }: GuardedNetwork,
  { connectMs }: FetchLimits,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectMs,
    maxCachedSessions: 0,
    ...(ca ? { ca: [...ca] } : {}),
  });
  return (target, callback) => {
    const url = new URL(`${target.protocol}//${target.host ?? target.hostname}`);
    const name = toHostName(url);
    const attempt = ([address = "", ...rest]: readonly string[]): void => {
      const to = { ...target, hostname: address, port: String(toPort(url)) };
      // An address is not a server name, so TLS sends none.
      const named = isIP(name) === 0 ? { ...to, servername: name } : to;
      connect(named, (...[error, socket]) => {
        if (error && rest.length > 0) attempt(rest);
        else if (error) callback(error, null);
        else callback(null, socket);
      });
    };
    findRoute(url, { ...rules, proxies: undefined }).then(
      (route) => attempt("addresses" in route ? route.addresses : []),
      (thrown: Error) => callback(thrown, null),
    );
  };
}
