/**
 * What responses on their way have set aside of a key's budget, and how much one of them may have.
 *
 * A response that says what it needs gets it where it is there. One that does not is given a part: what
 * is free, divided by those on their way and one to come. So the first has half, and the tenth still
 * has a hundredth: nobody waits for money that others hold and do not use. The last few tokens of a budget
 * go to one response: halves of them would be too few for anybody.
 */

export interface Held {
  readonly tokens: number;
  readonly usd: number;
}

/** A hold as it is to be, all in all: it grows and never shrinks. */
export interface HoldWish {
  /** The run it is for. */
  readonly id: string;
  /** It can do nothing with less. */
  readonly least: Held;
  /** `Infinity` where nobody knows. */
  readonly most: Held;
}

export interface Hold extends Held {
  readonly id: string;
}

/** Of a unit, what is there for a key's holds together; `Infinity` where it has no limit. */
export type Available = Held;

const NONE: Held = { tokens: 0, usd: 0 };

/** What the one of the wish may hold, of all that the key's responses hold. */
export function toHeld(wish: HoldWish, all: readonly Hold[], available: Available): Held {
  const own = all.find(({ id }) => id === wish.id) ?? NONE;
  const others = all.filter(({ id }) => id !== wish.id);
  const raise = (unit: keyof Held): number => {
    const free = available[unit] - others.reduce((sum, hold) => sum + hold[unit], 0);
    const { least, most } = wish;
    const small = SMALL[unit];
    return toPart({ free, own: own[unit], least: least[unit], most: most[unit], small }, others);
  };
  return {
    tokens: Number.isFinite(available.tokens) ? Math.floor(raise("tokens")) : 0,
    usd: Number.isFinite(available.usd) ? raise("usd") : 0,
  };
}

interface Asked {
  /** What is there for this hold, its own included. */
  readonly free: number;
  readonly own: number;
  readonly least: number;
  readonly most: number;
  /** A rest of this size is not divided any more. */
  readonly small: number;
}

/** Too few for an answer: halves of them help nobody, and would be left over at the end of a budget. */
const SMALL: Held = { tokens: 100, usd: 0 };

/** Where the least is not there, more would help nobody. */
function toPart({ free, own, least, most, small }: Asked, others: readonly Hold[]): number {
  if (least > free) return own;
  const share = (free - least) / (others.length + 2);
  const part = least + Math.max(share, Math.min(small, free - least));
  return Math.max(own, Math.min(most, part));
}
