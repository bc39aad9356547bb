/** The input of a run that is an undo. */

import type { Json } from "../../base/json.ts";
import { storedObject } from "../../base/stored.ts";
import type { UndoItem } from "./plan-undo.ts";

/** The name of its body in the record. */
export const UNDO_BODY = "undo";

export interface UndoJob {
  readonly root: string;
  readonly items: readonly UndoItem[];
}

export const STORED_UNDO = storedObject<UndoJob>("an undo", ["root", "items"]);

/** Undefined for a run that is not an undo. */
export function readUndoJob(name: string, input: Json): UndoJob | undefined {
  return name === UNDO_BODY ? STORED_UNDO.read(input) : undefined;
}
