/**
 * Starts one child: its limits are decided, its budget is reserved, its start is written down, and only then does it
 * begin (`run-child.ts`).
 */

import type { ChildAccount } from "../agent/account.ts";
import { toUsualCost } from "../agent/call-cost.ts";
import {
  type Amount,
  eachKind,
  findLacking,
  KINDS,
  type Limits,
  NOTHING,
  toFigure,
} from "../agent/limits.ts";
import type { AgentTask } from "../agent/task.ts";
import { Failure } from "../base/failure.ts";
import type { JsonObject } from "../base/json.ts";
import type { WaitReason } from "../protocol/child-queue.ts";
import type { Usage } from "../protocol/usage.ts";
import type { ChildOrder, ChildReport, ChildWish } from "./child.ts";
import { toCeiling, toChildCeiling, toChildTask, toMaxTurns } from "./child-task.ts";
import { toFirstRequest } from "./first-request.ts";
import type { DelegationNode } from "./node.ts";
import { addSpent, runChild, type Spawning } from "./run-child.ts";

/** A child that may begin: its budget is reserved. Run it once, which returns what it did not spend. */
export interface OrderedChild {
  readonly order: ChildOrder;
  /** `onStart` is called when the child is written down. */
  run(onStart?: () => void): Promise<ChildReport>;
}

/**
 * Rejects with `Failure` for what is refused before the start: depth, tools, budget. A child that was started has a
 * report, however it ended.
 */
export async function spawn(
  node: DelegationNode,
  wish: ChildWish,
  spawning: Spawning,
): Promise<ChildReport> {
  return await (await orderChild(node, wish, spawning)).run();
}

/** Decides, waits for the child's share, and writes the start down; rejects as `spawn` does. */
export async function orderChild(
  node: DelegationNode,
  wish: ChildWish,
  spawning: Spawning,
): Promise<OrderedChild> {
  checkDepth(node, wish);
  const refusal = node.replayed?.refusal(spawning.key);
  if (refusal) throw refusal;
  const { task: parent, settings, account } = node;
  const tools = wish.tools ?? parent.tools;
  const maxTurns = toMaxTurns(wish, settings);
  const limitsNow = toCeiling(account.family.limits, wish.limits ?? {});
  const canAsk = node.replayed?.couldAsk(spawning.key) ?? isAnswered(node, spawning);
  const bounds = { tools, maxTurns, limits: limitsNow, summary: settings.summary, canAsk };
  await node.check(toChildTask(parent, wish, bounds));
  const admitted = await admit(node, wish, { spawning, task: toChildTask(parent, wish, bounds) });
  const { account: money, leave } = admitted;
  const { limits } = money;
  const isPlaced = spawning.executor === "anywhere";
  const ceiling = isPlaced && mayGrow(money) ? money.ceiling : undefined;
  const task = toChildTask(parent, wish, { ...bounds, limits, ceiling });
  const timeoutMs = Math.min(settings.childTimeoutMs, wish.timeoutMs ?? settings.childTimeoutMs);
  const label = wish.label;
  const depth = task.depth;
  const child_id = toChildId(node, spawning);
  const requested = toRequested(wish);
  const effective: JsonObject = {
    model: task.model,
    ...(wish.address?.url ? { url: wish.address.url } : {}),
    ...(task.options ? { options: task.options } : {}),
    tools,
    max_turns: maxTurns,
    limits: { ...limits },
    timeout_ms: timeoutMs,
    ...(isPlaced ? { placed: true } : {}),
  };
  node.observe({ event: "spawn", label, depth, max_turns: maxTurns, allowed_tools: tools });
  await node.emit([
    {
      type: "child_start",
      call_key: spawning.callKey,
      child_id,
      label,
      depth,
      requested,
      effective,
      at_ms: node.now(),
    },
  ]);
  const { key, callKey } = spawning;
  const order = { key, callKey, task, account: money, timeoutMs, leave };
  return toOrdered(node, { order, spawning });
}

/** True if it could be given more than it begins with. */
function mayGrow({ limits, ceiling }: Pick<ChildAccount, "limits" | "ceiling">): boolean {
  return KINDS.some((kind) => {
    const now = limits[kind];
    const most = ceiling[kind];
    return now !== null && (most === null || most > now);
  });
}

/** The id of the child's run. */
export function toChildId(
  { id }: Pick<DelegationNode, "id">,
  { key }: Pick<Spawning, "key">,
): string {
  return `${id}/${key}`;
}

/**
 * True if the child's questions will be answered. Its parent must have the tool for it, and a call that can continue
 * without the child. A child in a process of the parent's own reports a question to it, and finds the answer in the
 * record; a process that the parent does not know reports nothing.
 */
function isAnswered(node: DelegationNode, { executor, isDetached }: Spawning): boolean {
  const isOwn = executor === "child_process" && node.isRecorded === true;
  const isReached = executor === "in_process" || isOwn;
  return isReached && isDetached !== undefined && node.task.tools.includes("subagent");
}

interface Admitting {
  readonly spawning: Spawning;
  /** The child's task with the most that it may have. */
  readonly task: AgentTask;
}

type Admitted = Pick<ChildOrder, "account" | "leave">;

