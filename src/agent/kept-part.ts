/** What a parent keeps for its own next call, of what it shares with its children. */

import { type Amount, mapKinds, NOTHING } from "./limits.ts";

/** Of what is free when children are announced. */
const KEPT = 1 / 10;
/** And so much for each answer that this call has to read: one that says why there was none. */
const ANSWER_TOKENS = 150;

/** `nextCall` is what that call may take. Never more than a half. */
export function toKept(nextCall: Partial<Amount>, left: Amount): Amount {
  const kept = mapKinds((kind) => {
    const part = Math.max(left[kind] * KEPT, 2 * (nextCall[kind] ?? 0));
    return left[kind] === Number.POSITIVE_INFINITY ? 0 : Math.min(left[kind] / 2, part);
  });
  return { ...NOTHING, turns: 1, tokens: Math.floor(kept.tokens), usd: kept.usd };
}

/** The next call has to read what each child answers, if only that it did not run. */
export function keepAnswers(
  kept: Amount,
  answers: number,
  { tokens = 0, usd = 0 }: Partial<Amount>,
  left: Amount,
): Amount {
  const more = answers * ANSWER_TOKENS;
  const price = tokens > 0 ? usd / tokens : 0;
  const grow = (before: number, by: number, free: number): number =>
    Math.max(before, Math.min(before + by, free / 2));
  return {
    ...kept,
    tokens: Math.floor(grow(kept.tokens, tokens > 0 ? more : 0, left.tokens)),
    usd: grow(kept.usd, more * price, left.usd),
  };
}
