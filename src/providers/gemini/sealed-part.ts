/**
 * Keeps thought signatures between answer and history: in a reasoning item beside the part that it belongs
 * to, because a signature is only valid on the part that it came with. Google's own clients keep parts; we
 * keep items, and one message may have come as many parts.
 */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { seal, unseal } from "../../protocol/sealed-reasoning.ts";

export interface SealedPart {
  /** The signature of the thought that this item shows. */
  readonly thought?: string;
  /** The signature of the call directly after this item. */
  readonly next?: string;
  /** The signature of the call directly before it: some come after the call has begun. */
  readonly last?: string;
  /** The signatures of the text directly before it, as the parts it came in. */
  readonly text?: readonly TextSegment[];
  /** Not a signature: the token to send with the same request to continue the answer. */
  readonly token?: string;
}

/** A number of characters of a message, and their signature; empty for unsigned text. */
export type TextSegment = readonly [length: number, signature: string | null];

/** The prefix of an id for a call that came without one. Such an id is never sent back. */
export const OWN_ID = "call_noid_";

const SEALER = "gemini";

export function sealPart(part: SealedPart): string {
  return seal(SEALER, part as JsonObject);
}

/** The sealed data; undefined if another vendor sealed it. */
export function unsealPart(sealed: string | null | undefined): SealedPart | undefined {
  const opened = unseal(SEALER, sealed);
  return isJsonObject(opened) ? (opened as SealedPart) : undefined;
}
