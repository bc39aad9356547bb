/**
 * The time of all subagents of a run together: while at least one of them runs, it passes once. A child gets the
 * remaining time when it starts, so that none runs beyond it.
 */

import { NOTHING } from "../../agent/limits.ts";
import { NO_USAGE } from "../../protocol/usage.ts";
import type { ChildOrder, ChildReport, Executor } from "../child.ts";

interface TotalTime {
  readonly totalMs: number;
  readonly now: () => number;
  /** The id of the run that delegates. */
  readonly parentId: string;
}

/** Makes executors that share the time. */
export function createTotalTime({ totalMs, now, parentId }: TotalTime): (of: Executor) => Executor {
  let usedMs = 0;
  let open = 0;
  let sinceMs = 0;
  const leftMs = (): number => totalMs - usedMs - (open > 0 ? now() - sinceMs : 0);
  return (executor) => ({
    ...executor,
    async run(order, signal) {
      const left = Math.floor(leftMs());
      if (left <= 0) return toRefusal(`${parentId}/${order.key}`, totalMs);
      if (open++ === 0) sinceMs = now();
      try {
        return await executor.run(withTime(order, left), signal);
      } finally {
        if (--open === 0) usedMs += now() - sinceMs;
      }
    },
  });
}

function withTime(order: ChildOrder, leftMs: number): ChildOrder {
  return leftMs < order.timeoutMs ? { ...order, timeoutMs: leftMs } : order;
}

function toRefusal(id: string, totalMs: number): ChildReport {
  return {
    id,
    ending: "timeout",
    message: `Not started: the ${totalMs / 1000} s of all subagents are used up.`,
    error: null,
    text: "",
    json: undefined,
    turns: 0,
    toolCalls: 0,
    usage: NO_USAGE,
    costUsd: 0,
    spent: NOTHING,
  };
}
