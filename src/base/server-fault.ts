/**
 * Faults of this server itself. A client learns only that there is one: the full messages are for the
 * operator, and may name paths of the machine.
 */

import type { FailureCode } from "./failure.ts";

const TOLD: Partial<Record<FailureCode, string>> = {
  internal: "Something went wrong inside.",
  store_failed: "The server cannot write its record.",
  store_full: "The server has no room to write its record.",
  store_refused: "The server may not use its record.",
  store_busy: "The server's record is locked by another program. Try again.",
};

interface Fault {
  readonly code: FailureCode;
  readonly message: string;
}

/** True for a fault that the operator must look at. */
export function isOwnFault({ code }: Fault): boolean {
  return TOLD[code] !== undefined;
}

/** The message for a client. It does not say where the server's models are. */
export function toToldMessage({ code, message }: Fault): string {
  const told = TOLD[code] ?? message;
  if (!code.startsWith("provider_") && code !== "host_unknown") return told;
  return told
    .replace(UNKNOWN_HOST, "The host of the model's server")
    .replace(CONNECTION, (_, begin: string) => `${begin}the model's server`)
    .replace(MOVED, "");
}

const UNKNOWN_HOST = /^The host `[^`\s]+`/;
/** The host in a sentence about a connection (`transport-failure.ts`). */
const CONNECTION =
  /^((?:Nothing answers at |No connection to |The certificate of |The connection to )?)`[^`\s]+`/;
/** Advice for the person who set the address. */
const MOVED = / Use \S+ as the URL\.$/;
