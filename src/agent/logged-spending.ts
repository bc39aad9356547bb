/**
 * Computes what a run has spent by its log, without the runs below it: the same that its replay will charge. For a
 * parent that has to know it before the run is replayed. Pure.
 */

import type { Item } from "../protocol/items.ts";
import type { LoggedEvent, RunEvent, RunStart, TurnEnd } from "../protocol/run-events.ts";
import type { FunctionTool } from "../protocol/tools.ts";
import type { Usage } from "../protocol/usage.ts";
import { findAbandonedTurns, toAbandonedAmount } from "./broken-answer.ts";
import { type Amount, addAmounts, NOTHING } from "./limits.ts";

export interface SpendingParts {
  /** The price in USD of a model, by its reference; undefined if it is not known. */
  costOf(model: string, usage: Usage): number | undefined;
  /** The tools that runs may have: a model is sent them with every request. */
  readonly specs: readonly FunctionTool[];
}

export function toLoggedSpending(log: readonly LoggedEvent[], parts: SpendingParts): Amount {
  const calls = createCallCount();
  let spent = NOTHING;
  let start: RunStart | undefined;
  const items: Item[] = [];
  for (const { event } of log) {
    if (event.type === "run_start") start = event;
    items.push(...toItems(event));
    calls.read(event);
    if (event.type === "turn_end") spent = addAmounts(spent, toTurn(event, start, parts));
  }
  const own = { ...spent, tool_calls: calls.taken };
  return addAmounts(own, toAbandoned(log, { start, items }, parts));
}

/**
 * Counts tool calls. A call is taken from the budget before it is allowed. A call that a takeover has interrupted is
 * made again, and taken once.
 */
function createCallCount(): { readonly taken: number; read(event: RunEvent): void } {
  let taken = 0;
  /** For each call id, of which several calls may have the same one: how many allowed calls are open. */
  const open = new Map<string, number>();
  return {
    get taken() {
      return taken;
    },
    read(event) {
      if (event.type === "tool_decision" && event.verdict === "allow") {
        taken++;
        open.set(event.call_id, (open.get(event.call_id) ?? 0) + 1);
      }
      if (event.type === "tool_end") open.set(event.call_id, (open.get(event.call_id) ?? 1) - 1);
      if (event.type !== "run_resume") return;
      for (const calls of open.values()) taken -= calls;
      open.clear();
    },
  };
}

function toTurn(
  { usage, cost_usd }: TurnEnd,
  start: RunStart | undefined,
  { costOf }: SpendingParts,
): Amount {
  const { native_calls: _, ...tokens } = usage;
  const usd = cost_usd ?? costOf(start?.settings.model ?? "", tokens) ?? 0;
  return { ...NOTHING, turns: 1, tokens: usage.total_tokens, usd };
}

interface Conversation {
  readonly start: RunStart | undefined;
  readonly items: readonly Item[];
}

/** Attempts that no `turn_end` has counted. Each is taken to have read all that was said until now. */
function toAbandoned(
  log: readonly LoggedEvent[],
  { start, items }: Conversation,
  { costOf, specs }: SpendingParts,
): Amount {
  const attempts = [...findAbandonedTurns(log).values()].flat();
  if (!start || attempts.length === 0) return NOTHING;
  const { model, instructions, tools: names, limits, max_output_tokens } = start.settings;
  const tools = specs.filter(({ name }) => names.includes(name));
  const asked = {
    items,
    tools,
    instructions: instructions ?? undefined,
    max_output_tokens: max_output_tokens ?? undefined,
  };
  const prices = { costOf: (usage: Usage) => costOf(model, usage) };
  const broken = { mostUsd: Number(limits["usd"] ?? 0) };
  return attempts.reduce(
    (sum, chars) => addAmounts(sum, toAbandonedAmount(asked, chars, { ...prices, ...broken })),
    NOTHING,
  );
}

/** The items that this event adds to the next request. */
function toItems(event: RunEvent): readonly Item[] {
  switch (event.type) {
    case "run_start":
      return event.input;
    case "run_input":
      return event.items;
    case "item_end":
    case "tool_end":
      return [event.item];
    default:
      return [];
  }
}
