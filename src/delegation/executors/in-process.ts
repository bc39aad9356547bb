/**
 * Children as runs of the same engine: found again when their parent is replayed. They run in this process, or in any
 * process that shares the record and has room.
 */

import type { ChildAccount } from "../../agent/account.ts";
import { NOTHING } from "../../agent/limits.ts";
import { encodeTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import { createSlices } from "../../base/slices.ts";
import type { QueuedPlace, RunContext, RunOutcome } from "../../engine/engine.ts";
import type { RunEnd, RunEvent } from "../../protocol/run-events.ts";
import type { ChildReport, Executor } from "../child.ts";
import type { GivenBudgets } from "../placed/given-budgets.ts";
import { chargeUpTo } from "./top-ups.ts";

/** The accounts of children that run here, by their ids: their bodies spend from them. */
export type OpenAccounts = Map<string, ChildAccount>;

/** The queue in which a child waits for a process that has room. */
export type PlaceOf = (child: {
  readonly depth: number;
  readonly tenant: string | null;
}) => QueuedPlace;

/** How children are left to any process that has room. */
export interface Placing {
  readonly placeOf: PlaceOf;
  readonly budgets: GivenBudgets;
}

export function createInProcessExecutor(
  context: RunContext,
  body: string,
  accounts: OpenAccounts,
  placing?: Placing,
): Executor {
  return {
    // One child begins in each turn of the event loop: a hundred at once would send their first requests only when all
    // of them are ready (bench/delegation.ts), and block all other work meanwhile.
    async enter() {
      await createSlices(context.tenant ?? "").next();
      return () => {};
    },
    async run({ key, callKey, task, account, timeoutMs, onStart }, signal) {
      const id = `${context.id}/${key}`;
      if (!placing) accounts.set(id, account);
      // A child that another process may run asks for more by messages.
      const given = placing?.budgets.open(id, account, signal);
      try {
        const title = task.label ?? key;
        const queue = placing?.placeOf({ depth: task.depth, tenant: context.tenant });
        const options = { timeoutMs, title, queue };
        const child = await context.child(key, body, encodeTask(task), options);
        onStart?.();
        // A cancelled parent takes its children along by itself; this is for one child alone.
        const stop = (): void => void child.cancel().catch(() => {});
        signal.addEventListener("abort", stop, { once: true });
        if (signal.aborted) stop();
        const read = ({ events }: RunOutcome): ChildReport => {
          const report = toReport(child.id, events);
          // A child that another process ran, or that ended before a restart, has not spent from this account.
          chargeUpTo(account, report.spent);
          // One that was cancelled during its replay has not counted all that it had spent before.
          if (report.ending !== "cancelled") account.counted();
          return report;
        };
        try {
          return read(
            await context.waiting(callKey, () =>
              given ? Promise.race([child.result(), given.failed]) : child.result(),
            ),
          );
        } catch (thrown) {
          // A run that is being ended pays for what its children have used by then, wherever they are.
          const isEnding = context.signal.aborted && !context.isLost;
          if (isEnding) await child.end().then(read, () => {});
          throw thrown;
        } finally {
          signal.removeEventListener("abort", stop);
        }
      } finally {
        given?.stop();
        accounts.delete(id);
      }
    },
  };
}

/** How a child ended, from its last events. */
export function toReport(id: string, events: readonly RunEvent[]): ChildReport {
  const end = events.findLast((event): event is RunEnd => event.type === "run_end");
  if (!end) throw new Failure("internal", `The log of ${id} has no ending.`);
  return {
    id,
    ending: end.ending,
    message: end.message,
    error: end.error,
    waits: end.waits,
    text: end.output_text,
    json: end.output_json,
    turns: end.turns,
    toolCalls: end.tool_calls,
    usage: end.usage,
    costUsd: end.cost_usd,
    spent: { ...NOTHING, ...end.spent },
  };
}
