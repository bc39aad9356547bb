/**
 * Pays for calls that are not model calls of a loop: embeddings, images. What such a call may cost is reserved before
 * it is made, and what it did cost is booked after it, as for every other call.
 */

import { type Account, takeDrawn } from "./account.ts";
import { toUnknownPrice } from "./call-estimate.ts";
import { type Amount, NOTHING } from "./limits.ts";

export interface Payer {
  /**
   * Makes a call that costs `most`, or what the call reports through `used`. Rejects with `budget_exceeded`, and makes
   * no call, if that is not available, or if dollars are limited and the price is not known. A call that fails costs
   * what it has reported until then.
   */
  pay<Out>(most: Cost, call: (used: (cost: Cost) => void) => Promise<Out>): Promise<Out>;
}

export interface Cost {
  readonly tokens: number;
  /** Undefined if the price is not known. */
  readonly usd: number | undefined;
}

/** `onPaid` is called with what each call took, so that the caller can write it down. */
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
