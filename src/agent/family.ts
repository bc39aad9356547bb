/**
 * The children of a run, and how they share what it has.
 *
 * All children that are open or announced have the same share, and their parent one more: what is available and what
 * they hold unspent, divided by all of them. A child that needs more than its share gets it from what is available,
 * then from what others hold above their share; if there is none, it waits until one of them ends. A child that cannot
 * pay for its first call waits in the same way, so a family that cannot run at once runs in waves. What is given is
 * reserved in the parent's account first: no limit is ever exceeded.
 *
 * No child waits for ever. When every open child waits, nothing can come back. Then the run above is asked. If it has
 * no budget left either, the child that has waited longest is refused and ends with its work so far.
 */

import { NEVER, throwIfAborted, untilAborted } from "../base/async.ts";
import type { Failure } from "../base/failure.ts";
import type { WaitReason } from "../protocol/child-queue.ts";
import type { ChildAccount } from "./account.ts";
import { Bell, FamilyQueue } from "./family-queue.ts";
import { FoundChildren } from "./found-children.ts";
import { KeptPart } from "./kept-part.ts";
import {
  type Amount,
  addAmounts,
  clamp,
  eachKind,
  KINDS,
  type LimitKind,
  type Limits,
  mapKinds,
  NOTHING,
} from "./limits.ts";
import { type Adopted, Announced, type Newcomer, toRefusal } from "./newcomer.ts";
import { type FamilyParent, Quota } from "./quota.ts";
import { type CreateAccount, type Drawing, OpenShares, Share } from "./share.ts";

