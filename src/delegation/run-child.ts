/** Runs an ordered child to its end. What it did not spend is returned, and its ending is written down. */

import type { ChildAccount } from "../agent/account.ts";
import { addAmounts } from "../agent/limits.ts";
import { isNativeName } from "../agent/native-names.ts";
import { type Failure, toFailure } from "../base/failure.ts";
import type { ChildOrder, ChildReport } from "./child.ts";
import { isSilent } from "./envelope.ts";
import type { DelegationNode } from "./node.ts";
import type { ExecutorName } from "./settings.ts";

export interface Spawning {
  /** The call's idempotency key. */
  readonly callKey: string;
  /** The child's place below the parent. */
  readonly key: string;
  readonly executor: ExecutorName;
  readonly signal: AbortSignal;
  /** True if it must be started now or not at all. */
  readonly isUrgent?: boolean | undefined;
  /** True if it continues without its call; asked at its end. */
  readonly isDetached?: (() => boolean) | undefined;
}

export async function runChild(
  node: DelegationNode,
  order: ChildOrder,
  { executor, signal, isDetached }: Spawning,
): Promise<ChildReport> {
  const startedAtMs = node.now();
  const tellEnd = node.conversations?.open(signal);
  let report: ChildReport | undefined;
  let failure: Failure | undefined;
  try {
    report = await node.executors[executor].run(order, signal);
    await finish(node, order, { report, isBackground: isDetached?.() ?? false });
    return report;
  } catch (thrown) {
    failure = toFailure(thrown);
    throw thrown;
  } finally {
    const { task, key } = order;
    const id = `${node.id}/${key}`;
    const endedAtMs = node.now();
    const child = { id, parentId: node.id, task, startedAtMs, endedAtMs, report, failure };
    await tellEnd?.(child);
  }
}

async function finish(
  node: DelegationNode,
  { task, key }: ChildOrder,
  { report, isBackground }: { readonly report: ChildReport; readonly isBackground: boolean },
): Promise<void> {
  const { id: child_id, ending, message, turns, usage, costUsd: cost_usd } = report;
  const label = task.label ?? key;
  const at_ms = node.now();
  const flags = {
    ...(hasDoneNothing(task, report) ? { did_nothing: true } : {}),
    ...(isSilent(report) ? { no_answer: true } : {}),
    ...(isBackground ? { background: true } : {}),
  };
  const figures = { turns, usage, cost_usd };
  await node.emit([
    { type: "child_end", child_id, label, ending, message, ...figures, ...flags, at_ms },
  ]);
}

/** True if it had tools, says that it is done, and has not used one: its answer is based on nothing. */
function hasDoneNothing({ tools }: ChildOrder["task"], report: ChildReport): boolean {
  const { ending, toolCalls, turns } = report;
  // Calls of native tools are not counted here.
  const hadTools = tools.length > 0 && !tools.some(isNativeName);
  return ending === "completed" && hadTools && toolCalls === 0 && turns >= 1;
}

/** For the journal: a replay of the call charges what its children have spent. */
export function addSpent(
  { spentBelow }: DelegationNode,
  callKey: string,
  { spent }: ChildAccount,
): void {
  const before = spentBelow.get(callKey);
  const one = { ...spent, children: spent.children + 1 };
  spentBelow.set(callKey, before ? addAmounts(before, one) : one);
}
