/**
 * Children that an earlier owner of a run has begun. What they have spent is read from the record and reserved before
 * the run continues: until they are replayed, no account knows that it is gone.
 */

import { type Amount, addAmounts, eachKind, NOTHING } from "../agent/limits.ts";
import { type SpendingParts, toLoggedSpending } from "../agent/logged-spending.ts";
import type { LoopParts } from "../agent/loop-parts.ts";
import { isJsonObject, type Json } from "../base/json.ts";
import type { RecordReader, RunContext } from "../engine/engine.ts";
import { readWholeLog } from "../engine/read-log.ts";
import type { ChildStart, LoggedEvent } from "../protocol/run-events.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import type { DelegationNode } from "./node.ts";

type Parent = Pick<DelegationNode, "account" | "specs" | "modelOf">;

/** Reserves what these children have spent, with everything below them, all at one moment. */
export async function findChildren(
  node: Parent,
  context: Pick<RunContext, "runs" | "readLog">,
  starts: readonly ChildStart[],
): Promise<void> {
  const { record } = context.runs;
  const { specs, modelOf } = node;
  const parts: SpendingParts = { specs, costOf: (model, usage) => modelOf(model).costOf(usage) };
  const given = await readGiven(context, starts);
  const found = [];
  for (const { child_id: id, call_key: callKey } of starts) {
    const spent = await readSpent(record, id, parts);
    found.push({ id, callKey, spent, given: given.get(id) });
  }
  node.account.family.found.add(found);
}

/**
 * The limits that children in any process were given, at their start or later: they spend it
 * while this process takes their parent over.
 */
async function readGiven(
  context: Pick<RunContext, "readLog">,
  starts: readonly ChildStart[],
): Promise<ReadonlyMap<string, Amount>> {
  const given = new Map<string, Amount>();
  const raise = (id: string, limits: Json | undefined): void => {
    const before = given.get(id) ?? NOTHING;
    const amounts = isJsonObject(limits) ? limits : {};
    given.set(
      id,
      eachKind((kind) => Math.max(before[kind], Number(amounts[kind] ?? 0))),
    );
  };
  for (const { child_id, effective } of starts) {
    if (effective["placed"] === true) raise(child_id, effective["limits"]);
  }
  if (given.size === 0) return given;
  for (const { event } of await context.readLog()) {
    if (event.type === "child_budget" && given.has(event.child_id)) {
      raise(event.child_id, event.limits);
    }
  }
  return given;
}

export type CountedChildren = Pick<LoopParts, "spentBelow" | "findChildren" | "untilClosed">;

/** The children that the loop counts: those of a run's calls, and those of calls that it makes again. */
export function toCountedChildren(node: DelegationNode, context: RunContext): CountedChildren {
  return {
    async untilClosed() {
      while (node.open.size > 0) await Promise.all(node.open);
    },
    spentBelow: (callKey) => node.spentBelow.get(callKey),
    findChildren: createFindBegun(node, context),
  };
}

function createFindBegun(
  node: Parent,
  context: RunContext,
): (callKeys: readonly string[]) => Promise<ReadonlySet<string>> {
  // Children that begin after the first look are this owner's own.
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

/** Each child once, even if a takeover has written its start again. */
function listStarts(log: readonly LoggedEvent[]): ChildStart[] {
  const starts = new Map<string, ChildStart>();
  for (const { event } of log) {
    if (event.type === "child_start") starts.set(event.child_id, event);
  }
  return [...starts.values()];
}

/** The recorded spending of a run and everything below it. Nothing for a run that was never stored. */
async function readSpent(record: RecordReader, id: string, parts: SpendingParts): Promise<Amount> {
  const run = await record.getRun(id);
  if (!run) return NOTHING;
  const told = toldSpent(run);
  // A run that was cancelled during its replay had not yet counted all that it had spent.
  if (told && run.ending !== "cancelled") return told;
  const log = await readWholeLog(record, id);
  let counted = toLoggedSpending(log, parts);
  for (const { child_id } of listStarts(log)) {
    const below = await readSpent(record, child_id, parts);
    counted = addAmounts(counted, { ...below, children: below.children + 1 });
  }
  return told ? eachKind((kind) => Math.max(told[kind], counted[kind])) : counted;
}

/** The spending that an ended run reported itself. */
function toldSpent({ result }: Pick<RunRecord, "result">): Amount | undefined {
  const spent = isJsonObject(result) ? result["spent"] : undefined;
  if (!isJsonObject(spent)) return undefined;
  return eachKind((kind) => Number(spent[kind] ?? 0));
}
