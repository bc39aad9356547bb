/** Turns errors of a connection into a `Failure` that says what to check. */

import { Failure, type FailureCode } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { refusedTunnel, toProxyFailure } from "./proxies.ts";

/** `proxy` is the proxy between, if there is one: it may be the one that refuses or is down. */
export function toTransportFailure(thrown: unknown, url: string, proxy?: URL): Failure {
  if (thrown instanceof Failure) return thrown;
  if (!URL.canParse(url)) {
    const message = `\`${clip(url, 80)}\` is not an address. Give one such as http://127.0.0.1:8080/v1.`;
    return new Failure("invalid_request", message, { cause: thrown });
  }
  const { host } = new URL(url);
  const error = readCause(thrown);
  const { code, message } = error;
  const refusal = refusedTunnel(message);
  if (refusal !== undefined) return toProxyFailure(refusal, proxy, { host, cause: thrown });
  const missing = proxy && isAt(error, proxy, new URL(url)) ? MISSING_PROXY[code] : undefined;
  const [failure, text] = missing
    ? ([
        missing,
        `Nothing answers at the proxy \`${proxy?.host}\`. Check the proxy variable.`,
      ] as const)
    : meaningOf(code, host, message);
  return new Failure(failure, text, { cause: thrown });
}

/** True if an authority that the runtime does not know signed the server's certificate. */
export function isUntrusted(thrown: unknown): boolean {
  return UNTRUSTED.has(readCause(thrown).code);
}

const UNTRUSTED: ReadonlySet<string> = new Set([
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);

function meaningOf(code: string, host: string, message: string): readonly [FailureCode, string] {
  switch (code) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return [
        "host_unknown",
        `The host \`${host}\` does not resolve. Check the URL and the network.`,
      ];
    case "ECONNREFUSED":
      return ["provider_unreachable", `Nothing answers at \`${host}\`. Is the server running?`];
    case "UND_ERR_CONNECT_TIMEOUT":
      return ["provider_timeout", `No connection to \`${host}\` within its limit.`];
    case "UND_ERR_HEADERS_TIMEOUT":
      return [
        "provider_timeout",
        `\`${host}\` did not begin to answer within its limit (\`first_byte_timeout_ms\`).`,
      ];
    case "UND_ERR_BODY_TIMEOUT":
      return [
        "provider_timeout",
        `\`${host}\` fell silent in the middle of its answer (\`idle_timeout_ms\`).`,
      ];
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
    // Never our own abort, which arrives as the failure that caused it.
    case "UND_ERR_ABORTED":
      return [
        "provider_unreachable",
        `The connection to \`${host}\` was lost before the answer's end.`,
      ];
    default:
      break;
  }
  if (UNTRUSTED.has(code) || code.startsWith("ERR_TLS") || code.startsWith("CERT_")) {
    return [
      "provider_rejected",
      `The certificate of \`${host}\` is not trusted (${code}). Set SSL_CERT_FILE to your CA bundle.`,
    ];
  }
  if (code.startsWith("HPE_") || code.startsWith("UND_ERR_RES")) {
    return ["provider_broke_protocol", `\`${host}\` did not answer in HTTP: ${message}`];
  }
  return ["provider_unreachable", `The connection to \`${host}\` failed: ${message || code}`];
}

const MISSING_PROXY: Readonly<Record<string, FailureCode | undefined>> = {
  ENOTFOUND: "host_unknown",
  EAI_AGAIN: "host_unknown",
  ECONNREFUSED: "provider_unreachable",
};

/** True if the connection was to the proxy: it has the proxy's name, or a port that only the proxy uses. */
function isAt({ hostname, port }: Cause, proxy: URL, server: URL): boolean {
  if (hostname !== undefined) return hostname === proxy.hostname;
  return port === portOf(proxy) && port !== portOf(server);
}

function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === "https:" ? 443 : 80);
}

interface Cause {
  readonly code: string;
  readonly message: string;
  readonly hostname: unknown;
  readonly port: unknown;
}

/** The innermost error with a code: undici and Node wrap errors, and join the attempts of several addresses. */
function readCause(thrown: unknown): Cause {
  let error = thrown as Partial<Cause> & { cause?: unknown; errors?: unknown[] };
  for (let depth = 0; depth < 5 && typeof error?.code !== "string"; depth++) {
    const inner = error?.errors?.[0] ?? error?.cause;
    if (!inner) break;
    error = inner as typeof error;
  }
  const code = typeof error?.code === "string" ? error.code : "";
  const { hostname, port } = error ?? {};
  return { code, message: error?.message ?? String(thrown), hostname, port };
}
