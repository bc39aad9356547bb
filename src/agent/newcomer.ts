import type { Amount, Limits } from "./limits.ts";

/** A child that is to be let in. */
export interface Newcomer {
  /** The call that asks for it. */
  readonly callKey: string;
  /** Most that it may ever have, beside what its parent has. */
  readonly ceiling: Partial<Limits>;
  /** What its first call takes, with an answer of ordinary length. */
  readonly enough: Partial<Amount>;
  /** What its first call takes at the least. */
  readonly least: Partial<Amount>;
  /** Whether another process spends it: what it was given cannot be taken back. */
  readonly isFixed?: boolean | undefined;
  /** Whether it is let in now or not at all: the others may wait for its parent, who waits for this. */
  readonly isUrgent?: boolean | undefined;
}
