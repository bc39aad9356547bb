/**
 * Tells a client that took its call back from one that waited too long. The SDKs send the same message in both cases,
 * with a reason in words: "Request timed out", "request timeout". Only the first means that the run is not wanted.
 */

const TIMED_OUT = /\btime(d)?[ -]?out\b/i;

/** True if the reason of a `notifications/cancelled` says that the client waited too long. */
export function isClientTimeout(reason: unknown): boolean {
  return typeof reason === "string" && TIMED_OUT.test(reason);
}
