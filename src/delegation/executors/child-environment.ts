/** What of this process's environment a child process gets: what it is named, never all there is. */

import { commandVariables, type Variables } from "../../tools/sandbox/environment.ts";

/** Settings of ours, where files are, and where traces go. */
const PREFIXES = ["OFFSHOOT_", "OTEL_", "XDG_"];

/** The way to the network, and the trace it belongs to. */
const NAMES: ReadonlySet<string> = new Set([
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

/** `needed` are names beside those: of the key, of the address, of what its tools ask for. */
export function childVariables(
  env: Variables,
  needed: readonly string[],
): Readonly<Record<string, string>> {
  const named = Object.keys(env).filter(
    (name) => NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  return commandVariables(env, [...named, ...needed]);
}
