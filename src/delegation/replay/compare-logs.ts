/** Where two logs of the same run part: the first event that is another one. Times and ids do not count. */

import type { LoggedEvent, RunEvent } from "../../protocol/run-events.ts";

export interface Divergence {
  readonly path: string;
  /** Its number in the recorded log. */
  readonly seq: number;
  readonly recorded: string;
  readonly replayed: string;
}

export function findDivergence(
  path: string,
  recorded: readonly LoggedEvent[],
  replayed: readonly LoggedEvent[],
): Divergence | undefined {
  const before = toComparable(recorded);
  const after = toComparable(replayed);
  for (let at = 0; at < Math.max(before.length, after.length); at++) {
    const [old, now] = [before[at], after[at]];
    if (old?.text === now?.text) continue;
    const nothing = "the end of the log";
    const seq = old?.seq ?? recorded.length;
    return { path, seq, recorded: old?.text ?? nothing, replayed: now?.text ?? nothing };
  }
  return undefined;
}

interface Comparable {
  readonly seq: number;
  readonly text: string;
}

/** Calls that ran side by side end in any order: within a turn they are compared by call. */
function toComparable(log: readonly LoggedEvent[]): Comparable[] {
  const kept = log.filter(({ event }) => COUNTS.has(event.type));
  const groups: LoggedEvent[][] = [];
  for (const logged of kept) {
    const isCall = CALLS.has(logged.event.type);
    const last = groups.at(-1);
    if (isCall && last?.[0] && CALLS.has(last[0].event.type)) last.push(logged);
    else groups.push([logged]);
  }
  return groups.flatMap((group) =>
    group
      .map(({ seq, event }) => ({ seq, text: toText(event) }))
      .sort((a, b) => (group.length === 1 || a.text === b.text ? 0 : a.text < b.text ? -1 : 1)),
  );
}

/** Whole items count; how a server cut them into pieces does not. */
const COUNTS: ReadonlySet<RunEvent["type"]> = new Set([
  "run_start",
  "turn_start",
  "item_end",
  "turn_end",
  "tool_start",
  "tool_end",
  "child_start",
  "child_end",
  "run_end",
]);
const CALLS: ReadonlySet<RunEvent["type"]> = new Set([
  "tool_start",
  "tool_end",
  "child_start",
  "child_end",
]);

/** What is another one in every run. */
const VARYING: ReadonlySet<string> = new Set([
  "at_ms",
  "created_at_ms",
  "run_id",
  "parent_id",
  "child_id",
  "call_key",
  "model_reason",
  "cost_usd",
  "spent",
  "did_nothing",
]);

function toText(event: RunEvent): string {
  return JSON.stringify(event, (key, value: unknown) => (VARYING.has(key) ? undefined : value));
}
