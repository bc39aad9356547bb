/** A child's part of what its parent has: the purse that its account spends from. */

import type { ChildAccount, Hold, Lacking, Purse } from "./account.ts";
import type { Family } from "./family.ts";
import { type FoundChild, toHeld } from "./found-children.ts";
import {
  type Amount,
  addAmounts,
  describeLack,
  eachKind,
  KINDS,
  type LimitKind,
  type Limits,
  mapKinds,
  type NextCall,
  NOTHING,
  toFigure,
} from "./limits.ts";
import type { FamilyParent } from "./quota.ts";

export type CreateAccount = (ceiling: Limits, purse: Purse) => ChildAccount;

/** The total budget that a child needs: at least and at most. */
export interface Drawing {
  readonly least: Amount;
  readonly most: Amount;
  readonly signal: AbortSignal;
}

interface Opening {
  readonly ceiling: Limits;
  readonly create: CreateAccount;
}

export class Share implements Purse {
  readonly account: ChildAccount;
  /** True if another process spends it, so that nothing can be taken back. */
  isFixed = false;
  /** True once its run has ended: it is given nothing more, even if a run below it still asks. */
  isClosed = false;
  /** How many of its questions to its parent are open. */
  #pauses = 0;
  /** The total that the child asked for last, and is about to use. */
  needed: Amount = NOTHING;
  readonly #family: Family;
  readonly #parent: FamilyParent;
  /** The parent's reservation for the child. */
  readonly #hold: Hold;
  #used: Amount = NOTHING;
  /** The child's spending before a takeover, by the record: counted until its replay has counted it. */
  #before: Amount = NOTHING;
  /** The child's place among the runs below its parent. */
  #place: Hold | undefined;

  constructor(family: Family, parent: FamilyParent, { ceiling, create }: Opening) {
    this.#family = family;
    this.#parent = parent;
    this.#hold = parent.hold(NOTHING);
    this.account = create(ceiling, this);
  }

  /** The most that it may ever have. */
  get most(): Amount {
    return eachKind((kind) => this.account.ceiling[kind] ?? Number.POSITIVE_INFINITY);
  }

  /** Kinds that its parent does not limit are limited by its own limits alone. */
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

  /** Spent, and reserved for calls in flight. Kept up to date, because siblings ask for it with every call. */
  used(kind: LimitKind): number {
    return Math.max(this.#used[kind], this.#before[kind]);
  }

  /** The budget that the child holds above a fair part of the unspent, and above its next step. */
  spare(kind: LimitKind, fairPart: number): number {
    const used = this.used(kind);
    // A child that waits for a message of its parent takes no step before it.
    const kept = this.isPaused ? used : Math.max(used + fairPart, this.needed[kind]);
    return Math.max(0, this.held(kind) - kept);
  }

  takePlace(): void {
    this.#place = this.#parent.hold({ children: 1 });
  }

  /** Takes over what it had spent and was given before this process took its parent over: that is never refused. */
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

  counted(): void {
    this.#before = NOTHING;
  }

  raise(least: Amount, most: Amount): void {
    // Its run is about to spend something: it has counted all that it had spent before.
    this.counted();
    this.#family.raise(this, least, most);
  }

  async draw(least: Amount, most: Amount, signal: AbortSignal): Promise<boolean> {
    const gathered = this.needed;
    const isMore = await this.#family.draw(this, { least, most, signal });
    // What it has gathered stays its own until it reserves something.
    this.needed = eachKind((kind) => Math.max(gathered[kind], this.needed[kind]));
    return isMore;
  }

  async gather(least: Amount, most: Amount, signal: AbortSignal): Promise<boolean> {
    return !this.isClosed && (await this.#family.gather(this, least, most, signal));
  }

  /** Charges the parent too for spending above the share, which happens if an estimate was too low. */
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

  explain(kind: LimitKind, call: NextCall): Lacking {
    return explainShare(kind, this.held(kind), call);
  }
}

/** The shares of the children that run now. */
export class OpenShares {
  readonly #shares = new Set<Share>();

  get size(): number {
    return this.#shares.size;
  }

  get first(): Share | undefined {
    const [first] = this.#shares;
    return first;
  }

  has(share: Share): boolean {
    return this.#shares.has(share);
  }

  add(share: Share): void {
    this.#shares.add(share);
  }

  /** False for one that is not among them. */
  delete(share: Share): boolean {
    return this.#shares.delete(share);
  }

  /** The unspent budget of all shares. */
  unspent(kind: LimitKind): number {
    let all = 0;
    for (const share of this.#shares) all += share.unspent(kind);
    return all;
  }

  /** Shrinks those that hold more than a fair part of these kinds, and do not use it. */
  takeSpare(kinds: readonly LimitKind[], fair: Amount, but: Share | undefined): void {
    for (const share of this.#shares) {
      if (share === but || share.isFixed) continue;
      share.shrink(eachKind((kind) => (kinds.includes(kind) ? share.spare(kind, fair[kind]) : 0)));
    }
  }

  /** Without those that wait for a word of their parent: it may come only when others have worked. */
  get atWork(): readonly Share[] {
    return [...this.#shares].filter(({ isPaused }) => !isPaused);
  }
}

/** The reason why a child gets no further budget. */
export function explainShare(kind: LimitKind, given: number, call: NextCall): Lacking {
  const lack = describeLack(kind, "its next call", call);
  const message = `Its share of ${toFigure(kind, given)} ${lack}, and no more of the budget is left for it.`;
  return { message, retryAfterMs: undefined };
}
