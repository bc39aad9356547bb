/** What a run that delegates keeps for its own next call. Pure. */

import { type Amount, mapKinds, NOTHING } from "./limits.ts";

/** Of what is free when children are announced, the parent keeps so much for its own next call. */
const KEPT = 1 / 10;
/** And so much for each answer that this call has to read: one that says why there was none. */
const ANSWER_TOKENS = 150;

/** Before the first child. `left` is what the run has, `nextCall` what that call may take. */
export function toKept(left: Amount, nextCall: Partial<Amount>): Amount {
  const kept = mapKinds((kind) => {
    const part = Math.max(left[kind] * KEPT, 2 * (nextCall[kind] ?? 0));
    return left[kind] === Number.POSITIVE_INFINITY ? 0 : Math.min(left[kind] / 2, part);
  });
  return { ...NOTHING, turns: 1, tokens: Math.floor(kept.tokens), usd: kept.usd };
}

interface NextCall {
  /** What children can have. */
  readonly left: Amount;
  readonly nextCall: Partial<Amount>;
}

/** The next call has to read what each child answers, if only that it did not run. */
export function keepFor(kept: Amount, answers: number, { left, nextCall }: NextCall): Amount {
  const { tokens = 0, usd = 0 } = nextCall;
  const more = answers * ANSWER_TOKENS;
  const price = tokens > 0 ? usd / tokens : 0;
  const grow = (now: number, by: number, free: number): number =>
    Math.max(now, Math.min(now + by, free / 2));
  return {
    ...kept,
    tokens: Math.floor(grow(kept.tokens, tokens > 0 ? more : 0, left.tokens)),
    usd: grow(kept.usd, more * price, left.usd),
  };
}
