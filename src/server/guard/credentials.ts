/**
 * The key of a request: `Authorization: Bearer`, or `api-key` or `x-api-key` as other APIs have it.
 */

import type { IncomingMessage } from "node:http";
import { Failure } from "../../base/failure.ts";

/** Far more than any key has. A longer one is not even hashed. */
const MAX_CHARS = 1024;

/**
 * Rejects with `unauthorized` if the request has no key, or more than one: which one counts would be a guess. Clients of the
 * Messages API send two if their user has set both variables. They name its version, and for them `Authorization`
 * counts.
 */
export function readToken({ rawHeaders }: IncomingMessage): string {
  const shown = new Set<string>();
  const bearers = new Set<string>();
  let speaksMessages = false;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? "").toLowerCase();
    const token = READERS.get(name)?.((rawHeaders[at + 1] ?? "").trim()) ?? "";
    if (token !== "") shown.add(token);
    if (token !== "" && name === "authorization") bearers.add(token);
    if (name === "anthropic-version") speaksMessages = true;
  }
  if (speaksMessages && bearers.size > 0) return checkToken(bearers);
  return checkToken(shown);
}

function checkToken(shown: ReadonlySet<string>): string {
  const [token, second] = shown;
  if (token === undefined) throw new Failure("unauthorized", HOW);
  if (second !== undefined) {
    throw new Failure(
      "unauthorized",
      "The request shows more than one key. Send one, in `authorization`, `x-api-key` or `api-key`.",
    );
  }
  if (token.length <= MAX_CHARS) return token;
  throw new Failure("unauthorized", UNKNOWN_KEY);
}

/** The same words for every unknown key, so that they reveal nothing about the keys of the server. */
export const UNKNOWN_KEY =
  "The server does not know this key. Send the one that `offshoot serve` printed at its first start, or make one with `offshoot keys create NAME`.";

const HOW =
  "The request shows no key. Send one as `Authorization: Bearer KEY`; `offshoot keys create NAME` makes one.";

type Reader = (value: string) => string;

const READERS: ReadonlyMap<string, Reader> = new Map([
  ["authorization", (value) => /^Bearer +([^\s]+)$/i.exec(value)?.[1] ?? ""],
  ["api-key", (value) => value],
  ["x-api-key", (value) => value],
]);
