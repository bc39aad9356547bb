/** The input of a run that is an undo. */

import type { Json } from "../../base/json.ts";
import type { UndoItem } from "./plan-undo.ts";

/** The name of its body in the record. */
export const UNDO_BODY = "undo";

export interface UndoJob {
  readonly root: string;
  readonly items: readonly UndoItem[];
}

/** Undefined for a run that is none. */
export function readUndoJob(name: string, input: Json): UndoJob | undefined {
  return name === UNDO_BODY ? (input as unknown as UndoJob) : undefined;
}
