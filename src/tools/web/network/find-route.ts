/**
 * Finds how a hop reaches its host: by addresses that were resolved once and checked, or through a proxy
 * that the user trusts. One bad address among several refuses the host, because an attacker could choose
 * which one is used.
 */

import { isIP } from "node:net";
import type { Environment } from "../../../base/environment.ts";
import { Failure } from "../../../base/failure.ts";
import { type AddressFault, checkAddress, isOwnNetwork } from "./address-guard.ts";
import type { NetworkRoute } from "./exchange.ts";
import type { ResolveHost } from "./resolve-host.ts";
import { checkHost, refused, toHostName, toPort } from "./url-guard.ts";

export interface RouteRules {
  readonly resolve: ResolveHost;
  readonly privateHosts: readonly string[];
  readonly proxies: Environment | undefined;
  readonly allowsHost: (host: string) => boolean;
  readonly signal: AbortSignal;
}

/** Rejects with `Failure("forbidden")` for a host that must not be reached. */
export async function findRoute(url: URL, rules: RouteRules): Promise<NetworkRoute> {
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
  // To the system, an empty list of addresses means this machine.
  if (addresses.length === 0) throw new Failure("tool_failed", `\`${name}\` has no address.`);
  return { addresses };
}

/** True if the user has allowed the host, by name or by name and port. */
function isLetThrough(url: URL, hosts: readonly string[]): boolean {
  const name = toHostName(url);
  const forms = [name, `${name}:${toPort(url)}`, url.hostname, `${url.hostname}:${toPort(url)}`];
  return hosts.some((host) => forms.includes(host.toLowerCase()));
}

/** A name may lead to the user's own network at most; any other range must be allowed as an address. */
function mayBeLet(name: string, why: AddressFault): boolean {
  return isIP(name) !== 0 || isOwnNetwork(why);
}

/** If there is a proxy, this machine may not resolve any names, so unknown names are left to the proxy. */
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

/** Finds the proxy for a URL in the environment, by the variables that other programs use. */
export function findProxy(url: URL, env: Environment): string | undefined {
  const read = (name: string): string | undefined =>
    env[name] || env[name.toUpperCase()] || undefined;
  if (isExcepted(url, read("no_proxy") ?? "")) return undefined;
  return read(url.protocol === "https:" ? "https_proxy" : "http_proxy") ?? read("all_proxy");
}

/** The exceptions are `*`, or names that include the names below them, each with a port or without. */
function isExcepted(url: URL, list: string): boolean {
  const name = toHostName(url);
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (port && Number(port) !== toPort(url)) return false;
      const end = host.replace(/^\*?\./, "").replace(/^\[|\]$/g, "");
      return name === end || name.endsWith(`.${end}`);
    });
}
