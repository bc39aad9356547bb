/**
 * The purse of one response: what it has reserved of its key's budget, in the record. More is asked for in the
 * record, which may take a while: one call after the other, and none for longer than the time limit.
 */

import type { Lacking, Purse } from "../../agent/account.ts";
import { type Amount, NOTHING, toFigure } from "../../agent/limits.ts";
import { NEVER, untilAborted, WAIT_OVER } from "../../base/async.ts";
import { BUSY_LIMIT_MS } from "../../base/busy.ts";
import type { Clock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { createTurnstile } from "../../base/turnstile.ts";
import type { HeldAmounts } from "../../store/holds.ts";
import type { HoldAnswer, Shortage, Spending, Window } from "../../store/spending.ts";
import { toDuration } from "./allowance.ts";
import { type KeyLimits, toSpendingLimits } from "./key.ts";

interface PurseParts {
  readonly spending: Spending;
  readonly clock: Clock;
  readonly keyId: string;
  readonly runId: string;
  readonly limits: KeyLimits;
  /** Called if the record answers after the caller stopped waiting: the run may have ended. */
  readonly endLate: () => Promise<void>;
}

export async function openKeyPurse(parts: PurseParts): Promise<Purse> {
  const { limits } = parts;
  const hasTokens = limits.tokens_per_day !== undefined;
  const hasUsd = limits.usd_per_day !== undefined || limits.usd_total !== undefined;
  const ask = createAsk(parts);
  const line = createTurnstile(1);
  // A run that was taken over keeps its former reservation.
  let answer = await ask({ least: NOTHING, most: NOTHING }, NEVER);
  let asked: Asked = { least: NOTHING, most: NOTHING };
  /** True if asking again is useless: enough is held, or the last request was met and asked as much. */
  const isVain = ({ least, most }: Asked): boolean => {
    const { held } = answer;
    const isMet = (unit: keyof HeldAmounts): boolean =>
      most[unit] <= held[unit] ||
      (asked.least[unit] <= held[unit] &&
        least[unit] <= asked.least[unit] &&
        most[unit] <= asked.most[unit]);
    return (!hasTokens || isMet("tokens")) && (!hasUsd || isMet("usd"));
  };
  return {
    get given() {
      const { tokens, usd } = answer.held;
      return { ...(hasTokens && { tokens }), ...(hasUsd && { usd }) };
    },
    async draw(least, most, signal) {
      // Calls go one after the other: an answer says what is held in total, and the last one counts.
      const before = answer.held;
      const leave = await line.enter(signal);
      try {
        if (!isVain({ least, most })) {
          answer = await ask({ least, most }, signal);
          asked = { least, most };
        }
        // Includes what came for other callers while this one waited.
        return answer.held.tokens > before.tokens || answer.held.usd > before.usd;
      } finally {
        leave();
      }
    },
    explain: () => explain(answer.shortages),
  };
}

interface Asked {
  readonly least: Amount;
  readonly most: Amount;
}

function createAsk(parts: PurseParts): (asked: Asked, signal: AbortSignal) => Promise<HoldAnswer> {
  const { spending, clock, keyId, runId, limits, endLate } = parts;
  const weighed = toSpendingLimits(limits, ["tokens", "usd"]);
  return async ({ least, most }, signal) => {
    const wish = { id: runId, least: toWished(least), most: toWished(most) };
    const answered = spending.hold(keyId, wish, weighed, clock.now());
    const done = new AbortController();
    const late = clock.sleep(BUSY_LIMIT_MS, done.signal).then(() => {
      throw toSilent();
    });
    late.catch(() => {});
    let isHeard = false;
    try {
      const answer = await untilAborted(Promise.race([answered, late]), signal);
      isHeard = true;
      return answer;
    } finally {
      done.abort(WAIT_OVER);
      // An amount that arrives now has no caller, unless the run continues and asks again.
      if (!isHeard) void answered.then(endLate).catch(() => {});
    }
  };
}

function toWished({ tokens, usd }: Amount): HeldAmounts {
  return { tokens, usd };
}

function toSilent(): Failure {
  const message = `The store did not answer within ${toDuration(BUSY_LIMIT_MS)}, so the remaining budget is not known. Nothing was spent; try again.`;
  return new Failure("store_busy", message);
}

/** A fixed wait, because it is not known when another response returns what it does not need. */
const RETRY_MS = 1000;

/** Explains the limit that has the least left. */
function explain(shortages: readonly Shortage[]): Lacking {
  const leftOf = ({ limit, used }: Shortage): number => Math.max(0, limit - used);
  const [nearest] = [...shortages].sort((a, b) => leftOf(a) / a.limit - leftOf(b) / b.limit);
  if (!nearest) return { message: "This key's budget is used up.", retryAfterMs: undefined };
  const { unit, window, limit, heldByOthers, retryAfterMs } = nearest;
  const left = `This key has ${toFigure(unit, leftOf(nearest))} of ${toFigure(unit, limit)} left ${TIMES[window]}`;
  if (heldByOthers > 0) {
    const message = `${left}, of which other responses have reserved ${toFigure(unit, heldByOthers)}. The rest does not pay for this request: ask for less, or ask again when they have ended.`;
    return { message, retryAfterMs: RETRY_MS };
  }
  const wait =
    retryAfterMs === undefined
      ? "This budget does not come back."
      : `There is more in ${toDuration(retryAfterMs)}.`;
  return { message: `${left}, which does not pay for this request. ${wait}`, retryAfterMs };
}

const TIMES: Readonly<Record<Window, string>> = {
  minute: "in this minute",
  day: "today (UTC)",
  total: "in all",
};
