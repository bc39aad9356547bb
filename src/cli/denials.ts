/** Why calls of a run were refused, told from its log. */

import { clip } from "../base/text.ts";
import { DECIDERS, type RunEvent, type ToolDecision } from "../protocol/run-events.ts";

export interface Denial extends Omit<ToolDecision, "type"> {
  readonly arguments: string;
}

/** In the order they were made. */
export function toDenials(events: readonly RunEvent[]): Denial[] {
  const given = new Map<string, string>();
  return events.flatMap((event) => {
    if (event.type === "tool_start") given.set(event.call_id, event.arguments);
    if (event.type !== "tool_decision" || event.verdict !== "deny") return [];
    const { type: _, ...decision } = event;
    return [{ ...decision, arguments: given.get(event.call_id) ?? "" }];
  });
}

export function renderDenial({ name, arguments: text, by, rule, source, reason }: Denial): string {
  const lines = [
    `${name}(${clip(text, 200)})`,
    `  by      ${by}: ${DECIDERS[by] ?? "unknown"}`,
    ...(rule === null ? [] : [`  rule    ${rule}`, `  from    ${source}`]),
    `  reason  ${clip(reason, 400)}`,
  ];
  return `${lines.join("\n")}\n`;
}
