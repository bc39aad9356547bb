import { plural } from "../base/text.ts";
import type { UndoReport } from "../runtime/undo/undo.ts";

/** Why there was nothing to undo. A file may differ all the same, by a change of the user's own. */
export function toNothingUndone({ runs, changed }: Pick<UndoReport, "runs" | "changed">): string {
  const named = runs.join(", ");
  const why =
    changed === 0
      ? `${named} changed no files`
      : `what ${named} changed (${plural(changed, "file")}) is put back already`;
  return `Nothing to undo: ${why}. Changes that you made yourself stay.`;
}