/** Waits for a place, and until there is enough for the child's first call. */
async function admit(
  node: DelegationNode,
  wish: ChildWish,
  { spawning, task }: Admitting,
): Promise<Admitted> {
  const { callKey, executor, signal, isUrgent } = spawning;
  const { costOf } = node.modelOf(task.model);
  // Whether a price must be known was checked before; without a price, no dollars are reserved.
  const prices = { costOf: (usage: Usage) => costOf(usage) ?? 0 };
  const first = toUsualCost(task.limits, toFirstRequest(task, node.specs), prices);
  checkOwnLimits(wish, { ...NOTHING, ...first.least });
  const { maxDepth } = node.settings;
  const ceiling = toChildCeiling(node.account.ceiling, wish, { task, maxDepth });
  const isFixed = executor !== "in_process";
  const child_id = toChildId(node, spawning);
  const onWait = (why: WaitReason): void =>
    node.queue.wait([{ child_id, label: wish.label, callKey }], why);
  const executing = node.executors[executor];
  let leave: (() => void) | undefined;
  const enter = async (until: AbortSignal): Promise<void> => {
    leave = await executing.enter?.(until, () => onWait("process"));
  };
  const newcomer = { ...first, callKey, ceiling, isFixed, isUrgent, onWait, enter };
  const { family } = node.account;
  try {
    if (family.found.has(child_id)) {
      await enter(signal);
      return { account: family.adopt(child_id, newcomer), leave };
    }
    return { account: await family.admit(newcomer, signal), leave };
  } catch (thrown) {
    leave?.();
    throw thrown;
  } finally {
    node.queue.leave(child_id);
  }
}

/** Refuses a child whose own limit is too small for one call. */
function checkOwnLimits({ limits = {} }: ChildWish, least: Amount): void {
  const own = eachKind((kind) => limits[kind] ?? Number.POSITIVE_INFINITY);
  const [kind] = findLacking(least, own);
  if (kind === undefined) return;
  const message = `Not started: its first call may take ${toFigure(kind, least[kind])}, and its own limit is ${toFigure(kind, own[kind])}.`;
  throw new Failure("budget_exceeded", message);
}

interface PastChild extends Pick<ChildOrder, "key" | "task" | "timeoutMs"> {
  /** The fields that were asked for, as its start in the record says. */
  readonly requested: JsonObject;
}

/** Lets a child in that was started before this process took its parent over, and that no call asks for again. */
export function adoptChild(
  node: DelegationNode,
  { requested, ...child }: PastChild,
  spawning: Spawning,
): OrderedChild {
  const { account, settings } = node;
  const { callKey, executor } = spawning;
  const { task } = child;
  const wish = {
    limits: requested["limits"] as Partial<Limits> | undefined,
    response: task.response ?? undefined,
  };
  const ceiling = toChildCeiling(account.ceiling, wish, { task, maxDepth: settings.maxDepth });
  const adopted = { callKey, ceiling, isFixed: executor !== "in_process" };
  const own = account.family.adopt(toChildId(node, spawning), adopted);
  return toOrdered(node, { order: { ...child, callKey, account: own }, spawning });
}

interface Ordering {
  readonly order: ChildOrder;
  readonly spawning: Spawning;
}

function toOrdered(node: DelegationNode, { order, spawning }: Ordering): OrderedChild {
  const run = async (onStart?: () => void): Promise<ChildReport> => {
    let isStarted = false;
    const started = (): void => {
      isStarted = true;
      onStart?.();
    };
    try {
      return await runChild(node, { ...order, onStart: started }, spawning);
    } finally {
      order.leave?.();
      order.account.close();
      // If no call waits for the child, a process that takes the run over reads its spending from the record.
      const isLeft = isStarted && spawning.isDetached?.() === true;
      if (!isLeft) addSpent(node, spawning.callKey, order.account);
    }
  };
  return {
    order,
    run(onStart) {
      const running = run(onStart);
      const closed = running.then(
        () => {},
        () => {},
      );
      node.open.add(closed);
      void closed.then(() => node.open.delete(closed));
      return running;
    },
  };
}

function checkDepth({ task, settings, observe }: DelegationNode, { label }: ChildWish): void {
  const { maxDepth: max_depth } = settings;
  if (task.depth < max_depth) return;
  observe({ event: "depth_limit", label, current_depth: task.depth, max_depth });
  const message = `Maximum subagent recursion depth (${max_depth}) exceeded. Current depth: ${task.depth}. Cannot spawn nested subagent.`;
  throw new Failure("forbidden", message);
}

/** The fields that the call asked for, without those that it left out. */
function toRequested(wish: ChildWish): JsonObject {
  const { agent, model, options, tools, maxTurns, limits, timeoutMs } = wish;
  const { isBackground, continues } = wish;
  return {
    ...(isBackground ? { background: true } : {}),
    ...(continues === undefined ? {} : { continue: continues }),
    ...(options === undefined ? {} : { options }),
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { tools }),
    ...(maxTurns === undefined ? {} : { max_turns: maxTurns }),
    ...(limits === undefined ? {} : { limits: { ...limits } }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
  };
}
