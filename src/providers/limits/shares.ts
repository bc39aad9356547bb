/**
 * Which part of a limit a process may use, where several share it. All of them work it out by the same rule from the
 * same list, so that their parts add up to the limit, and to one more for each process at most.
 */

import type { Demand } from "../../store/vendor-limits.ts";

export interface ShareWish {
  /** In the same order for all. */
  readonly demands: readonly Demand[];
  readonly self: string;
  /** What cannot be divided goes to another one with the next number. */
  readonly turn: number;
}

/**
 * While all calls have room, each process has what it needs and its part of the rest. Where they have not, each has a
 * part by its demand, so that a call waits for about as long in any of them. Every process may make one call: it has
 * to find out for itself that the vendor is well again.
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

/** Divides a whole number by weights, without a rest: whoever is cut the most has one more. */
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
