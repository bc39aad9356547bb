/**
 * The reservations of unfinished responses on a key's budget, and how much one of them may have.
 *
 * A response that says what it needs gets that much if it is available. Any other gets a share: what is available,
 * divided by the responses in flight and one more. So the first has half, and the tenth still has a hundredth: no
 * response waits for money that others hold and do not use. The last few tokens of a budget go to one response: halves
 * of them would be too few for any.
 */

export interface HeldAmounts {
  readonly tokens: number;
  readonly usd: number;
}

/** The total size that a hold should have: it grows and never shrinks. */
export interface HoldWish {
  /** The run it is for. */
  readonly id: string;
  /** The run can do nothing with less. */
  readonly least: HeldAmounts;
  /** `Infinity` if it is not known. */
  readonly most: HeldAmounts;
}

export interface KeyHold extends HeldAmounts {
  readonly id: string;
}

/** For each unit, what a key's holds may have together; `Infinity` without a limit. */
export type Available = HeldAmounts;

const NONE: HeldAmounts = { tokens: 0, usd: 0 };

/** The amount that a new hold gets, given all holds of the key's responses. */
export function toHeld(wish: HoldWish, all: readonly KeyHold[], available: Available): HeldAmounts {
  const own = all.find(({ id }) => id === wish.id) ?? NONE;
  const others = all.filter(({ id }) => id !== wish.id);
  const raise = (unit: keyof HeldAmounts): number => {
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
  /** The budget that is available for this hold, its own amount included. */
  readonly free: number;
  readonly own: number;
  readonly least: number;
  readonly most: number;
  /** A remainder of this size is not divided any more. */
  readonly small: number;
}

/** Too few for an answer: a half would be useless, and left over at the end of a budget. */
const SMALL: HeldAmounts = { tokens: 100, usd: 0 };

/** If the least is not available, the hold gets nothing more: it could not be used. */
function toPart({ free, own, least, most, small }: Asked, others: readonly KeyHold[]): number {
  if (least > free) return own;
  const share = (free - least) / (others.length + 2);
  const part = least + Math.max(share, Math.min(small, free - least));
  return Math.max(own, Math.min(most, part));
}
