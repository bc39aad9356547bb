/** The part of a shared budget that a parent keeps for its own next call. */

import { type Amount, type LimitKind, mapKinds, NOTHING } from "./limits.ts";

/** The share of the available budget when children are announced. */
const KEPT = 1 / 10;
/**
 * The tokens for each child's answer that this call has to read, even if it only says why the child
 * did not run.
 */
const ANSWER_TOKENS = 150;

export class KeptPart {
  #amount: Amount = NOTHING;
  /** The amounts that the next call may take. */
  #nextCall: Partial<Amount> = {};

  get amount(): Amount {
    return this.#amount;
  }

  of(kind: LimitKind): number {
    return this.#amount[kind];
  }

  /** Before the first child, with what the parent has. */
  begin(nextCall: Partial<Amount>, left: Amount): void {
    this.#nextCall = nextCall;
    this.#amount = toKept(nextCall, left);
  }

  /** For the answers of so many more children. */
  keepAnswers(answers: number, nextCall: Partial<Amount>, left: Amount): void {
    this.#amount = keepAnswers(this.#amount, answers, nextCall, left);
  }

  /** More has come from outside, for so many children. */
  refill(children: number, payer: Amount, left: Amount): void {
    this.#amount = toKept(this.#nextCall, payer);
    this.keepAnswers(children, this.#nextCall, left);
  }
}

/** `nextCall` is what that call may take. Never more than a half. */
function toKept(nextCall: Partial<Amount>, left: Amount): Amount {
  const kept = mapKinds((kind) => {
    const part = Math.max(left[kind] * KEPT, 2 * (nextCall[kind] ?? 0));
    return left[kind] === Number.POSITIVE_INFINITY ? 0 : Math.min(left[kind] / 2, part);
  });
  return { ...NOTHING, turns: 1, tokens: Math.floor(kept.tokens), usd: kept.usd };
}

/** The next call has to read what each child answers, if only that it did not run. */
function keepAnswers(
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
