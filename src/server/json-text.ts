/** JSON that somebody sent: bounded in depth and in members before it is parsed. */

import { Failure } from "../base/failure.ts";
import { MAX_DEPTH, measureJson } from "../base/json-shape.ts";

/**
 * Names in all objects together. Ten thousand items with their parts have half of it; a million cost
 * seconds, whatever stands behind them, because objects with names of their own share no shape.
 */
const MAX_MEMBERS = 300_000;

/** `what` names it in the refusal: `The body`. Rejects with `invalid_request`. */
export function parseJsonText(text: string, what: string): unknown {
  const { depth, members } = measureJson(text);
  if (depth > MAX_DEPTH) {
    throw new Failure("invalid_request", `${what} is nested deeper than ${MAX_DEPTH} levels.`);
  }
  if (members > MAX_MEMBERS) {
    throw new Failure("invalid_request", `${what} has more than ${MAX_MEMBERS} names in it.`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Failure("invalid_request", `${what} is no JSON.`, { cause });
  }
}
