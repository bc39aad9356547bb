/**
 * The rule that says which work in a log a takeover abandoned, for every reader of a log. Pure.
 *
 * A process that dies leaves a turn without its `turn_end`, or calls without their `tool_end`. Its
 * successor writes `run_resume` and does exactly these again, so at a `run_resume` the open turn and the
 * open calls are abandoned: nothing of them is part of an answer or is counted. In a log that ends without
 * a `run_resume` (the run was cancelled, or failed) the same events are partial work, and stay. A turn that
 * its vendor refused as too long is made again too: a `compaction` abandons it.
 */

import type { RunEvent, ToolStart } from "./run-events.ts";

export interface Abandoned {
  /** True if the model's turn was open: everything in it is abandoned. */
  readonly turn: boolean;
  /** The calls in flight, in the order of their starts. */
  readonly calls: readonly ToolStart[];
}

export interface OpenWork {
  /**
   * Call it with each event of one run's log, in order. Returns the work that a `run_resume` or a
   * `compaction` abandons.
   */
  read(event: RunEvent): Abandoned | undefined;
}

const NO_CALLS: readonly ToolStart[] = [];

export function createOpenWork(): OpenWork {
  let isTurnOpen = false;
  let calls: ToolStart[] = [];
  return {
    read(event) {
      switch (event.type) {
        case "turn_start":
          isTurnOpen = true;
          calls = [];
          return undefined;
        case "turn_end":
          isTurnOpen = false;
          return undefined;
        case "tool_start":
          calls.push(event);
          return undefined;
        case "tool_end": {
          // Servers give one id to several calls: the first open one has ended.
          const at = calls.findIndex(({ call_id }) => call_id === event.call_id);
          if (at >= 0) calls.splice(at, 1);
          return undefined;
        }
        case "run_end":
          isTurnOpen = false;
          calls = [];
          return undefined;
        case "compaction": {
          const abandoned = isTurnOpen ? { turn: true, calls: NO_CALLS } : undefined;
          isTurnOpen = false;
          return abandoned;
        }
        case "run_resume": {
          const abandoned = { turn: isTurnOpen, calls: calls.length > 0 ? calls : NO_CALLS };
          isTurnOpen = false;
          calls = [];
          return abandoned;
        }
        default:
          return undefined;
      }
    },
  };
}

/** The log without abandoned work, as if nothing had interrupted the run. */
export function withoutAbandoned(log: readonly RunEvent[]): RunEvent[] {
  const dropped = findAbandoned(log);
  return log.filter((_, at) => !dropped.has(at));
}

/** The positions of the abandoned events. */
export function findAbandoned(log: readonly RunEvent[]): ReadonlySet<number> {
  const work = createOpenWork();
  const dropped = new Set<number>();
  let turnAt = 0;
  for (const [at, event] of log.entries()) {
    if (event.type === "turn_start") turnAt = at;
    const abandoned = work.read(event);
    if (abandoned?.turn) dropTurn(log, { from: turnAt, to: at }, dropped);
    for (const call of abandoned?.calls ?? []) dropCall(log, { call, to: at }, dropped);
  }
  dropRepeatedChildren(log, dropped);
  return dropped;
}

/** Events that come from others during a turn and are not part of it. */
const OF_OTHERS: ReadonlySet<RunEvent["type"]> = new Set([
  ...["child_event", "client_input"],
  // For a background child: no call is open while the model speaks.
  "child_end",
] as const);

function dropTurn(
  log: readonly RunEvent[],
  { from, to }: { readonly from: number; readonly to: number },
  dropped: Set<number>,
): void {
  for (let at = from; at < to; at++) {
    const type = log[at]?.type;
    if (type !== undefined && !OF_OTHERS.has(type)) dropped.add(at);
  }
}

/** Drops a call from its start, which is before the `run_resume` at `to`. */
function dropCall(
  log: readonly RunEvent[],
  { call, to }: { readonly call: ToolStart; readonly to: number },
  dropped: Set<number>,
): void {
  const from = log.lastIndexOf(call, to);
  for (let at = from; at < to; at++) {
    const event = log[at];
    const isOwn =
      event === call || event?.type === "tool_decision" || event?.type === "tool_progress";
    if (isOwn && event.call_id === call.call_id) dropped.add(at);
  }
}

/**
 * Drops repeated events of children: a call that is made again reports its children again, and the last
 * report counts.
 */
function dropRepeatedChildren(log: readonly RunEvent[], dropped: Set<number>): void {
  const again = new Set<string>();
  for (let at = log.length - 1; at >= 0; at--) {
    const event = log[at];
    if (event?.type !== "child_start" && event?.type !== "child_end") continue;
    if (again.has(event.child_id)) dropped.add(at);
    else if (event.type === "child_start") again.add(event.child_id);
  }
}
