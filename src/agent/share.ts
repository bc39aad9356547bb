/** A child's part of what its parent has: the purse that its account spends from. */

import type { ChildAccount, Hold, Lacking, Purse } from "./account.ts";
import type { CreateAccount, Family } from "./family.ts";
import { type FoundChild, toHeld } from "./found-children.ts";
import {
  type Amount,
  addAmounts,
  eachKind,
  KINDS,
  type LimitKind,
  type Limits,
  mapKinds,
  NOTHING,
  toFigure,
} from "./limits.ts";
import type { FamilyParent } from "./quota.ts";

interface Opening {
  readonly ceiling: Limits;
  readonly create: CreateAccount;
}

export class Share implements Purse {
  readonly account: ChildAccount;
  /** Whether another process spends it, so that nothing can be taken back. */
  isFixed = false;
  /** Whether its run has ended: it is given nothing more, whoever of those below it still asks. */
  isClosed = false;
  /** How many questions to its parent it waits for. */
  #pauses = 0;
  /** What it asked for last, in all: it is about to use it. */
  needed: Amount = NOTHING;
  readonly #family: Family;
  readonly #parent: FamilyParent;
  /** What the parent has set aside for it. */
  readonly #hold: Hold;
  #used: Amount = NOTHING;
  /** What it had spent before a takeover, by the record: counted until its replay has counted it. */
  #before: Amount = NOTHING;
  /** Its own place among the runs below its parent. */
  #place: Hold | undefined;

  constructor(family: Family, parent: FamilyParent, { ceiling, create }: Opening) {
    this.#family = family;
    this.#parent = parent;
    this.#hold = parent.hold(NOTHING);
    this.account = create(ceiling, this);
  }

  /** Most that it may ever have. */
  get most(): Amount {
    return eachKind((kind) => this.account.ceiling[kind] ?? Number.POSITIVE_INFINITY);
  }

  /** What its parent does not limit it may have as its own limits say. */
  get given(): Partial<Amount> {
    const { limits } = this.#parent;
    const kinds = KINDS.filter((kind) => limits[kind] !== null);
    return Object.fromEntries(kinds.map((kind) => [kind, this.#hold.most[kind]]));
  }

  held(kind: LimitKind): number {
    return this.#hold.most[kind];
  }

  unspent(kind: LimitKind): number {
    return Math.max(0, this.held(kind) - this.used(kind));
  }

  /** Spent, and set aside for what is on its way. Kept, because siblings ask for it with every call. */
  used(kind: LimitKind): number {
    return Math.max(this.#used[kind], this.#before[kind]);
  }

  /** What it holds beyond a fair part of what is unspent, and beyond what it needs for its next step. */
  spare(kind: LimitKind, fairPart: number): number {
    const used = this.used(kind);
    // One that waits for a word of its parent takes no step before it.
    const kept = this.isPaused ? used : Math.max(used + fairPart, this.needed[kind]);
    return Math.max(0, this.held(kind) - kept);
  }

  takePlace(): void {
    this.#place = this.#parent.hold({ children: 1 });
  }

  /** It was let in, has spent so much and was given so much before this process took its parent over: that is never refused. */
  takeUp(found: Pick<FoundChild, "spent" | "given">): void {
    this.#before = found.spent;
    this.#hold.resize(toHeld(found));
    this.#place = this.#parent.hold(NOTHING);
    this.#place.resize({ ...NOTHING, children: 1 });
  }

  grow(more: Amount): void {
    this.#hold.resize(addAmounts(this.#hold.most, more));
  }

  shrink(less: Amount): void {
    this.#hold.resize(eachKind((kind) => this.#hold.most[kind] - less[kind]));
  }

  raise(least: Amount, most: Amount): void {
    // Its run is about to spend something: it has counted all that it had spent before.
    this.#before = NOTHING;
    this.#family.raise(this, least, most);
  }

  async draw(least: Amount, most: Amount, signal: AbortSignal): Promise<boolean> {
    const gathered = this.needed;
    const isMore = await this.#family.draw(this, { least, most, signal });
    // What it has gathered is its own until it holds something.
    this.needed = eachKind((kind) => Math.max(gathered[kind], this.needed[kind]));
    return isMore;
  }

  async gather(least: Amount, most: Amount, signal: AbortSignal): Promise<boolean> {
    return !this.isClosed && (await this.#family.gather(this, least, most, signal));
  }

  /** What was spent beyond it, because an estimate was too low, is its parent's loss too. */
  cover(used: Amount): void {
    this.#used = used;
    const { limits } = this.#parent;
    const held = this.#hold.most;
    const most = mapKinds((kind) =>
      limits[kind] === null ? held[kind] : Math.max(held[kind], used[kind]),
    );
    if (KINDS.some((kind) => most[kind] > held[kind])) this.#hold.resize(most);
  }

  close(spent: Amount, isStarted: boolean): Amount {
    const settled = eachKind((kind) => Math.max(spent[kind], this.#before[kind]));
    this.isClosed = true;
    if (isStarted) this.#place?.settle({ children: 1 });
    else this.#place?.release();
    this.#hold.settle(settled);
    this.#family.leave(this);
    return settled;
  }

  get isPaused(): boolean {
    return this.#pauses > 0;
  }

  pause(): () => void {
    this.#pauses++;
    this.#family.pauseOne();
    return () => void this.#pauses--;
  }

  explain(kind: LimitKind): Lacking {
    return explainShare(kind, this.held(kind));
  }
}

/** Why a child gets no more than it was given. */
export function explainShare(kind: LimitKind, given: number): Lacking {
  const share = toFigure(kind, given);
  const message = `Its share of ${share} is used up, and no more of the budget is free for it.`;
  return { message, retryAfterMs: undefined };
}
