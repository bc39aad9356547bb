/**
 * Children as runs of the same engine: found again when their parent is replayed. They run in this process, or
 * in whichever has room of those that share the record.
 */

import type { ChildAccount } from "../../agent/account.ts";
import { NOTHING } from "../../agent/limits.ts";
import { encodeTask } from "../../agent/task.ts";
import { Failure } from "../../base/failure.ts";
import { createSlices } from "../../base/slices.ts";
import type { QueuedPlace, RunContext } from "../../engine/engine.ts";
import type { RunEnd, RunEvent } from "../../protocol/run-events.ts";
import type { ChildReport, Executor } from "../child.ts";
import type { GivenBudgets } from "../placed/given-budgets.ts";
import { chargeUpTo } from "./top-ups.ts";

/** The accounts of children that run here, by their ids: their bodies spend from them. */
export type OpenAccounts = Map<string, ChildAccount>;

/** The queue that a child waits in for a process that has room. */
export type PlaceOf = (child: {
  readonly depth: number;
  readonly tenant: string | null;
}) => QueuedPlace;

/** How children are left to whichever process has room. */
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
    // One begins in each turn of the event loop: a hundred at once would send their first requests
    // only when all of them are ready (bench/delegation.ts), and hold up everybody else meanwhile.
    async enter() {
      await createSlices(context.tenant ?? "").next();
      return () => {};
    },
    async run({ key, callKey, task, account, timeoutMs, onStart }, signal) {
      const id = `${context.id}/${key}`;
      if (!placing) accounts.set(id, account);
      // One that another process may run asks for more by messages.
      const given = placing?.budgets.open(id, account, signal);
      try {
        const title = task.label ?? key;
        const queue = placing?.placeOf({ depth: task.depth, tenant: context.tenant });
        const options = { timeoutMs, title, queue };
        const child = await context.child(key, body, encodeTask(task), options);
        onStart?.();
        // A cancelled parent takes its children along by itself; this is for one child alone.
        const stop = (): void => void child.cancel();
        signal.addEventListener("abort", stop, { once: true });
        if (signal.aborted) stop();
        try {
          const { events } = await context.waiting(callKey, () =>
            given ? Promise.race([child.result(), given.failed]) : child.result(),
          );
          const report = toReport(child.id, events);
          // One that another process ran, or that ended before a restart, has not spent from this account.
          chargeUpTo(account, report.spent);
          return report;
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

/** How a child ended, as its last events tell. */
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
