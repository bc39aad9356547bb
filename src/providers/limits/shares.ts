/**
 * Calculates the share of a limit that a process may use, if several processes use it. All use the same
 * rule and the same list, so that their shares add up to the limit, plus at most one for each process.
 */

import type { Demand } from "../../store/vendor-limits.ts";

export interface ShareWish {
  /** In the same order for all. */
  readonly demands: readonly Demand[];
  readonly self: string;
  /** The remainder of the division goes to another process with the next number. */
  readonly turn: number;
}

/**
 * If all calls fit, each process gets what it needs and an equal part of the rest. If they do not, each
 * gets a share by its demand, so that a call waits about equally long in all of them. Every process may
 * make one call: it must find out by itself that the vendor accepts calls again.
 */
export function toShare(limit: number, { demands, self, turn }: ShareWish): number {
  const at = demands.findIndex(({ process }) => process === self);
  if (at < 0) return Math.max(1, limit);
  const calls = demands.map((demand) => demand.calls);
  const all = sum(calls);
  const same = calls.map(() => 1);
  const shares =
    all <= limit
      ? divide(limit - all, same, turn).map((rest, index) => rest + (calls[index] ?? 0))
      : divide(limit, calls, turn);
  return Math.max(1, shares[at] ?? 0);
}

/** Divides a whole number by weights, without a rest. Those that lose the most by rounding get one more. */
function divide(amount: number, weights: readonly number[], turn: number): number[] {
  const exact = weights.map((weight) => (amount * weight) / sum(weights));
  const whole = exact.map(Math.floor);
  const rest = (index: number): number => (exact[index] ?? 0) - (whole[index] ?? 0);
  const place = (index: number): number => (index + turn) % weights.length;
  const order = [...weights.keys()].sort((a, b) => rest(b) - rest(a) || place(a) - place(b));
  const lucky = new Set(order.slice(0, amount - sum(whole)));
  return whole.map((part, index) => part + (lucky.has(index) ? 1 : 0));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
