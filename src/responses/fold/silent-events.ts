/** Events of a log that the Responses API does not have. */

import type { RunEvent } from "../../protocol/run-events.ts";

const SILENT = {
  start: true,
  tool_question: true,
  tool_decision: true,
  tool_process: true,
  child_queue: true,
  child_start: true,
  child_end: true,
  child_budget: true,
  child_news: true,
  client_refused: true,
  file_before: true,
  file_after: true,
  file_watch: true,
} as const;

type SilentEvent = Extract<RunEvent, { type: keyof typeof SILENT }>;

export function isSilent(event: RunEvent): event is SilentEvent {
  return Object.hasOwn(SILENT, event.type);
}
