/** What of this process's environment a child process gets: what it is named, never all there is. */

import { commandVariables, type Variables } from "../../tools/sandbox/environment.ts";

/** Where traces go. */
const PREFIX = "OTEL_";

/** Where our files are, the log for operators, the way to the network, and the trace it belongs to. */
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

/** `needed` are names beside those: of settings, of the key, of the address, of what its tools ask for. */
export function childVariables(
  env: Variables,
  needed: readonly string[],
): Readonly<Record<string, string>> {
  const named = Object.keys(env).filter((name) => NAMES.has(name) || name.startsWith(PREFIX));
  return commandVariables(env, [...named, ...needed]);
}
