/**
 * Children that a past owner of a run has begun. What they have spent is read from the record and set
 * aside before the run goes on: until they are replayed, nobody else would know that it is gone.
 */

import { type Amount, addAmounts, eachKind, NOTHING } from "../agent/limits.ts";
import { type SpendingParts, toLoggedSpending } from "../agent/logged-spending.ts";
import type { ToolParts } from "../agent/tool-calls.ts";
import { isJsonObject } from "../base/json.ts";
import type { RecordReader, RunContext } from "../engine/engine.ts";
import { readWholeLog } from "../engine/read-log.ts";
import type { ChildStart, LoggedEvent } from "../protocol/run-events.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import type { DelegationNode } from "./node.ts";

type Parent = Pick<DelegationNode, "account" | "specs" | "modelOf">;

/** Sets aside what these have spent, with everything below them, all at one moment. */
export async function findChildren(
  node: Parent,
  { runs: { record } }: Pick<RunContext, "runs">,
  starts: readonly ChildStart[],
): Promise<void> {
  const { specs, modelOf } = node;
  const parts: SpendingParts = { specs, costOf: (model, usage) => modelOf(model).costOf(usage) };
  const found = [];
  for (const { child_id: id, call_key: callKey } of starts) {
    found.push({ id, callKey, spent: await readSpent(record, id, parts) });
  }
  node.account.family.found.add(found);
}

/** What the loop counts of a run's children: those of its calls, and those of calls that it makes again. */
export function toCountedChildren(
  node: DelegationNode,
  context: RunContext,
): Pick<ToolParts, "spentBelow" | "findChildren"> {
  return {
    spentBelow: (callKey) => node.spentBelow.get(callKey),
    findChildren: createFindBegun(node, context),
  };
}

function createFindBegun(
  node: Parent,
  context: RunContext,
): (callKeys: readonly string[]) => Promise<ReadonlySet<string>> {
  // Whatever is begun after the first look is this owner's own.
  let isLookedFor = !context.isTakeover;
  return async (callKeys) => {
    if (isLookedFor || callKeys.length === 0) return new Set();
    isLookedFor = true;
    const starts = listStarts(await context.readLog());
    const begun = starts.filter(({ call_key }) => callKeys.includes(call_key));
    await findChildren(node, context, begun);
    return new Set(begun.map(({ call_key }) => call_key));
  };
}

/** Each child once, also where a takeover has told of it again. */
function listStarts(log: readonly LoggedEvent[]): ChildStart[] {
  const starts = new Map<string, ChildStart>();
  for (const { event } of log) {
    if (event.type === "child_start") starts.set(event.child_id, event);
  }
  return [...starts.values()];
}

/** What a run and everything below it have spent by the record. Nothing for one that was never written down. */
async function readSpent(record: RecordReader, id: string, parts: SpendingParts): Promise<Amount> {
  const run = await record.getRun(id);
  if (!run) return NOTHING;
  const told = toldSpent(run);
  // One that was cancelled while it was replayed had not come to all that it had spent.
  if (told && run.ending !== "cancelled") return told;
  const log = await readWholeLog(record, id);
  let counted = toLoggedSpending(log, parts);
  for (const { child_id } of listStarts(log)) {
    const below = await readSpent(record, child_id, parts);
    counted = addAmounts(counted, { ...below, children: below.children + 1 });
  }
  return told ? eachKind((kind) => Math.max(told[kind], counted[kind])) : counted;
}

/** What a run that has ended says itself. */
function toldSpent({ result }: Pick<RunRecord, "result">): Amount | undefined {
  const spent = isJsonObject(result) ? result["spent"] : undefined;
  if (!isJsonObject(spent)) return undefined;
  return eachKind((kind) => Number(spent[kind] ?? 0));
}
