/**
 * Where a thought signature stands between answer and history: in a reasoning item beside the part it
 * belongs to, because a signature counts only on the very part it came with. Google's own clients keep
 * parts; we keep items, of which a message holds what came as many parts.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { seal, unseal } from "../../protocol/sealed-reasoning.ts";

export interface SealedPart {
  /** Of the thought that this item shows. */
  readonly thought?: string;
  /** Of the call right behind this item. */
  readonly next?: string;
  /** Of the call right before it: some signatures come after the call has begun. */
  readonly last?: string;
  /** Of the text right before it, as the parts it came in. */
  readonly text?: readonly TextSegment[];
  /** No signature: what to send with the same request to let the answer go on. */
  readonly token?: string;
}

/** So many characters of a message, and their signature; none for text that came unsigned. */
export type TextSegment = readonly [length: number, signature: string | null];

/** In front of an id for a call that came without one; such an id is never sent back. */
export const OWN_ID = "call_noid_";

const SEALER = "gemini";

export function sealPart(part: SealedPart): string {
  return seal(SEALER, part as JsonObject);
}

/** What was sealed, unless another vendor did it. */
export function unsealPart(sealed: string | null | undefined): SealedPart | undefined {
  const opened = unseal(SEALER, sealed);
  return isJsonObject(opened) ? (opened as SealedPart) : undefined;
}
