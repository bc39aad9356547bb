/**
 * How a run is asked to report. The wish is sent with its task, and its last answer is the report; or it is a turn of
 * its own after the task, which calls no tools. A run that has used up its turns is asked in its last one either way:
 * its findings would be lost.
 */

import type { Item } from "../protocol/items.ts";
import { addReportWish } from "../protocol/report-wish.ts";
import type { Tool, ToolChoice } from "../protocol/tools.ts";
import type { AgentTask } from "./task.ts";

/** The items that a run is asked with, and the report wish if that is sent with them. */
export function withReportWish({ items, ...task }: AgentTask): readonly Item[] {
  const { summary_prompt: wish, report_along } = task;
  const last = items.at(-1);
  if (!report_along || wish === null || last?.type !== "message") return items;
  if (typeof last.content !== "string") return items;
  return [...items.slice(0, -1), { ...last, content: addReportWish(last.content, wish) }];
}

/** True if a run that ends in this way is asked for its report. */
export function asksForReport(task: AgentTask, ending: string): boolean {
  const { summary_prompt, report_along, format } = task;
  if (summary_prompt === null || format.type !== "text") return false;
  return ending === "max_turns" || (ending === "completed" && !report_along);
}

/** The last turn of a run that is to report is kept for the report, unless it has only one. */
export function turnsKept({ summary_prompt, max_turns }: AgentTask): number {
  return summary_prompt !== null && max_turns > 1 ? 1 : 0;
}

interface Asking {
  /** The number of the turn. */
  readonly turns: number;
  readonly isReporting: boolean;
}

/**
 * A choice that forces a call applies to the first turn only; otherwise no run would ever end. A report calls nothing.
 * The request still lists the tools: vendors cache the beginning of a request that does not change.
 */
export function toToolChoice(
  { tool_choice }: AgentTask,
  { turns, isReporting }: Asking,
  offered: readonly Tool[],
): ToolChoice {
  if (isReporting && offered.length > 0) return "none";
  return turns === 1 ? tool_choice : "auto";
}
