/** The meaning of Postgres's errors for a store: in one place, by the standard's codes. */

import { Failure, toFailure } from "../../base/failure.ts";

/**
 * `away`: it does not answer, or stopped answering. `again`: it answers, and the same would work now. `insecure`: no
 * connection with the encryption that the address asks for. `repeated`: a row with this name exists already.
 */
export type PostgresFault =
  | "away"
  | "again"
  | "full"
  | "refused"
  | "insecure"
  | "damaged"
  | "repeated"
  | "other";

const FAULTS: Readonly<Record<string, PostgresFault>> = {
  "23505": "repeated",
  // A standby, or a server that its operator has closed for writing.
  "25006": "away",
  "25P03": "away",
  "28000": "refused",
  "28P01": "refused",
  "3D000": "refused",
  "3F000": "refused",
  "40001": "again",
  "40P01": "again",
  "42501": "refused",
  "53100": "full",
  "53200": "away",
  "53300": "away",
  "53400": "full",
  "55P03": "again",
  "57P01": "away",
  "57P02": "away",
  "57P03": "away",
  "57P05": "away",
  "58030": "full",
  XX001: "damaged",
  XX002: "damaged",
};

/** The codes of the system and of the driver for a connection that is lost or too slow. */
const AWAY_CODES = /^(E(CONN\w+|PIPE|HOSTUNREACH|NETUNREACH|TIMEDOUT|AI_AGAIN)|ENOTFOUND|ENOENT)$/;
const AWAY_WORDS =
  /connection (terminated|error|timeout)|timeout (exceeded|expired)|read timeout|not queryable/i;

/** The codes of Node.js for a certificate that it does not accept, and the driver's words. */
const INSECURE_CODES = /CERT|UNABLE_TO_VERIFY|^ERR_(TLS|SSL)|^EPROTO$/;
const INSECURE_WORDS = /does not support SSL|establishing an SSL connection/;

/** The message of the driver when the server asks for a password and there is none. */
const NO_PASSWORD = /password must be a string/i;

export function faultOf(thrown: unknown): PostgresFault {
  if (!(thrown instanceof Error)) return "other";
  // Several addresses of one name were tried.
  if (thrown instanceof AggregateError) return faultOf(thrown.errors[0]);
  const code = "code" in thrown ? String(thrown.code) : "";
  const known = FAULTS[code];
  if (known) return known;
  // A certificate or a key that the address names. A missing socket of the database has the same code.
  if (code === "EISDIR" || ("syscall" in thrown && thrown.syscall === "open")) return "insecure";
  if (NO_PASSWORD.test(thrown.message)) return "refused";
  if (INSECURE_CODES.test(code) || INSECURE_WORDS.test(thrown.message)) return "insecure";
  if (code.startsWith("08") || AWAY_CODES.test(code) || AWAY_WORDS.test(thrown.message)) {
    return "away";
  }
  return "other";
}

/** `name` is the address without its secrets. */
export function toStoreFailure(name: string, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  const reason = reasonOf(cause);
  switch (faultOf(cause)) {
    case "away":
      return toAway(name, reason, cause);
    case "again": {
      const message = `The store \`${name}\` is locked by another program. Let it end its transaction, then try again.`;
      return new Failure("store_busy", message, { cause, retryAfterMs: 1000 });
    }
    case "full": {
      const message = `The store \`${name}\` could not be written: ${reason}. Free some space on its disk.`;
      return new Failure("store_full", message, { cause });
    }
    case "refused":
      return toRefused(name, reason, cause);
    case "insecure": {
      const message = `The store \`${name}\` cannot be used: ${reason}. Check \`sslmode\` and \`sslrootcert\` in its address, and the certificate of the database.`;
      return new Failure("store_refused", message, { cause });
    }
    case "damaged": {
      const message = `The store \`${name}\` is damaged: ${reason}. Restore a backup.`;
      return new Failure("store_failed", message, { cause });
    }
    case "repeated":
    case "other": {
      const message = `The store \`${name}\` could not be written: ${reason}.`;
      return new Failure("store_failed", message, { cause });
    }
  }
}

/** For a database that has said nothing for longer than its caller waits. */
export function toSilent(name: string): Failure {
  return toAway(name, "it is silent");
}

function toAway(name: string, reason: string, cause?: unknown): Failure {
  const message = `The store \`${name}\` does not answer (${reason}). Start the database, or check the address.`;
  return new Failure("store_busy", message, { cause, retryAfterMs: 1000 });
}

export function toRefused(name: string, reason: string, cause?: unknown): Failure {
  const message = `The store \`${name}\` cannot be used: ${reason}. Check the user, the password, the name of the database and the rights in it.`;
  return new Failure("store_refused", message, { cause });
}

/** The first line of the message, without its last dot: it is used inside a sentence. */
function reasonOf(cause: unknown): string {
  const first = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (first instanceof Error && NO_PASSWORD.test(first.message)) return "it asks for a password";
  const [line = ""] = toFailure(first).message.split("\n");
  return line.replace(/\.$/, "") || "no reason was given";
}
