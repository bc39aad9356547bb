/**
 * The reasoning fields that chat servers want back beside plain text. OpenRouter sends `reasoning_details`, which
 * hold the signatures of the vendors' models; Google's compatible endpoint signs calls in their `extra_content`. Both
 * go into a sealed reasoning item and are sent back unchanged.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Reasoning } from "../../protocol/items.ts";
import { seal, unseal } from "../../protocol/sealed-reasoning.ts";

const SEALER = "chat";

export interface Sealed {
  readonly details: readonly JsonObject[];
  /** The extra content of the call after the reasoning. */
  readonly extra?: JsonObject | undefined;
}

/** The fields whose text arrives in pieces. */
const GROWING: ReadonlySet<string> = new Set(["text", "summary", "data"]);

/** Adds the pieces of a chunk. Pieces with the same index and type are one detail. */
export function addDetails(known: JsonObject[], pieces: readonly JsonObject[]): void {
  for (const piece of pieces) {
    const at = known.findIndex(
      (one) => one["index"] === piece["index"] && one["type"] === piece["type"],
    );
    const before = known[at];
    if (!before || piece["index"] === undefined) known.push(piece);
    else known[at] = join(before, piece);
  }
}

function join(before: JsonObject, piece: JsonObject): JsonObject {
  const joined: Record<string, Json | undefined> = { ...before };
  for (const [name, value] of Object.entries(piece)) {
    const old = joined[name];
    if (GROWING.has(name) && typeof old === "string" && typeof value === "string") {
      joined[name] = old + value;
    } else if (value !== null && value !== undefined) joined[name] = value;
  }
  return joined;
}

/** Seals details and extra content; empty if there is nothing to send back. */
export function sealChat({ details, extra }: Sealed): Pick<Reasoning, "encrypted_content"> {
  if (details.length === 0 && !extra) return {};
  return { encrypted_content: seal(SEALER, { details, extra } as Json) };
}

export function unsealChat({ encrypted_content }: Reasoning): Sealed | undefined {
  const payload = unseal(SEALER, encrypted_content);
  if (!isJsonObject(payload)) return undefined;
  const { details, extra } = payload;
  const list: readonly Json[] = Array.isArray(details) ? details : [];
  return { details: list.filter(isJsonObject), extra: isJsonObject(extra) ? extra : undefined };
}
