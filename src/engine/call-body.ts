/** Runs a body, from its call to the ending that is written for it. */

import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/failure.ts";
import type { Journal, NewQueuedRun } from "../store/journal.ts";
import type { BrokenRun } from "./broken-runs.ts";
import { toFailedOutcome, toUsedByRun, type UsedByRun } from "./ending.ts";
import type { RunBody, RunContext, RunOutcome } from "./engine.ts";
import type { Hub } from "./hub.ts";
import type { OwnedRun } from "./owned-run.ts";
import { enterCode } from "./run-code.ts";

interface Called {
  readonly context: RunContext;
  readonly owned: OwnedRun;
  readonly clock: Clock;
  /** What the run ends with; its body is not called then. */
  readonly broken: BrokenRun | undefined;
}

/** A body that throws has an outcome too. */
export async function callBody(
  body: RunBody | undefined,
  { context, owned, clock, broken }: Called,
): Promise<RunOutcome> {
  const { run, log, signal } = owned;
  let used: UsedByRun | undefined = broken?.used;
  try {
    if (broken) throw broken.failure;
    if (!body) throw new Failure("internal", `Body \`${run.name}\` is not defined.`);
    const code = { run: run.id, key: "", kind: "body" } as const;
    const outcome = await enterCode(code, () => body(context, run.input));
    used = toUsedByRun(outcome);
    await log.settled();
    return outcome;
  } catch (thrown) {
    return toFailedOutcome(thrown, { signal, atMs: clock.now(), used });
  }
}

interface EndingParts {
  readonly store: Journal;
  readonly hub: Hub;
  readonly clock: Clock;
  readonly owned: OwnedRun;
  /** The runs that begin because of it. */
  readonly starts: readonly NewQueuedRun[] | undefined;
}

/** Followers receive its events, and need not look for the ending. */
export async function writeEnding(
  { store, hub, clock, owned, starts }: EndingParts,
  { ending, result, events, things, settles, onEnded }: RunOutcome,
): Promise<void> {
  const { id } = owned.run;
  // A refused append has failed the run already; the ending follows what is in the log.
  await owned.log.settled().catch(() => {});
  const firstSeq = owned.log.next;
  const end = { ending, result, events, firstSeq, at_ms: clock.now(), things, settles, starts };
  await owned.write(() => store.finish(id, owned.epoch, end));
  onEnded?.();
  hub.publish(id, firstSeq, events);
}
