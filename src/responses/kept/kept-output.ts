/**
 * What a response has said, as it is kept beside its log: whoever goes on with the response reads this and
 * not the log, token by token. Written in one transaction with the ending; where it is not there, the log
 * says the same.
 */

import type { Json } from "../../base/json.ts";
import { countJsonChars } from "../../base/json-size.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { NewThing, Shelf } from "../../store/shelf.ts";
import { readSaid } from "../fold/read-response.ts";
import { toRunId } from "../fold/response-object.ts";

/** Goes with its response. */
export const OUTPUT_KIND = "response_output";
/** Longer ones are read from their log: they would be kept once more, whole. */
const MAX_CHARS = 256 * 1024;

interface OutputParts {
  readonly shelf: Shelf;
  readonly place: Engine;
}

/** None where it is too long. */
export function toOutputThings(
  tenant: string,
  id: string,
  items: readonly Item[],
  nowMs: number,
): NewThing[] {
  if (countJsonChars(items) > MAX_CHARS) return [];
  const name = { tenant, kind: OUTPUT_KIND, id, parent: id };
  return [{ ...name, body: items as unknown as Json, created_at_ms: nowMs, expires_at_ms: null }];
}

/** Undefined where there is no such response, or nothing of it yet. */
export async function readOutput(
  { shelf, place }: OutputParts,
  tenant: string,
  id: string,
): Promise<readonly Item[] | undefined> {
  const kept = await shelf.get({ tenant, kind: OUTPUT_KIND, id });
  return kept ? (kept.body as unknown as Item[]) : await readSaid(place, toRunId(id));
}
