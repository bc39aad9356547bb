/** Failures on the way to a server, in words for a model. */

import { toAbortFailure } from "../../../base/async.ts";
import { Failure } from "../../../base/failure.ts";

export function toWebFailure(thrown: unknown, host: string, signal: AbortSignal): Failure {
  if (signal.aborted) return toAbortFailure(signal);
  if (thrown instanceof Failure) return thrown;
  const { code, message } = readCause(thrown);
  return new Failure("tool_failed", tell(code, host, message), { cause: thrown });
}

function tell(code: string, host: string, message: string): string {
  const known = MESSAGES[code];
  if (known) return `\`${host}\` ${known}.`;
  if (/^(ERR_TLS|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/.test(code)) {
    return `The certificate of \`${host}\` is not trusted (${code}).`;
  }
  if (/^(Z_|ERR__ERROR_FORMAT|ERR_BROTLI|ERR_ZSTD|ERR_PADDING)/.test(code)) {
    return `The answer of \`${host}\` cannot be decompressed.`;
  }
  if (/^(HPE_|HTTPParserError|UND_ERR_RES|UND_ERR_REQ)/.test(code)) {
    return `\`${host}\` does not answer in HTTP: ${message}`;
  }
  return `The connection to \`${host}\` failed: ${message || code}`;
}

const MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refuses connections",
  EHOSTUNREACH: "cannot be reached from here",
  ENETUNREACH: "cannot be reached from here",
  ETIMEDOUT: "does not answer",
  UND_ERR_CONNECT_TIMEOUT: "does not answer",
  UND_ERR_HEADERS_TIMEOUT: "does not begin to answer",
  UND_ERR_BODY_TIMEOUT: "fell silent in the middle of its answer",
  UND_ERR_HEADERS_OVERFLOW: "sends too many headers",
  HPE_HEADER_OVERFLOW: "sends too many headers",
  ECONNRESET: "closed the connection before its answer's end",
  EPIPE: "closed the connection before its answer's end",
  UND_ERR_SOCKET: "closed the connection before its answer's end",
};

/** The innermost error with a code: undici and Node wrap errors. */
function readCause(thrown: unknown): { code: string; message: string } {
  let error = thrown as { code?: unknown; name?: string; message?: string; cause?: unknown };
  for (let depth = 0; depth < 5 && typeof error?.code !== "string" && error?.cause; depth++) {
    error = error.cause as typeof error;
  }
  // Undici's parser sets no code for text that is not HTTP; the error's name says it.
  const code = typeof error?.code === "string" ? error.code : (error?.name ?? "");
  return { code, message: error?.message ?? String(thrown) };
}
