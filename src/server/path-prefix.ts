/**
 * The path in front of all addresses (`server.path_prefix`), for a proxy that passes paths on as they are.
 * What watches the process asks it and not the proxy: its addresses work without the prefix, too.
 */

import { Failure } from "../base/failure.ts";
import { clip } from "../base/text.ts";
import { PATH_PREFIX } from "../runtime/config/config-row.ts";

/** Asked by what watches the process, and answered while it stops. */
export const WATCHED: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** The path of an address behind the prefix. Undefined where the prefix is not there and is needed. */
export function pathBehind(prefix: string, path: string): string | undefined {
  if (prefix === "" || WATCHED.has(path)) return path;
  if (path === prefix) return "/";
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined;
}

/** The same for an address that is asked. Rejects with `not_found`. */
export function requirePath(prefix: string, path: string): string {
  const behind = pathBehind(prefix, path);
  if (behind !== undefined) return behind;
  const message = `There is nothing at \`${clip(path, 80)}\`. Addresses of this server begin with \`${prefix}\`.`;
  throw new Failure("not_found", message);
}

/** `/keep` of `/keep/`; empty for none. Rejects what is no path. */
export function parsePathPrefix(text: string): string {
  const prefix = text.trim().replace(/\/+$/, "");
  if (PATH_PREFIX.test(prefix)) return prefix;
  const message = `\`server.path_prefix\` is \`${clip(text, 60)}\`. Write a path such as \`/keep\`, of letters, digits and \`. _ ~ -\`.`;
  throw new Failure("invalid_request", message, { param: "server.path_prefix" });
}
