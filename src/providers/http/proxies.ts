/** The proxies in the environment, and failures of one that opens no tunnel. */

import { Failure } from "../../base/failure.ts";

export interface Proxies {
  readonly http: string | undefined;
  readonly https: string | undefined;
}

export function readProxies(env: Readonly<Record<string, string | undefined>>): Proxies {
  const all = env["all_proxy"] ?? env["ALL_PROXY"];
  return {
    http: env["http_proxy"] ?? env["HTTP_PROXY"] ?? all,
    https: env["https_proxy"] ?? env["HTTPS_PROXY"] ?? all,
  };
}

/** The proxy for requests to `url`; undefined for hosts that need none. */
export function proxyFor({ http, https }: Proxies, url: string): URL | undefined {
  const named = url.startsWith("https:") ? https : http;
  return named && URL.canParse(named) ? new URL(named) : undefined;
}

/** Undici has no code of its own for a refused tunnel; its message has the status. */
export function refusedTunnel(message: string): number | undefined {
  const [, status] = /^Proxy response \((\d{3})\)/.exec(message) ?? [];
  return status === undefined ? undefined : Number(status);
}

/** Not retried: a proxy would refuse again, and wrong passwords lock accounts. */
export function toProxyFailure(
  status: number,
  proxy: URL | undefined,
  { host, cause }: { host: string; cause: unknown },
): Failure {
  const who = proxy ? `The proxy \`${proxy.host}\`` : "The proxy";
  const message = `${who} ${refusalOf(status, host, Boolean(proxy?.username))}`;
  return new Failure("provider_unreachable", message, { cause, retryable: status >= 500 });
}

function refusalOf(status: number, host: string, hasName: boolean): string {
  if (status === 407 && hasName) {
    return `does not take the name and password it was given (${status}). Check the proxy variable.`;
  }
  if (status === 407) {
    return `wants a name and a password (${status}). Set the proxy variable to http://NAME:PASSWORD@HOST:PORT.`;
  }
  if (status === 403) {
    return `lets nothing through to \`${host}\` (${status}). Ask its operator, or name the host in NO_PROXY.`;
  }
  if (status >= 500) return `did not reach \`${host}\` (${status}).`;
  return `opens no tunnel to \`${host}\` (${status}). Check the proxy variable.`;
}
