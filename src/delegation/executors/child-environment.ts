/** The part of this process's environment that a child process gets: only named variables, never all. */

import type { Environment } from "../../base/environment.ts";
import { storedIn, usesStored } from "../../base/stored-keys.ts";
import { commandVariables } from "../../tools/sandbox/environment.ts";
import { STORED_NAMES } from "./child-mark.ts";

/** The prefix of the variables that say where traces go. */
const PREFIX = "OTEL_";

/**
 * Variables that say where our files are, the log for operators, the way to the network, and the trace it belongs to.
 */
const NAMES: ReadonlySet<string> = new Set([
  "OFFSHOOT_CONFIG",
  "OFFSHOOT_DATA",
  "OFFSHOOT_LOG",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "http_proxy",
  "HTTP_PROXY",
  "https_proxy",
  "HTTPS_PROXY",
  "all_proxy",
  "ALL_PROXY",
  "no_proxy",
  "NO_PROXY",
  "TRACEPARENT",
  "TRACESTATE",
]);

/**
 * `needed` are names besides those above: from settings, for the key, the address and its tools. A needed stored key is
 * passed as its variable, named in `STORED_NAMES`: a child reads no stored keys itself.
 */
export function childVariables(
  env: Environment,
  needed: readonly string[],
): Readonly<Record<string, string>> {
  const named = Object.keys(env).filter((name) => NAMES.has(name) || name.startsWith(PREFIX));
  const stored = needed.filter((name) => usesStored(env, name));
  const keys = stored.map((name) => [name, storedIn(env, name) ?? ""]);
  if (stored.length > 0) keys.push([STORED_NAMES, stored.join(",")]);
  return { ...commandVariables(env, [...named, ...needed]), ...Object.fromEntries(keys) };
}
