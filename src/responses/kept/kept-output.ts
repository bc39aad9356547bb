/**
 * The output of a response, stored beside its log: a request that continues the response reads it instead of the log
 * with all its deltas. Written in one transaction with the ending. If it is missing, the log has the same.
 */

import { countJsonChars } from "../../base/json-size.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import { STORED_ITEMS } from "../../protocol/stored-items.ts";
import type { NewThing, Shelf, Thing } from "../../store/shelf.ts";
import { readSaid } from "../fold/read-response.ts";
import { toRunId } from "../fold/response-object.ts";

/** Deleted with its response. */
export const OUTPUT_KIND = "response_output";
/** Longer outputs are read from their log: they would be stored a second time. */
const MAX_CHARS = 256 * 1024;

interface OutputParts {
  readonly shelf: Shelf;
  readonly place: Engine;
}

/** None if it is too long. */
export function toOutputThings(
  tenant: string,
  id: string,
  items: readonly Item[],
  nowMs: number,
): NewThing[] {
  if (countJsonChars(items) > MAX_CHARS) return [];
  const body = STORED_ITEMS.write(items);
  const times = { created_at_ms: nowMs, expires_at_ms: null };
  return [{ tenant, kind: OUTPUT_KIND, id, parent: id, body, ...times }];
}

/** Undefined if the response does not exist, or it has no output yet. */
export async function readOutput(
  { shelf, place }: OutputParts,
  tenant: string,
  id: string,
): Promise<readonly Item[] | undefined> {
  return await toOutput(place, id, await shelf.get({ tenant, kind: OUTPUT_KIND, id }));
}

/** The same, with what the shelf has. */
export async function toOutput(
  place: Engine,
  id: string,
  kept: Thing | undefined,
): Promise<readonly Item[] | undefined> {
  return kept ? STORED_ITEMS.read(kept.body) : await readSaid(place, toRunId(id));
}
