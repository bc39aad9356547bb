/**
 * Folds the log of a run into the items that it adds to its session: its prompt, its words, the results of its calls,
 * messages of people and subagents. Pure.
 *
 * The list can be sent to any model: work that a takeover abandoned is not in it, a call whose run ended before its
 * result gets a result that says so, and thoughts that nothing followed are left out. A compaction is a summary
 * before the turns that were kept, so that a reader may begin there (`sinceSummary`).
 */

import { toNewsMessage } from "../../agent/background.ts";
import { findCutPoints } from "../../agent/context/cut-points.ts";
import { isSummary, toSummaryMessage } from "../../agent/context/expand-compactions.ts";
import { withoutAbandoned } from "../../protocol/abandoned-work.ts";
import type { FunctionCallOutput, Item } from "../../protocol/items.ts";
import type { RunEvent } from "../../protocol/run-events.ts";

/** `log` may leave out deltas and all else that ends in no item. */
export function toRunItems(log: readonly RunEvent[]): Item[] {
  let items: Item[] = [];
  for (const event of withoutAbandoned(log)) {
    // A run that is ended before it could continue repeats its beginning.
    if (event.type === "run_start" && items.length > 0) continue;
    if (event.type === "compaction") items = withSummary(items, event);
    else items.push(...itemsOf(event));
  }
  return closeCalls(withoutLooseThoughts(items));
}

/**
 * True for events that a fold of items needs: a long answer has thousands of events, and its end has the whole
 * answer.
 */
export function isOfItems({ type }: RunEvent): boolean {
  return !type.endsWith("_delta");
}

function itemsOf(event: RunEvent): readonly Item[] {
  switch (event.type) {
    case "run_start":
      return event.input;
    case "run_input":
      return event.items;
    case "child_news":
      return [toNewsMessage(event)];
    case "item_end":
      // Items of a server's tools are repeated, finished, when their call has ended.
      return event.pending === undefined ? [event.item] : [];
    case "tool_end":
      return event.shown ?? [event.item];
    default:
      return [];
  }
}

/** A summary without words only cut results of the last turn: the log has them whole. */
function withSummary(
  items: readonly Item[],
  { summary, kept = 0 }: Extract<RunEvent, { type: "compaction" }>,
): Item[] {
  if (summary === "") return [...items];
  const wanted = Math.max(0, items.length - kept);
  // Never between a call and its result.
  const at = findCutPoints(items).findLast((point) => point <= wanted) ?? 0;
  return [...items.slice(0, at), toSummaryMessage(summary), ...items.slice(at)];
}

/** The items for a model: without those that the last summary replaces. */
export function sinceSummary(items: readonly Item[]): readonly Item[] {
  const at = items.findLastIndex(isSummary);
  return at < 0 ? items : items.slice(at);
}

const UNFINISHED = "This call has no result: the run ended before it was finished.";

/** Vendors refuse a call without its result. The result stands after all calls of its turn. */
function closeCalls(items: readonly Item[]): Item[] {
  const answered = new Set(items.flatMap((item) => (isOutput(item) ? [item.call_id] : [])));
  const closed: Item[] = [];
  let open: Item[] = [];
  for (const item of items) {
    if (item.type !== "function_call") {
      closed.push(...open);
      open = [];
    } else if (!answered.has(item.call_id)) {
      const { call_id } = item;
      open.push({ type: "function_call_output", call_id, output: UNFINISHED });
    }
    closed.push(item);
  }
  return [...closed, ...open];
}

function isOutput(item: Item): item is FunctionCallOutput {
  return item.type === "function_call_output";
}

/** Vendors refuse thoughts that nothing follows: those of an interrupted answer. */
function withoutLooseThoughts(items: readonly Item[]): Item[] {
  return items.filter((item, at) => {
    if (item.type !== "reasoning") return true;
    const next = items.slice(at + 1).find(({ type }) => type !== "reasoning");
    return next !== undefined && !isPrompt(next);
  });
}

function isPrompt(item: Item): boolean {
  return item.type === "message" && item.role !== "assistant";
}
