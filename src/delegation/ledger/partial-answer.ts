/**
 * The answer of a run that ended in the middle of one. Its item never ended, so the end of the run is the only event
 * that has its text.
 */

import { textOfPart } from "../../protocol/part-text.ts";
import type { RunEvent } from "../../protocol/run-events.ts";

/** Call it with each event of a run in order; at the end it returns the text that no whole message has, or "". */
export function createPartialAnswer(): (event: RunEvent) => string {
  let said = "";
  return (event) => {
    if (event.type === "turn_start") said = "";
    if (event.type === "item_end") said += textOf(event.item);
    if (event.type !== "run_end" || event.ending === "completed") return "";
    return said.includes(event.output_text) ? "" : event.output_text;
  };
}

type EndedItem = Extract<RunEvent, { type: "item_end" }>["item"];

function textOf(item: EndedItem): string {
  if (item.type !== "message") return "";
  if (typeof item.content === "string") return item.content;
  return item.content.map((part) => textOfPart(part) ?? "").join("");
}
