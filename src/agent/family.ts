/**
 * The children of a run, and how they share what it has.
 *
 * All that are open or announced have the same share, and their parent one more: what is free and what
 * they hold unspent, divided by all of them. A child that needs more than its share gets it from what is
 * free, then from what others hold beyond theirs; where there is none, it waits until one of them ends. A
 * child for whose first call there is not enough waits in the same way, so a family that cannot run at
 * once runs in waves. What is given is set aside in the parent's account first: no limit is ever passed.
 *
 * Nobody waits for ever. When every open child waits, nothing can come back. Then the run above is asked,
 * and where that has no more either, the one that waits longest is told so and ends with what it has.
 */

import { NEVER, throwIfAborted, untilAborted } from "../base/async.ts";
import type { Failure } from "../base/failure.ts";
import type { WaitReason } from "../protocol/run-events.ts";
import type { ChildAccount, Purse } from "./account.ts";
import { Announced } from "./announced.ts";
import { FamilyQueue } from "./family-queue.ts";
import { FoundChildren } from "./found-children.ts";
import { keepAnswers, toKept } from "./kept-part.ts";
import {
  type Amount,
  addAmounts,
  eachKind,
  KINDS,
  type LimitKind,
  type Limits,
  mapKinds,
  NOTHING,
} from "./limits.ts";
import { type Adopted, type Newcomer, toRefusal } from "./newcomer.ts";
import { type FamilyParent, Quota } from "./quota.ts";
import { Share } from "./share.ts";

export type CreateAccount = (ceiling: Limits, purse: Purse) => ChildAccount;

interface Drawing {
  readonly least: Amount;
  readonly most: Amount;
  readonly signal: AbortSignal;
}

