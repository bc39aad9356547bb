/**
 * What a response was opened with, in the journal with its start: which conversation stood before it, and which tools
 * it was offered. Both are read again by whoever takes it over, because a journal that held all of a conversation
 * would hold every conversation as often as it has answers. So the journal has a mark of it, and a takeover that finds
 * another one ends the response: what somebody has deleted is not sent again, and finished turns do not fit what is left.
 */

import { createHash } from "node:crypto";
import { START_KEY } from "../../agent/loop.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json } from "../../base/json.ts";
import type { RunContext } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import { type PastOffer, toPastOffers } from "../bridge/past-offers.ts";
import type { Offer } from "../kinds/tool-kind.ts";
import { withoutRepeated } from "../references/resolve-references.ts";
import { checkCalls } from "../request/check-calls.ts";

export interface PastOpening {
  /** Of the conversation before it. */
  readonly before: string;
  readonly offers: readonly PastOffer[];
}

interface Opened {
  readonly before: readonly Item[];
  readonly offers: readonly Offer[];
}

/** Null where there is nothing to find again: most responses. */
export function encodeOpening({ before, offers }: Opened): Json {
  if (before.length === 0 && offers.length === 0) return null;
  return { before: toMark(before), offers: toPastOffers(offers) as unknown as Json };
}

/** Of a run that an earlier owner has begun; undefined for any other, and for one that only waited for its turn. */
export function readOpening(
  context: Pick<RunContext, "isTakeover" | "recall">,
): PastOpening | undefined {
  const opened = context.isTakeover ? context.recall(START_KEY) : undefined;
  if (!isJsonObject(opened)) return undefined;
  const { before, offers } = opened;
  if (typeof before !== "string" || !Array.isArray(offers)) return undefined;
  return { before, offers: offers as unknown as readonly PastOffer[] };
}

/** The conversation before a request's own items. Throws `conflict` where it is another one than it was. */
export function toBefore(
  past: PastOpening | undefined,
  found: readonly Item[],
  own: readonly Item[],
): readonly Item[] {
  const before = withoutRepeated(found, own);
  holdToPast(past, before);
  checkCalls(before, own);
  return before;
}

/** Throws `conflict` where the conversation before a run is another one than it was. */
export function holdToPast(past: PastOpening | undefined, before: readonly Item[]): void {
  if (past && past.before !== toMark(before)) throw toChanged();
}

function toChanged(): Failure {
  const message =
    "The run was interrupted, and the conversation that it continues was changed since. Ask again.";
  return new Failure("conflict", message, { param: "conversation" });
}

/** Kept items never change, and have ids: what can happen to them is that they go. */
function toMark(items: readonly Item[]): string {
  const hash = createHash("sha256");
  for (const item of items) {
    const { id } = item as { readonly id?: unknown };
    hash.update(`${item.type} ${typeof id === "string" ? id : ""}\n`);
  }
  return `${items.length}:${hash.digest("base64url").slice(0, 22)}`;
}
