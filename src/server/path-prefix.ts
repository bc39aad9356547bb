/**
 * The path before all addresses (`server.path_prefix`), for a proxy that does not change paths. Monitoring asks the
 * process directly and not the proxy, so its addresses work without the prefix too.
 */

import { Failure } from "../base/failure.ts";
import { clip } from "../base/text.ts";
import { PATH_PREFIX } from "../runtime/config/config-row.ts";

/** Addresses for monitoring. They are also answered while the server stops. */
export const WATCHED: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** Removes the prefix from a path. Undefined if the prefix is required and missing. */
export function pathBehind(prefix: string, path: string): string | undefined {
  if (prefix === "" || WATCHED.has(path)) return path;
  if (path === prefix) return "/";
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined;
}

/** Removes the prefix from the path of a request. Rejects with `not_found` if it is missing. */
export function requirePath(prefix: string, path: string): string {
  const behind = pathBehind(prefix, path);
  if (behind !== undefined) return behind;
  const message = `There is nothing at \`${clip(path, 80)}\`. Addresses of this server begin with \`${prefix}\`.`;
  throw new Failure("not_found", message);
}

/** Returns `/keep` for `/keep/`, and an empty text for no prefix. Rejects what is not a path. */
export function parsePathPrefix(text: string): string {
  const prefix = text.trim().replace(/\/+$/, "");
  if (PATH_PREFIX.test(prefix)) return prefix;
  const message = `\`server.path_prefix\` is \`${clip(text, 60)}\`. Write a path such as \`/keep\`, of letters, digits and \`. _ ~ -\`.`;
  throw new Failure("invalid_request", message, { param: "server.path_prefix" });
}
