/**
 * The opening of a response, in the journal: the conversation before it, and the tools that it was offered. It is in
 * the step of its start; for a background response, in the step after it has waited for its turn, because the process
 * that begins it need not be the one that let it wait, and opens it again. A process that takes it over reads both again, because a journal with the whole conversation would store
 * each conversation once for each answer. So the journal has a mark of it, and a takeover that finds another
 * conversation ends the response: deleted items are not sent again, and finished turns do not fit the rest.
 */

import { createHash } from "node:crypto";
import { START_KEY } from "../../agent/loop.ts";
import { Failure } from "../../base/failure.ts";
import { asJson, isJsonObject, type Json } from "../../base/json.ts";
import { storedList } from "../../base/stored.ts";
import type { RunContext } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import { type PastOffer, toPastOffers } from "../bridge/past-offers.ts";
import type { Offer } from "../kinds/tool-kind.ts";
import { withoutRepeated } from "../references/resolve-references.ts";
import { checkCalls } from "../request/check-calls.ts";
import { BEGIN_KEY } from "./background-queue.ts";

export interface PastOpening {
  /** The mark of the conversation before it. */
  readonly before: string;
  readonly offers: readonly PastOffer[];
}

interface Opened {
  readonly before: readonly Item[];
  readonly offers: readonly Offer[];
}

/** Null if there is nothing to find again, as for most responses. */
export function encodeOpening({ before, offers }: Opened): Json {
  if (before.length === 0 && offers.length === 0) return null;
  return { before: toMark(before), offers: asJson(toPastOffers(offers)) };
}

/** Undefined for a run that no earlier owner has begun, also if it only waited for its turn. */
export function readOpening(
  context: Pick<RunContext, "isTakeover" | "recall">,
): PastOpening | undefined {
  const begun = context.recall(BEGIN_KEY);
  // Journals of earlier versions have the opening of a background response with its start.
  const started = context.isTakeover ? context.recall(START_KEY) : undefined;
  const opened = isJsonObject(begun) ? begun : started;
  if (!isJsonObject(opened)) return undefined;
  const { before, offers } = opened;
  if (typeof before !== "string" || !Array.isArray(offers)) return undefined;
  return { before, offers: STORED_OFFERS.read(offers) };
}

const STORED_OFFERS = storedList<PastOffer>("the tools that were offered", ["key"]);

/**
 * The conversation before a request's own items. Throws `conflict` if it is another one than before.
 */
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

/** Throws `conflict` if the conversation before a run is another one than before. */
export function holdToPast(past: PastOpening | undefined, before: readonly Item[]): void {
  if (past && past.before !== toMark(before)) throw toChanged();
}

function toChanged(): Failure {
  const message =
    "The run was interrupted, and the conversation that it continues was changed since. Ask again.";
  return new Failure("conflict", message, { param: "conversation" });
}

/** Stored items never change, and have ids: they can only be deleted. */
function toMark(items: readonly Item[]): string {
  const hash = createHash("sha256");
  for (const item of items) {
    const { id } = item as { readonly id?: unknown };
    hash.update(`${item.type} ${typeof id === "string" ? id : ""}\n`);
  }
  return `${items.length}:${hash.digest("base64url").slice(0, 22)}`;
}
