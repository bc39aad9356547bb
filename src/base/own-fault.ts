/**
 * Faults that are this server's own. Whoever asks it is told that there is one: their messages are for
 * those who run it, and may name paths of its machine.
 */

import type { FailureCode } from "./failure.ts";

const TOLD: Partial<Record<FailureCode, string>> = {
  internal: "Something went wrong inside.",
  store_failed: "The server cannot write its record.",
  store_full: "The server has no room to write its record.",
  store_busy: "The server's record is locked by another program. Try again.",
};

interface Fault {
  readonly code: FailureCode;
  readonly message: string;
}

/** Whether whoever runs the server must see to it. */
export function isOwnFault({ code }: Fault): boolean {
  return TOLD[code] !== undefined;
}

/** What a client is told. Where this server's models are is not for clients to know. */
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
/** Advice for whoever set the address. */
const MOVED = / Use \S+ as the URL\.$/;
