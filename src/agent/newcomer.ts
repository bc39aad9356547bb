/** A child that is to be let in, and why one is not. */

import { Failure } from "../base/failure.ts";
import { plural } from "../base/text.ts";
import type { WaitReason } from "../protocol/run-events.ts";
import { type Amount, KINDS, type LimitKind, type Limits, toFigure } from "./limits.ts";

export interface Newcomer {
  /** The call that asks for it. */
  readonly callKey: string;
  /** Most that it may ever have, beside what its parent has. */
  readonly ceiling: Partial<Limits>;
  /** What its first call takes, with an answer of ordinary length. */
  readonly enough: Partial<Amount>;
  /** What its first call takes at the least. */
  readonly least: Partial<Amount>;
  /** Waits for a place to work in. Called first: one that has no place yet holds nothing that others need. */
  readonly enter?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Whether another process spends it: what it was given cannot be taken back. */
  readonly isFixed?: boolean | undefined;
  /** Whether it is let in now or not at all: the others may wait for its parent, who waits for this. */
  readonly isUrgent?: boolean | undefined;
  /** Called when it has to wait. */
  readonly onWait?: ((why: WaitReason) => void) | undefined;
}

/** A child that a past owner of its parent has let in. */
export type Adopted = Pick<Newcomer, "callKey" | "ceiling" | "isFixed">;

interface Refusal {
  /** How many children are open, and may be. */
  readonly open: number;
  readonly maxOpen: number;
  /** What the parent has. */
  readonly limits: Limits;
  readonly ceiling: Limits;
  /** What the child's first call takes at the least. */
  readonly least: Amount;
  free(kind: LimitKind): number;
  /** Of what is free, that which there is. */
  there(kind: LimitKind): number;
}

/** Why a child is not let in, for its parent's model. */
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
  const message = `Not started: its first call may take ${toFigure(kind, least[kind])}, and ${free} of the budget is free for it.`;
  return new Failure("budget_exceeded", message);
}
