import { plural } from "../../base/text.ts";
import type { UndoReport } from "../../runtime/undo/undo.ts";

/** How many files of a kind are named: the line stays short. */
const MOST_NAMED = 5;

/** The chat's report of an undo, a line for each kind of change. */
export function toUndoneText({ files, obstacles, unseen, undo }: UndoReport): string {
  const told = files.length === 0 ? ["No file had to be restored."] : [];
  for (const kind of ["restored", "created", "removed"] as const) {
    const paths = files.filter(({ change }) => change === kind).map(({ path }) => path);
    if (paths.length === 0) continue;
    const named = paths.slice(0, MOST_NAMED).join(", ");
    const more = paths.length > MOST_NAMED ? ", …" : "";
    told.push(`${plural(paths.length, "file")} ${kind}: ${named}${more}.`);
  }
  if (undo !== null) told.push(`To undo this: offshoot undo ${undo}`);
  const left = obstacles.filter(({ canForce }) => !canForce).map(({ path }) => path);
  if (left.length > 0) told.push(`Left alone: ${left.join(", ")}.`);
  if (unseen.length > 0) told.push(`May have changed more: ${unseen.join(", ")}.`);
  return told.join("\n");
}
