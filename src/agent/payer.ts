/**
 * Who pays for calls that are not model calls of a loop: embeddings, images. What such a call may cost is
 * set aside before it is made, and what it did cost is booked after it, as for every other call.
 */

import { type Account, takeDrawn } from "./account.ts";
import { toUnknownPrice } from "./call-cost.ts";
import { type Amount, NOTHING } from "./limits.ts";

export interface Payer {
  /**
   * Makes a call that costs `most`, or what it says itself through `used`. Rejects with
   * `budget_exceeded`, and makes no call, where that is not there, or where dollars are limited and the
   * price is not known. A call that fails costs what it said until then.
   */
  pay<Out>(most: Cost, call: (used: (cost: Cost) => void) => Promise<Out>): Promise<Out>;
}

export interface Cost {
  readonly tokens: number;
  /** Undefined where the price is not known. */
  readonly usd: number | undefined;
}

/** `onPaid` is told what each call took, for whoever writes it down. */
export function createPayer(account: Account, onPaid?: (amount: Amount) => void): Payer {
  return {
    async pay(most, call) {
      if (most.usd === undefined && account.limits.usd !== null) throw toUnknownPrice();
      const cost = toAmount(most);
      const hold = await takeDrawn(account, { least: cost, most: cost }, () => account.hold(cost));
      const settle = (used: Cost): void => {
        const amount = toAmount(used);
        hold.settle(amount);
        onPaid?.(amount);
      };
      let said: Cost | undefined;
      try {
        const out = await call((used) => {
          said = said ? addCosts(said, used) : used;
        });
        settle(said ?? most);
        return out;
      } catch (thrown) {
        if (said) settle(said);
        else hold.release();
        throw thrown;
      }
    },
  };
}

function toAmount({ tokens, usd = 0 }: Cost): Amount {
  return { ...NOTHING, tokens, usd };
}

function addCosts(a: Cost, b: Cost): Cost {
  const usd = a.usd === undefined || b.usd === undefined ? undefined : a.usd + b.usd;
  return { tokens: a.tokens + b.tokens, usd };
}
