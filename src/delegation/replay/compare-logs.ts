/** Finds where two logs of the same run differ: the first event that is not the same. Times and ids do not count. */

import type { LoggedEvent, RunEvent } from "../../protocol/run-events.ts";

export interface Divergence {
  readonly path: string;
  /** The event's number in the recorded log. */
  readonly seq: number;
  readonly recorded: string;
  readonly replayed: string;
}

export function findDivergence(
  path: string,
  recorded: readonly LoggedEvent[],
  replayed: readonly LoggedEvent[],
): Divergence | undefined {
  const untimed = new Set([...findUntimed(recorded), ...findUntimed(replayed)]);
  const before = toComparable(recorded, untimed);
  const whole = toComparable(replayed, untimed);
  // The log of a run whose process died has no end: everything that is there is compared.
  const hasEnd = recorded.some(({ event }) => event.type === "run_end");
  const after = hasEnd ? whole : whole.slice(0, before.length);
  for (let at = 0; at < Math.max(before.length, after.length); at++) {
    const old = before[at];
    const now = after[at];
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

/** Calls that ran at the same time end in any order: within a turn they are compared by call. */
function toComparable(
  log: readonly LoggedEvent[],
  untimed: ReadonlySet<string>,
): readonly Comparable[] {
  const open = findOpenAtEnd(log);
  const isUntimed = ({ event }: LoggedEvent): boolean =>
    event.type === "child_end" && untimed.has(placeOf(event.child_id));
  const kept = log.filter(
    (logged) => COUNTS.has(logged.event.type) && !open.has(logged) && !isUntimed(logged),
  );
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

/**
 * Calls in flight when the run ended, with their children: which of them had begun, and how far they were, is chance.
 */
function findOpenAtEnd(log: readonly LoggedEvent[]): ReadonlySet<LoggedEvent> {
  const from = log.findLastIndex(({ event }) => event.type === "turn_end");
  const open: LoggedEvent[] = [];
  for (const logged of log.slice(from + 1)) {
    const { event } = logged;
    if (event.type === "tool_start") open.push(logged);
    if (event.type !== "tool_end") continue;
    const at = open.findIndex(
      (one) => "call_id" in one.event && one.event.call_id === event.call_id,
    );
    if (at >= 0) open.splice(at, 1);
  }
  if (open.length === 0) return new Set();
  const children = log.slice(from + 1).filter(({ event }) => CHILDREN.has(event.type));
  return new Set([...open, ...children]);
}

/** The places of background children: when one of them ended is chance; how it ended is in its own log. */
function findUntimed(log: readonly LoggedEvent[]): string[] {
  return log.flatMap(({ event }) =>
    event.type === "child_end" && event.background === true ? [placeOf(event.child_id)] : [],
  );
}

function placeOf(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

const CHILDREN: ReadonlySet<RunEvent["type"]> = new Set(["child_start", "child_end"]);

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
  "run_input",
  "child_news",
  "compaction",
  "run_end",
]);
const CALLS: ReadonlySet<RunEvent["type"]> = new Set([
  "tool_start",
  "tool_end",
  "child_start",
  "child_end",
]);

/** Fields that differ in every run. */
const VARYING: ReadonlySet<string> = new Set([
  "at_ms",
  "created_at_ms",
  "run_id",
  "parent_id",
  "child_id",
  "continue",
  "mark",
  "call_key",
  // For a child that its call left when it asked: it is replayed as a background child.
  "background",
  "model_reason",
  // Names the parts of the instructions, which are compared. A child in a process of its own gets them as one text.
  "told",
  // A replay belongs to no session.
  "session",
  "cost_usd",
  // A child's share depends on what its siblings have returned by then, and on what calls cost.
  "limits",
  "spent",
  "did_nothing",
  "no_answer",
]);

function toText(event: RunEvent): string {
  const isCut = "ending" in event && CUT.has(event.ending);
  return JSON.stringify(event, (key, value: unknown) =>
    VARYING.has(key) || (isCut && key === "usage") ? undefined : value,
  );
}

/** The usage of an interrupted call is an estimate of the moment. */
const CUT: ReadonlySet<string> = new Set(["cancelled", "timeout", "failed"]);