export class Family {
  /** The account that pays. */
  readonly #payer: FamilyParent;
  /** The account as the children see it: the payer's, or a quota for all of them. */
  #parent: FamilyParent;
  #quota: Quota | undefined;
  readonly #createAccount: CreateAccount;
  readonly #announced = new Announced();
  readonly #open = new OpenShares();
  /** Waiting children. Running ones are served before new ones, because each that ends returns budget. */
  readonly #waiting = new FamilyQueue({
    hasProcess: () => this.#hasProcess(),
    isHoped: () => this.#isHoped(),
    askAbove: ({ enough, signal }) => {
      const more = addAmounts(enough, this.#kept.amount);
      return this.#parent.gatherAbove(more, more, signal);
    },
  });
  /** The part of the budget that the parent keeps for itself. */
  readonly #kept = new KeptPart();
  /** The request for the run's whole budget from outside, made once for children announced together. */
  #filled: Promise<void> | undefined;
  /** For the parent's own calls, which wait for something to come back. */
  readonly #returned = new Bell();
  /** Children that a past owner of the run has begun. */
  readonly found = new FoundChildren(() => this.#parent);
  /** The most children that may be open at once. */
  maxOpen = Number.POSITIVE_INFINITY;
  /** The most children that may be open at once in processes of their own. */
  maxFixed = Number.POSITIVE_INFINITY;

  constructor(parent: FamilyParent, createAccount: CreateAccount) {
    this.#payer = parent;
    this.#parent = parent;
    this.#createAccount = createAccount;
  }

  /** Limits what all children have together. Call it before the first of them. */
  limitAll(most: Partial<Amount>): void {
    this.#quota = new Quota(this.#payer, most);
    this.#parent = this.#quota;
  }

  /** The most that a child could have. */
  get limits(): Limits {
    const { ceiling, limits } = this.#parent;
    return mapKinds((kind) => ceiling[kind] ?? limits[kind]);
  }

  /** Counts what children have spent by the journal; the caller charges the account itself with it, too. */
  charge(actual: Partial<Amount>): void {
    this.#quota?.charge(actual);
  }

  /**
   * Announces how many children a call will still start, before it does: all announced children get the same share.
   * Announcing a call twice counts once. `nextCall` is what the parent's own next call may take.
   */
  announce(callKey: string, children: number, nextCall: Partial<Amount> = {}): void {
    if (children === 0) return;
    if (this.#count === 0) this.#begin(nextCall);
    const more = this.#announced.raise(callKey, children);
    if (more > 0) this.#kept.keepAnswers(more, nextCall, this.#parent.left);
  }

  /** The call starts no further children. */
  withdraw(callKey: string): void {
    if (this.#announced.withdraw(callKey)) this.#waiting.serve();
  }

  /**
   * Lets a child in as soon as there is enough for it. Rejects with `Failure("budget_exceeded")` when there is too
   * little and no sibling returns any, and when the signal aborts.
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

  /** Lets it in at its turn, with enough for an ordinary call; if no sibling returns any, with the least. */
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

  /** Lets a child in if the tree has enough for it now. */
  tryAdmit(newcomer: Newcomer): ChildAccount | undefined {
    this.#expect(newcomer);
    return this.#enter(newcomer, { ...NOTHING, ...newcomer.enough });
  }

  #expect({ callKey }: Adopted): void {
    if (!this.#announced.has(callKey)) this.announce(callKey, 1);
  }

  /** Lets a child in that an earlier owner has begun. It has what it spent, and its share on top. Never refused. */
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
   * Gives a child up to `most` (in all) of what its fair share allows, and `least` beyond the share if that is
   * available. Returns whether it has `least` now.
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

  /** Like `raise`, and asks the accounts above for what is missing. */
  async draw(share: Share, { least, most, signal }: Drawing): Promise<boolean> {
    let isMore = false;
    while (!this.raise(share, least, most)) {
      const needed = eachKind((kind) => Math.max(0, least[kind] - share.held(kind)));
      if (!(await this.#drawFor(needed, signal))) break;
      isMore = true;
    }
    return isMore;
  }

  /** Waits until `raise` gives `least`. Resolves to false when no sibling returns any more. */
  gather(share: Share, least: Amount, most: Amount, signal: AbortSignal): Promise<boolean> {
    const enough = eachKind((kind) => Math.max(0, least[kind] - share.held(kind)));
    return this.#waiting.wait({
      share,
      enough,
      tryNow: () => this.raise(share, least, most),
      signal,
    });
  }

  /** A child has ended, and what it did not spend is available again. */
  leave(share: Share): void {
    if (this.#open.delete(share)) this.pauseOne();
  }

  /** A child waits for a message of its parent: others may work in its place. */
  pauseOne(): void {
    this.#returned.ring();
    this.#waiting.serve();
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /**
   * For the parent's own call while children run: takes back what they hold above their share, and waits while there
   * is too little and one of them may return something.
   */
  async spareFor(needed: Amount, signal: AbortSignal): Promise<void> {
    while (this.isOpen && this.#lacksForParent(needed)) {
      const { first } = this.#open;
      if (first) this.#takeSpare(first, (kind) => needed[kind] > this.#payer.left[kind]);
      if (!this.#lacksForParent(needed) || !this.#isHoped()) return;
      throwIfAborted(signal);
      await this.#returned.heard(signal);
    }
    throwIfAborted(signal);
  }

  #lacksForParent(needed: Amount): boolean {
    return KINDS.some((kind) => needed[kind] > 0 && needed[kind] > this.#payer.left[kind]);
  }

  #takeSpare(asking: Share, isWanted: (kind: LimitKind) => boolean, but?: Share): void {
    const kinds = KINDS.filter(isWanted);
    // Taking back changes who has it, and not how much there is.
    const fair = eachKind((kind) => (kinds.includes(kind) ? this.#fairPart(kind, asking) : 0));
    this.#open.takeSpare(kinds, fair, but);
  }

  get #count(): number {
    return this.#open.size + this.#announced.count;
  }

  /** Before the first child: takes what the run may have from above, once, and reserves the parent's own part. */
  #begin(nextCall: Partial<Amount>): void {
    this.#parent.reach({}, ALL_MONEY);
    this.#filled = undefined;
    this.#kept.begin(nextCall, this.#payer.left);
  }

  /** Money from outside is asked for once, by the first of the announced children; the others wait with it. */
  async #fill(signal: AbortSignal): Promise<void> {
    this.#filled ??= this.#drawAll();
    const filled = this.#filled;
    // The next child after a failure asks again.
    filled.catch(() => {
      if (this.#filled === filled) this.#filled = undefined;
    });
    await untilAborted(filled, signal);
  }

  async #drawAll(): Promise<void> {
    if (!(await this.#parent.draw({}, ALL_MONEY, NEVER))) return;
    this.#kept.refill(this.#count, this.#payer.left, this.#parent.left);
  }

  /** Asks the accounts above for what is missing here. Returns whether more came from outside. */
  async #drawFor(needed: Amount, signal: AbortSignal): Promise<boolean> {
    if (!this.#lacksAny(needed)) return false;
    const more = this.#toMore(needed);
    return await this.#parent.draw(more, more, signal);
  }

  /** The budget that the parent lacks, so that this much is available. */
  #toMore(needed: Amount): Amount {
    return eachKind((kind) =>
      needed[kind] > this.#free(kind) ? needed[kind] + this.#kept.of(kind) : 0,
    );
  }

  /** The budget that can be given to children, without the parent's part and the shares of announced children. */
  #free(kind: LimitKind): number {
    const places = kind === "children" ? this.#announced.count : 0;
    const left = Math.min(this.#parent.left[kind], this.#payer.left[kind] - this.#kept.of(kind));
    return left - places;
  }

  #lacksAny(needed: Amount): boolean {
    return KINDS.some((kind) => needed[kind] > 0 && needed[kind] > this.#free(kind));
  }

  /** The unspent budget of each if all of it were divided equally, the parent's part included. */
  #fairPart(kind: LimitKind, asking: Share): number {
    const own = this.#open.has(asking) ? 0 : asking.unspent(kind);
    let all = this.#parent.left[kind] + own + this.#open.unspent(kind);
    if (kind === "children") all -= this.#announced.count;
    const part = Math.max(0, all) / (Math.min(this.#count, this.maxOpen) + 1);
    return kind === "usd" ? part : Math.floor(part);
  }

  /** Takes back what others hold above their share and do not use, then asks the run above. */
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

  /** Opens an account that holds what is needed, or its share if that is more. */
  #enter(newcomer: Newcomer, needed: Amount): ChildAccount | undefined {
    const { callKey, isFixed } = newcomer;
    if (this.#isFull || (isFixed && !this.#hasProcess())) return undefined;
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
    if (this.#isFull) return "place";
    return isFixed && !this.#hasProcess() ? "process" : "budget";
  }

  #hasProcess(): boolean {
    return this.#open.atWork.filter(({ isFixed }) => isFixed).length < this.maxFixed;
  }

  get #isFull(): boolean {
    return this.#open.atWork.length >= this.maxOpen;
  }

  /**
   * True if some child still works: it will return what it does not use. A child that waits for a message of its
   * parent returns nothing before it, and the message may come only when the others have ended.
   */
  #isHoped(): boolean {
    const stopped = this.#waiting.shares;
    return this.#open.atWork.some((share) => !stopped.has(share));
  }

  #refuse(least: Amount): Failure {
    const { limits, ceiling, left } = this.#parent;
    const free = (kind: LimitKind): number => this.#free(kind);
    const there = (kind: LimitKind): number => clamp(free(kind), left[kind]);
    const { maxOpen } = this;
    const open = this.#open.atWork.length;
    return toRefusal({ open, maxOpen, limits, ceiling, least, free, there });
  }
}

const ALL_MONEY = { tokens: Number.POSITIVE_INFINITY, usd: Number.POSITIVE_INFINITY };
const ONE_CHILD: Amount = { ...NOTHING, children: 1 };
