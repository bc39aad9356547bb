/**
 * Runs one child: what bounds it is decided, its budget is set aside, its start is written down, and
 * only then does it begin. What it did not spend comes back, and its ending is written down too.
 */

import type { ChildAccount } from "../agent/account.ts";
import { addAmounts } from "../agent/limits.ts";
import { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type { ChildReport, ChildWish } from "./child.ts";
import { toChildLimits, toChildTask } from "./child-task.ts";
import type { DelegationNode } from "./node.ts";
import type { ExecutorName } from "./settings.ts";

export interface Spawning {
  /** The call's idempotency key. */
  readonly callKey: string;
  /** Its place below the parent. */
  readonly key: string;
  /** How many children the same call starts, this one included. */
  readonly siblings: number;
  readonly executor: ExecutorName;
  readonly signal: AbortSignal;
}

/**
 * Rejects with `Failure` for what is refused before anything is started: depth, tools, budget. A child
 * that was started is told of by its report, however it ended.
 */
export async function spawn(
  node: DelegationNode,
  wish: ChildWish,
  spawning: Spawning,
): Promise<ChildReport> {
  checkDepth(node, wish);
  const { task: parent, settings, account } = node;
  const tools = wish.tools ?? parent.tools;
  const maxTurns = wish.maxTurns ?? settings.defaultMaxTurns;
  const place = account.hold({ children: 1 });
  let money: ChildAccount;
  try {
    money = account.open(toChildLimits(account, wish.limits ?? {}, spawning.siblings));
  } catch (thrown) {
    place.release();
    throw thrown;
  }
  const { limits } = money;
  const task = toChildTask(parent, wish, { tools, maxTurns, limits });
  try {
    await node.check(task);
  } catch (thrown) {
    money.close();
    place.release();
    throw thrown;
  }
  const timeoutMs = Math.min(settings.childTimeoutMs, wish.timeoutMs ?? settings.childTimeoutMs);
  const { label, depth } = { label: wish.label, depth: task.depth };
  const child_id = `${node.id}/${spawning.key}`;
  const requested = toRequested(wish);
  const effective: JsonObject = {
    model: task.model,
    tools,
    max_turns: maxTurns,
    limits: { ...limits },
    timeout_ms: timeoutMs,
  };
  node.observe({ event: "spawn", label, depth, max_turns: maxTurns, allowed_tools: tools });
  await node.emit([
    {
      type: "child_start",
      call_key: spawning.callKey,
      ...{ child_id, label, depth, requested, effective },
      at_ms: node.now(),
    },
  ]);
  try {
    const order = { key: spawning.key, task, account: money, timeoutMs };
    const report = await node.executors[spawning.executor].run(order, spawning.signal);
    await finish(node, wish, report);
    return report;
  } finally {
    place.settle({ children: 1 });
    money.close();
    addSpent(node, spawning.callKey, money);
  }
}

function checkDepth({ task, settings, observe }: DelegationNode, { label }: ChildWish): void {
  const { maxDepth: max_depth } = settings;
  if (task.depth < max_depth) return;
  observe({ event: "depth_limit", label, current_depth: task.depth, max_depth });
  const message = `Maximum subagent recursion depth (${max_depth}) exceeded. Current depth: ${task.depth}. Cannot spawn nested subagent.`;
  throw new Failure("forbidden", message);
}

/** As it was asked for; what was not asked for is not there. */
function toRequested({ agent, model, tools, maxTurns, limits, timeoutMs }: ChildWish): JsonObject {
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { tools }),
    ...(maxTurns === undefined ? {} : { max_turns: maxTurns }),
    ...(limits === undefined ? {} : { limits: { ...limits } }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
  };
}

async function finish(
  node: DelegationNode,
  { label }: ChildWish,
  report: ChildReport,
): Promise<void> {
  const { id: child_id, ending, message, turns, usage, costUsd: cost_usd } = report;
  const at_ms = node.now();
  await node.emit([
    { type: "child_end", child_id, label, ending, message, turns, usage, cost_usd, at_ms },
  ]);
}

/** For the journal: a replay of the call charges what its children have spent. */
function addSpent({ spentBelow }: DelegationNode, callKey: string, { spent }: ChildAccount): void {
  const before = spentBelow.get(callKey);
  const one = { ...spent, children: spent.children + 1 };
  spentBelow.set(callKey, before ? addAmounts(before, one) : one);
}
