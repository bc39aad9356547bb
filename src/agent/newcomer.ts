/** Children that a family is still to admit: the announced ones, one that asks to be admitted, and why it is refused. */

import { Failure } from "../base/failure.ts";
import { plural } from "../base/text.ts";
import type { WaitReason } from "../protocol/child-queue.ts";
import { type Amount, KINDS, type LimitKind, type Limits, toFigure } from "./limits.ts";

export interface Newcomer {
  /** The call that starts it. */
  readonly callKey: string;
  /** The most that it may ever have, besides what its parent has. */
  readonly ceiling: Partial<Limits>;
  /** The cost of the child's first call, with an answer of ordinary length. */
  readonly enough: Partial<Amount>;
  /** The lowest cost of the child's first call. */
  readonly least: Partial<Amount>;
  /** Waits for a place to work in. Called first: a child that has no place yet holds nothing that others need. */
  readonly enter?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** True if another process spends its budget: what it was given cannot be taken back. */
  readonly isFixed?: boolean | undefined;
  /** True if the child must be admitted now or not at all: others may wait for its parent, which waits for it. */
  readonly isUrgent?: boolean | undefined;
  /** Called when it has to wait. */
  readonly onWait?: ((why: WaitReason) => void) | undefined;
}

/** A child that an earlier owner of its parent has admitted. */
export type Adopted = Pick<Newcomer, "callKey" | "ceiling" | "isFixed">;

interface Refusal {
  /** How many children are open, and may be. */
  readonly open: number;
  readonly maxOpen: number;
  /** The limits of the parent. */
  readonly limits: Limits;
  readonly ceiling: Limits;
  /** The lowest cost of the child's first call. */
  readonly least: Amount;
  free(kind: LimitKind): number;
  /** How much of a kind is available. */
  there(kind: LimitKind): number;
}

/** The reason why a child is not admitted, for its parent's model. */
export function toRefusal({ open, maxOpen, limits, ceiling, least, ...of }: Refusal): Failure {
  if (open >= maxOpen) {
    const message = `Not started: ${plural(open, "subagent")} at work is the most there may be.`;
    return new Failure("budget_exceeded", message);
  }
  const kind = KINDS.find((one) => limits[one] !== null && least[one] > of.free(one));
  if (kind !== "tokens" && kind !== "usd") {
    const limit = ceiling[kind ?? "children"] ?? 0;
    const message = `The budget of ${toFigure(kind ?? "children", limit)} is used up.`;
    return new Failure("budget_exceeded", message);
  }
  const free = toFigure(kind, of.there(kind));
  const message = `Not started: its first call may take ${toFigure(kind, least[kind])}, and the budget has ${free} left for it.`;
  return new Failure("budget_exceeded", message);
}

/**
 * Counts the children that the calls of a turn will still start. All children of the turn get the
 * same share, started or not.
 */
export class Announced {
  readonly #byCall = new Map<string, number>();

  get count(): number {
    let count = 0;
    for (const children of this.#byCall.values()) count += children;
    return count;
  }

  has(callKey: string): boolean {
    return this.#byCall.has(callKey);
  }

  /** Returns by how many `children` exceeds what the call had announced. */
  raise(callKey: string, children: number): number {
    const before = this.#byCall.get(callKey) ?? 0;
    if (children > before) this.#byCall.set(callKey, children);
    return Math.max(0, children - before);
  }

  /** One announced child of the call has started, or will not start. */
  leave(callKey: string): void {
    const rest = (this.#byCall.get(callKey) ?? 1) - 1;
    if (rest > 0) this.#byCall.set(callKey, rest);
    else this.#byCall.delete(callKey);
  }

  /** The call starts no further children. Returns whether any were still announced. */
  withdraw(callKey: string): boolean {
    return this.#byCall.delete(callKey);
  }
}
