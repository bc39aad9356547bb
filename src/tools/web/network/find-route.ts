/**
 * How a hop gets to its host: the addresses that were resolved once and checked, or a proxy that the
 * user trusts. One bad address among many refuses the host: which one is dialled is the attacker's.
 */

import { isIP } from "node:net";
import { Failure } from "../../../base/failure.ts";
import { checkAddress, isOwnNetwork, type Why } from "./address-guard.ts";
import type { Route } from "./exchange.ts";
import { type Environment, findProxy } from "./proxy.ts";
import type { ResolveHost } from "./resolve-host.ts";
import { checkHost, refused, toHostName, toPort } from "./url-guard.ts";

export interface RouteRules {
  readonly resolve: ResolveHost;
  readonly privateHosts: readonly string[];
  readonly proxies: Environment | undefined;
  readonly allowsHost: (host: string) => boolean;
  readonly signal: AbortSignal;
}

/** Rejects with `Failure("forbidden")` for what must not be reached. */
export async function findRoute(url: URL, rules: RouteRules): Promise<Route> {
  const name = toHostName(url);
  if (!rules.allowsHost(name)) throw refused(name, "the run may not talk to it");
  const isLet = isLetThrough(url, rules.privateHosts);
  const why = isLet ? undefined : checkHost(url);
  if (why) throw refused(url.host, why);
  const proxy = rules.proxies && findProxy(url, rules.proxies);
  const addresses = await resolveOnce(name, rules, proxy !== undefined);
  for (const address of addresses) {
    const problem = checkAddress(address);
    if (problem && !(isLet && mayBeLet(name, problem))) throw refused(name, problem);
  }
  if (proxy) return { proxy };
  // To the system, no address at all is this machine.
  if (addresses.length === 0) throw new Failure("tool_failed", `\`${name}\` has no address.`);
  return { addresses };
}

/** By name, or by name and port, as the user wrote it. */
function isLetThrough(url: URL, hosts: readonly string[]): boolean {
  const name = toHostName(url);
  const forms = [name, `${name}:${toPort(url)}`, url.hostname, `${url.hostname}:${toPort(url)}`];
  return hosts.some((host) => forms.includes(host.toLowerCase()));
}

/** A name leads to the user's own network at most; anything else must be let through as an address. */
function mayBeLet(name: string, why: Why): boolean {
  return isIP(name) !== 0 || isOwnNetwork(why);
}

/** Behind a proxy this machine may know no names at all: what it does not know is the proxy's. */
async function resolveOnce(
  name: string,
  { resolve, signal }: RouteRules,
  isProxied: boolean,
): Promise<readonly string[]> {
  if (isIP(name) !== 0) return [name];
  if (!isProxied) return await resolve(name, signal);
  return await resolve(name, signal).catch((thrown) => {
    if (signal.aborted) throw thrown;
    return [];
  });
}