export class Family {
  /** Whose the money is. */
  readonly #payer: FamilyParent;
  /** What the children see of it: the same, or a part that is for all of them. */
  #parent: FamilyParent;
  #quota: Quota | undefined;
  readonly #createAccount: CreateAccount;
  readonly #announced = new Announced();
  readonly #open = new Set<Share>();
  /** Those that have begun are served before those that have not: each that ends gives something back. */
  readonly #waiting = new FamilyQueue({
    hasProcess: () => this.#hasProcess(),
    isHoped: () => this.#isHoped(),
    askAbove: ({ enough, signal }) => {
      const more = addAmounts(enough, this.#kept);
      return this.#parent.gatherAbove(more, more, signal);
    },
  });
  /** What the parent keeps for itself. */
  #kept: Amount = NOTHING;
  /** What its own next call may take. */
  #nextCall: Partial<Amount> = {};
  /** What the run may have at all is on its way from outside, or came, for those announced together. */
  #filled: Promise<void> | undefined;
  /** The parent's own calls that wait for something to come back. */
  readonly #parentWaits: (() => void)[] = [];
  /** Children that a past owner of the run has begun. */
  readonly found = new FoundChildren(() => this.#parent);
  /** How many children are open at once at most. */
  maxOpen = Number.POSITIVE_INFINITY;
  /** And how many of them in processes of their own. */
  maxFixed = Number.POSITIVE_INFINITY;

  constructor(parent: FamilyParent, createAccount: CreateAccount) {
    this.#payer = parent;
    this.#parent = parent;
    this.#createAccount = createAccount;
  }

  /** Limits what all children have together. Before the first of them. */
  limitAll(most: Partial<Amount>): void {
    this.#quota = new Quota(this.#payer, most);
    this.#parent = this.#quota;
  }

  /** Most that a child could have. */
  get limits(): Limits {
    const { ceiling, limits } = this.#parent;
    return mapKinds((kind) => ceiling[kind] ?? limits[kind]);
  }

  /** What children have spent by the journal, with which the account itself is charged beside this. */
  charge(actual: Partial<Amount>): void {
    this.#quota?.charge(actual);
  }

  /**
   * Says how many children a call will still start, before it does: all that are announced share alike.
   * Saying it twice is saying it once.
   * `nextCall` is what the parent's own next call may take.
   */
  announce(callKey: string, children: number, nextCall: Partial<Amount> = {}): void {
    if (children === 0) return;
    if (this.#count === 0) this.#begin(nextCall);
    const more = this.#announced.raise(callKey, children);
    if (more > 0) this.#kept = keepAnswers(this.#kept, more, nextCall, this.#parent.left);
  }

  /** The call starts no more children. */
  withdraw(callKey: string): void {
    if (this.#announced.withdraw(callKey)) this.#waiting.serve();
  }

  /**
   * Lets a child in as soon as there is enough for it. Rejects with `Failure("budget_exceeded")` when
   * there is too little and nobody gives any back, and when the signal aborts.
   */
  async admit(newcomer: Newcomer, signal: AbortSignal): Promise<ChildAccount> {
    throwIfAborted(signal);
    this.#expect(newcomer);
    try {
      if (newcomer.enter) await newcomer.enter(signal);
      await this.#fill(signal);
      const account = await this.#admit(newcomer, signal);
      if (account) return account;
      throw this.#refuse({ ...NOTHING, ...newcomer.least });
    } catch (thrown) {
      this.#announced.leave(newcomer.callKey);
      throw thrown;
    }
  }

  /** In its turn, with enough; else, when nobody gives any back, with the least. */
  async #admit(newcomer: Newcomer, signal: AbortSignal): Promise<ChildAccount | undefined> {
    const { isFixed, isUrgent } = newcomer;
    const enough = { ...NOTHING, ...newcomer.enough };
    let account: ChildAccount | undefined;
    if (isUrgent || this.#waiting.size === 0) {
      account = await this.#enterDrawn(newcomer, enough, signal);
    }
    if (!account && !isUrgent) {
      newcomer.onWait?.(this.#whyWaits(newcomer));
      const tryNow = (): boolean => {
        account ??= this.#enter(newcomer, enough);
        return account !== undefined;
      };
      const wanted = addAmounts(enough, ONE_CHILD);
      await this.#waiting.wait({ share: undefined, enough: wanted, tryNow, isFixed, signal });
    }
    return account ?? (await this.#enterDrawn(newcomer, { ...NOTHING, ...newcomer.least }, signal));
  }

  /** Lets a child in if there is enough for it now, of what the tree has. */
  tryAdmit(newcomer: Newcomer): ChildAccount | undefined {
    this.#expect(newcomer);
    return this.#enter(newcomer, { ...NOTHING, ...newcomer.enough });
  }

  #expect({ callKey }: Adopted): void {
    if (!this.#announced.has(callKey)) this.announce(callKey, 1);
  }

  /** Lets a child in that a past owner has begun. It has what it spent, and its share beyond that. Never refused. */
  adopt(id: string, adopted: Adopted): ChildAccount {
    this.#expect(adopted);
    const share = this.#toShare(adopted);
    share.takeUp(this.found.take(id));
    this.#open.add(share);
    this.#announced.leave(adopted.callKey);
    this.raise(share, NOTHING, share.most);
    return share.account;
  }

  /**
   * Gives a child towards `most` (in all) what its fair share allows, and `least` beyond it where that is
   * there. Whether it has `least` now.
   */
  raise(share: Share, least: Amount, most: Amount): boolean {
    const { limits } = this.#parent;
    const kinds = KINDS.filter((kind) => limits[kind] !== null && most[kind] > share.held(kind));
    if (kinds.length === 0 || share.isClosed) return true;
    const needed = eachKind((kind) =>
      kinds.includes(kind) ? Math.max(0, least[kind] - share.held(kind)) : 0,
    );
    if (this.#lacksAny(needed)) this.#collect(share, needed);
    if (this.#lacksAny(needed)) return false;
    const more = eachKind((kind) => {
      if (!kinds.includes(kind)) return 0;
      const fair = share.used(kind) + this.#fairPart(kind, share);
      const wished = Math.min(most[kind], fair) - share.held(kind);
      return Math.max(needed[kind], clamp(wished, this.#free(kind)));
    });
    share.grow(more);
    share.needed = least;
    return true;
  }

  /** Does what `raise` does, and asks those above for what is not there. */
  async draw(share: Share, { least, most, signal }: Drawing): Promise<boolean> {
    let isMore = false;
    while (!this.raise(share, least, most)) {
      const needed = eachKind((kind) => Math.max(0, least[kind] - share.held(kind)));
      if (!(await this.#drawFor(needed, signal))) break;
      isMore = true;
    }
    return isMore;
  }

  /** Waits until `raise` gives `least`. False when nobody gives any more back. */
  gather(share: Share, least: Amount, most: Amount, signal: AbortSignal): Promise<boolean> {
    const enough = eachKind((kind) => Math.max(0, least[kind] - share.held(kind)));
    return this.#waiting.wait({
      share,
      enough,
      tryNow: () => this.raise(share, least, most),
      signal,
    });
  }

  /** A child has ended, and what it did not spend is free. */
  leave(share: Share): void {
    if (!this.#open.delete(share)) return;
    this.#wakeParent();
    this.#waiting.serve();
  }

  /** A child waits for a word of its parent: others may work in its place. */
  pauseOne(): void {
    this.#wakeParent();
    this.#waiting.serve();
  }

  /** What its own calls wait for may have come, or may not come any more. */
  #wakeParent(): void {
    for (const wake of this.#parentWaits.splice(0)) wake();
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /**
   * For the parent's own call beside its children: takes back what they hold beyond their share, and waits
   * while there is too little and one of them may give something back.
   */
  async spareFor(needed: Amount, signal: AbortSignal): Promise<void> {
    while (this.isOpen && this.#lacksForParent(needed)) {
      const [first] = this.#open;
      if (first) this.#takeSpare(first, (kind) => needed[kind] > this.#payer.left[kind]);
      if (!this.#lacksForParent(needed) || !this.#isHoped()) return;
      throwIfAborted(signal);
      await new Promise<void>((resolve) => {
        this.#parentWaits.push(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    throwIfAborted(signal);
  }

  #lacksForParent(needed: Amount): boolean {
    return KINDS.some((kind) => needed[kind] > 0 && needed[kind] > this.#payer.left[kind]);
  }

  /** Shrinks those that hold more than a fair part of these kinds, and do not use it. */
  #takeSpare(asking: Share, isWanted: (kind: LimitKind) => boolean, but?: Share): void {
    const kinds = KINDS.filter(isWanted);
    // Taking back changes who has it, and not how much there is.
    const fair = eachKind((kind) => (kinds.includes(kind) ? this.#fairPart(kind, asking) : 0));
    for (const share of this.#open) {
      if (share === but || share.isFixed) continue;
      share.shrink(eachKind((kind) => (kinds.includes(kind) ? share.spare(kind, fair[kind]) : 0)));
    }
  }

  get #count(): number {
    return this.#open.size + this.#announced.count;
  }

  /** Before the first child: what the run may have of those above is taken once, and its own part put by. */
  #begin(nextCall: Partial<Amount>): void {
    this.#parent.reach({}, ALL_MONEY);
    this.#nextCall = nextCall;
    this.#filled = undefined;
    this.#kept = toKept(nextCall, this.#payer.left);
  }

  /** What is outside is asked for once, by the first of those that are announced; the others wait with it. */
  async #fill(signal: AbortSignal): Promise<void> {
    this.#filled ??= this.#drawAll();
    const filled = this.#filled;
    // Whoever comes after a failure asks again.
    filled.catch(() => {
      if (this.#filled === filled) this.#filled = undefined;
    });
    await untilAborted(filled, signal);
  }

  async #drawAll(): Promise<void> {
    if (!(await this.#parent.draw({}, ALL_MONEY, NEVER))) return;
    const kept = toKept(this.#nextCall, this.#payer.left);
    this.#kept = keepAnswers(kept, this.#count, this.#nextCall, this.#parent.left);
  }

  /** Asks those above for what is not free here. Whether more came from outside. */
  async #drawFor(needed: Amount, signal: AbortSignal): Promise<boolean> {
    if (!this.#lacksAny(needed)) return false;
    const more = this.#toMore(needed);
    return await this.#parent.draw(more, more, signal);
  }

  /** What the parent must have more, so that so much is free. */
  #toMore(needed: Amount): Amount {
    return eachKind((kind) =>
      needed[kind] > this.#free(kind) ? needed[kind] + this.#kept[kind] : 0,
    );
  }

  /** What can be given: not the parent's own part, and not the places of children that are announced. */
  #free(kind: LimitKind): number {
    const places = kind === "children" ? this.#announced.count : 0;
    const left = Math.min(this.#parent.left[kind], this.#payer.left[kind] - this.#kept[kind]);
    return left - places;
  }

  #lacksAny(needed: Amount): boolean {
    return KINDS.some((kind) => needed[kind] > 0 && needed[kind] > this.#free(kind));
  }

  /** What each would have unspent if all that is unspent were divided alike, the parent's part too. */
  #fairPart(kind: LimitKind, asking: Share): number {
    let all = this.#parent.left[kind] + (this.#open.has(asking) ? 0 : asking.unspent(kind));
    for (const share of this.#open) all += share.unspent(kind);
    if (kind === "children") all -= this.#announced.count;
    const part = Math.max(0, all) / (Math.min(this.#count, this.maxOpen) + 1);
    return kind === "usd" ? part : Math.floor(part);
  }

  /** Takes back what others hold beyond their share and do not use, then asks the run above. */
  #collect(asking: Share, needed: Amount): void {
    const kinds = KINDS.filter((kind) => needed[kind] > this.#free(kind));
    this.#takeSpare(asking, (kind) => kinds.includes(kind), asking);
    if (!this.#lacksAny(needed)) return;
    const more = this.#toMore(needed);
    this.#parent.reach(more, more);
  }

  /** Like `#enter`, and draws while that brings more. */
  async #enterDrawn(
    newcomer: Newcomer,
    needed: Amount,
    signal: AbortSignal,
  ): Promise<ChildAccount | undefined> {
    for (;;) {
      const account = this.#enter(newcomer, needed);
      if (account || !(await this.#drawFor(needed, signal))) return account;
    }
  }

  /** Opens an account that holds what is needed, and its share where that is more. */
  #enter(newcomer: Newcomer, needed: Amount): ChildAccount | undefined {
    const { callKey, isFixed } = newcomer;
    if (this.#atWork() >= this.maxOpen || (isFixed && !this.#hasProcess())) return undefined;
    if (!this.#hasPlace()) return undefined;
    const share = this.#toShare(newcomer);
    if (!this.raise(share, needed, share.most)) return undefined;
    this.#open.add(share);
    this.#announced.leave(callKey);
    share.takePlace();
    return share.account;
  }

  #toShare({ ceiling: own, isFixed = false }: Adopted): Share {
    const ceiling = mapKinds((kind) => own[kind] ?? this.#parent.ceiling[kind]);
    const share = new Share(this, this.#parent, { ceiling, create: this.#createAccount });
    share.isFixed = isFixed;
    return share;
  }

  #hasPlace(): boolean {
    this.#parent.reach(ONE_CHILD, ONE_CHILD);
    return this.#parent.left.children >= 1;
  }

  #whyWaits({ isFixed }: Newcomer): WaitReason {
    if (this.#atWork() >= this.maxOpen) return "place";
    return isFixed && !this.#hasProcess() ? "process" : "budget";
  }

  #hasProcess(): boolean {
    return this.#atWork(({ isFixed }) => isFixed) < this.maxFixed;
  }

  /** Those that wait for a word of their parent are not: it may come only when others have worked. */
  #atWork(isCounted: (share: Share) => boolean = () => true): number {
    let count = 0;
    for (const share of this.#open) count += !share.isPaused && isCounted(share) ? 1 : 0;
    return count;
  }

  /**
   * Whether some child works on: it gives back what it does not use. One that waits for a word of its parent
   * gives nothing back before it, and the word may come only when the others have ended.
   */
  #isHoped(): boolean {
    const stopped = this.#waiting.shares;
    return [...this.#open].some((share) => !stopped.has(share) && !share.isPaused);
  }

  #refuse(least: Amount): Failure {
    const { limits, ceiling, left } = this.#parent;
    const free = (kind: LimitKind): number => this.#free(kind);
    const there = (kind: LimitKind): number => clamp(free(kind), left[kind]);
    const { maxOpen } = this;
    return toRefusal({ open: this.#atWork(), maxOpen, limits, ceiling, least, free, there });
  }
}

const ANY = Number.POSITIVE_INFINITY;
const ALL_MONEY = { tokens: ANY, usd: ANY };
const ONE_CHILD: Amount = { ...NOTHING, children: 1 };

/** Within 0 and what is there. */
const clamp = (wanted: number, there: number): number => Math.max(0, Math.min(wanted, there));
