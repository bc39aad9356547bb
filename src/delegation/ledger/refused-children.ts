/** The children that a call asked for and that were never started, with the reasons. */

import type { ToolEnd } from "../../protocol/run-events.ts";
import { isDelegating } from "../tools/names.ts";
import { answersIn, isRefusal } from "./call-answers.ts";
import type { Queued } from "./queued-children.ts";

export interface RefusedChild {
  readonly label: string;
  readonly why: string;
}

/** `left`: children that were not started when the call ended. */
export function readRefused(event: ToolEnd, left: readonly Queued[]): RefusedChild[] {
  if (!isDelegating(event.name)) return [];
  const waiting = left.map(({ label }) => label);
  // A child at work may be cancelled too; it then has an ending of its own.
  const hasRun = (label: string, error: string): boolean =>
    error.startsWith("Cancelled: ") && !waiting.includes(label);
  return answersIn(event)
    .filter(isRefusal)
    .filter(({ label, error }) => !hasRun(label, error))
    .map(({ label, error }) => ({ label, why: error.replace(/^Not started: /, "") }));
}
