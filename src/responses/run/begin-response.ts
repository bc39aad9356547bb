/**
 * The work of a response's run before its first turn, in this order: wait for its turn, list the tools of MCP
 * servers, make the calls that the client has approved.
 *
 * Run code: all that it writes to the log is in steps, under keys of its own.
 */

import { addResults, type OwnCall } from "../../agent/calls.ts";
import { runToolCalls, type ToolParts } from "../../agent/tool-calls.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import type { Json } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { RunContext } from "../../engine/engine.ts";
import type { Item } from "../../protocol/items.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import { STORED_ITEMS } from "../../protocol/stored-items.ts";
import type { Bridge } from "../bridge/bridge.ts";
import { toApprovedCalls } from "../bridge/response-calls.ts";
import { idPrefixOf } from "../fold/emitted-item.ts";
import { checkListed } from "../kinds/mcp.ts";
import { BEGIN_KEY } from "./background-queue.ts";

export interface BeginParts extends ToolParts {
  readonly context: RunContext;
  readonly clock: Clock;
  readonly bridge: Bridge;
  /** Lists of tools that are in the log already (`readTold`): those servers are not asked again. */
  readonly told: readonly Item[];
  /** Takes an approval for this run. False if another run has used it. */
  readonly useApproval: (id: string) => Promise<boolean>;
  /** Resolves when the run may begin. */
  readonly enter: () => Promise<void>;
  /** True to report in the log that it waited, and to journal the opening then. */
  readonly background: boolean;
  /** What the response begins with, for the journal (`encodeOpening`). */
  readonly opening: Json;
}

/** Returns the conversation for the first turn. */
export async function beginResponse(
  parts: BeginParts,
  items: readonly Item[],
): Promise<readonly Item[]> {
  const { context, clock, bridge } = parts;
  // A run that was cancelled before it was taken over begins nothing: its first unfinished step rejects.
  if (!context.signal.aborted) await parts.enter();
  if (parts.background) {
    await context.step(BEGIN_KEY, async (step) => {
      step.end([{ type: "run_begin", at_ms: clock.now() }]);
      return parts.opening ?? NOTHING_BEFORE;
    });
  }
  const listed = await listTools(parts, [...parts.told, ...bridge.listed]);
  checkListed(listed);
  return await callApproved(parts, [...items, ...listed], BEFORE_ALL);
}

/** Not null: nothing that an earlier version has journaled takes its place. */
const NOTHING_BEFORE = {};

/** A turn number before all others. */
const BEFORE_ALL = 0;

/**
 * The lists of tools that an earlier owner of the run has written. A process that continues the run offers the same
 * tools, whatever the servers have by now.
 */
export async function readTold(context: RunContext): Promise<Item[]> {
  if (context.epoch === 1) return [];
  return (await context.readLog()).flatMap(({ event }) =>
    event.type === "item_end" && event.item.type === "mcp_list_tools" ? [event.item] : [],
  );
}

/** If they were written, the journal has them. */
async function listTools({ context }: BeginParts, listed: readonly Item[]): Promise<Item[]> {
  if (listed.length === 0) return [];
  const told = await context.step("list_tools", async (step) => {
    const named = listed.map(withId);
    step.end(named.flatMap(toWholeEvents));
    return STORED_ITEMS.write(named);
  });
  return [...STORED_ITEMS.read(told)];
}

/** Runs before every turn, so its index is free. */
function toWholeEvents(item: Item, index: number): RunEvent[] {
  const begun = item.type === "mcp_list_tools" ? { ...item, tools: [] } : item;
  return [
    { type: "item_start", index, item: begun, own: true },
    { type: "item_end", index, item },
  ];
}

/**
 * Makes the calls of `items` that the client has approved and that were not made yet, after a turn.
 */
export async function callApproved(
  parts: Omit<BeginParts, "enter" | "background" | "told">,
  items: readonly Item[],
  turn: number,
): Promise<readonly Item[]> {
  const { context, bridge } = parts;
  const wanted = toApprovedCalls(items, bridge);
  if (wanted.length === 0) return items;
  const written = await context.step(`approved:${turn}`, async (step) => {
    for (const { item } of wanted) await useApproval(parts, item);
    const calls = wanted.map(({ item }) => withId(item));
    step.end(calls.flatMap(toPendingEvents));
    return STORED_ITEMS.write(calls);
  });
  const named = STORED_ITEMS.read(written);
  const calls = named.map((item, at): OwnCall => {
    const call = wanted[at] as OwnCall;
    const callId = "id" in item ? String(item.id) : call.callId;
    return { ...call, callId, item, show: (result) => call.show?.(result, item) ?? [item] };
  });
  const made = await runToolCalls(parts, `${turn}+`, calls);
  return addResults([...items, ...named], calls, made);
}

async function useApproval({ useApproval }: Pick<BeginParts, "useApproval">, item: Item) {
  const id = item.type === "mcp_call" ? item.approval_request_id : null;
  if (!id || (await useApproval(id))) return;
  const message = `The approval of \`${clip(id, 80)}\` was used already, by another response. Ask again for the call.`;
  throw new Failure("conflict", message, { param: "input" });
}

function toPendingEvents(item: Item, index: number): RunEvent[] {
  const pending = "id" in item ? String(item.id) : "";
  return [
    { type: "item_start", index, item, own: true },
    { type: "item_end", index, item, pending },
  ];
}

function withId(item: Item): Item {
  return { ...item, id: makeId(idPrefixOf(item.type)) } as Item;
}
