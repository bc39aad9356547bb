/**
 * The children of a replayed run. Wherever they had run, they run in this process: no process is started. How each of
 * them ended is taken from its parent's record, because a parent sees more of a child in a process of its own than the
 * child's log has: an exit code, a signal, a process that never began.
 */

import { type Account, createAccount } from "../../agent/account.ts";
import { NO_LIMITS, NOTHING } from "../../agent/limits.ts";
import { Failure } from "../../base/failure.ts";
import type { ChildEnd, RunEvent } from "../../protocol/run-events.ts";
import type { ChildOrder, ChildReport, Executor } from "../child.ts";
import { ASK_PARENT } from "../tools/names.ts";
import type { RecordedRun } from "./recorded-run.ts";

export interface ReplayedChildren {
  /** Calls with a child that did not stay as it was recorded. */
  readonly changed: ReadonlySet<string>;
  /** Replaces every executor. */
  wrapExecutor(inProcess: Executor): Executor;
  /** Why a child is not started: it was not, the first time. */
  refusal(key: string): Failure | undefined;
  /** True if it could ask its parent; undefined if the record does not say. */
  couldAsk(key: string): boolean | undefined;
}

export interface ReplayedParts {
  /** The parent's record, as long as nothing has been different. */
  recorded(): RecordedRun | undefined;
  /** The recorded child, and whether the replayed one followed it. */
  child(key: string): ReplayedChild;
}

export interface ReplayedChild {
  readonly recorded: RecordedRun | undefined;
  readonly isFaithful: boolean;
}

export function createReplayedChildren({ recorded, child }: ReplayedParts): ReplayedChildren {
  const changed = new Set<string>();
  const endOf = (key: string): ChildEnd | undefined => {
    const log = recorded()?.log ?? [];
    return log.map(({ event }) => event).findLast((event) => isEndOf(event, key)) as
      | ChildEnd
      | undefined;
  };
  return {
    changed,
    wrapExecutor: (inProcess) => ({
      async run(order, signal) {
        const { key, callKey } = order;
        const end = endOf(key);
        if (end && !child(key).recorded) return toReport(end, order);
        // A replayed child ends where it ended; a sibling that is replayed faster does not stop it.
        const until = end ? new AbortController().signal : signal;
        const report = await inProcess.run(order, until);
        if (child(key).isFaithful) return end ? { ...report, ...toEnding(end) } : report;
        changed.add(callKey);
        return report;
      },
    }),
    refusal(key) {
      const run = recorded();
      if (!run || run.log.some(({ event }) => isStartOf(event, key))) return undefined;
      return new Failure("budget_exceeded", "Not started, as it was recorded.");
    },
    couldAsk(key) {
      const layer = child(key).recorded?.start.settings.grant.at(-1);
      return layer && JSON.stringify(layer["tools"]).includes(`"${ASK_PARENT}"`);
    },
  };
}

/** True if a recorded call has started any child. */
export function hasChildren({ log }: RecordedRun, callKey: string): boolean {
  const place = lastPart(callKey);
  return log.some(
    ({ event }) => event.type === "child_start" && lastPart(event.call_key) === place,
  );
}

/**
 * The account that pays for model calls of a replayed run. They were paid for, so there is no limit, up to the call
 * that was not made: `refused` is why.
 */
export function createReplayAccount(refused: () => Failure | undefined): Account {
  const account = createAccount(NO_LIMITS, {
    get given() {
      return refused() ? { turns: account.spent.turns } : {};
    },
    raise() {},
    async gather() {
      throw refused() ?? new Failure("internal", "A call that was made has been paid for.");
    },
  });
  return account;
}

function isEndOf(event: RunEvent, key: string): boolean {
  return event.type === "child_end" && lastPart(event.child_id) === key;
}

function isStartOf(event: RunEvent, key: string): boolean {
  return event.type === "child_start" && lastPart(event.child_id) === key;
}

function lastPart(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

function toEnding({ ending, message, turns, usage, cost_usd }: ChildEnd) {
  return { ending, message, turns, usage, costUsd: cost_usd };
}

/** The report of a child that ended before it began. */
function toReport(end: ChildEnd, { key }: ChildOrder): ChildReport {
  const none = { error: null, text: "", json: undefined, toolCalls: 0, spent: NOTHING };
  return { id: key, ...toEnding(end), ...none };
}
