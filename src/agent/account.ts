/**
 * The money of a run: what it may spend, what it has spent, and what is reserved for calls in flight and for children.
 *
 * Nothing is spent that was not reserved before. So the sum of spent and reserved is never above a limit, in a run and
 * in every run above it. A child has a share of what its parent has, and gets more of it when it needs more
 * (`family.ts`). After a restart the replay makes the accounts again: what the journal has is charged, what was in
 * flight is reserved again.
 */

import { NEVER } from "../base/async.ts";
import { Failure } from "../base/failure.ts";
import { Family } from "./family.ts";
import {
  type Amount,
  addAmounts,
  describeLack,
  eachKind,
  findLacking,
  isNothing,
  KINDS,
  type LimitKind,
  type Limits,
  mapKinds,
  type NextCall,
  NOTHING,
  toFigure,
} from "./limits.ts";

export interface Account {
  /** The account's present limits. With a purse, which gives money piece by piece, they are below `ceiling`. */
  readonly limits: Limits;
  /** The highest limits that the account can reach; null for a kind that has no limit of its own. */
  readonly ceiling: Limits;
  /** Spent by the run itself and by children whose accounts are closed. */
  readonly spent: Amount;
  /** The budget that is neither spent nor reserved; `Infinity` if unlimited. */
  readonly left: Amount;
  /**
   * Reserves at once the most that something may cost, from what the tree of accounts has. Throws
   * `Failure("budget_exceeded")` if that is not available. A caller that may need more draws first (`takeDrawn`).
   */
  hold(most: Partial<Amount>): Hold;
  /** Books what was spent without a hold: a call that the journal had. */
  charge(actual: Partial<Amount>): void;
  /**
   * Takes more from the accounts above, at once: at least `least`, if possible `most`. Call it before work that reads
   * `left`; `hold` does it by itself.
   */
  reach(least: Partial<Amount>, most: Partial<Amount>): void;
  /**
   * Like `reach`, and also asks outside this process where the tree gets its money piece by piece. This is the only
   * place that waits for that money. Returns whether more came from outside. Rejects with the reason when the source
   * cannot be asked; nothing is reserved then.
   */
  draw(least: Partial<Amount>, most: Partial<Amount>, signal: AbortSignal): Promise<boolean>;
  /**
   * Like `draw`, and waits while `least` is not available and a sibling may still return what it does not use. Also
   * resolves when no sibling can: read `left` to see whether it is enough. Rejects when the signal aborts.
   */
  gather(least: Partial<Amount>, most: Partial<Amount>, signal: AbortSignal): Promise<void>;
  /** Like `gather`, but asks only the accounts above. For children that all wait: none of them can return anything. */
  gatherAbove(least: Partial<Amount>, most: Partial<Amount>, signal: AbortSignal): Promise<void>;
  /**
   * Call this while the run waits for a message of its parent: it returns no money meanwhile. Call the returned
   * function to end the wait.
   */
  pause(): () => void;
  /** The accounts of children. They share what this account has. */
  readonly family: Family;
}

/** Budget that is reserved for one call. It is settled or released once; the second time does nothing. */
export interface Hold {
  readonly most: Amount;
  /** Reserves this amount instead, without a check: the caller knows that it is available, or is spent already. */
  resize(most: Amount): void;
  /** Books what the call really cost, and returns the rest. */
  settle(actual: Partial<Amount>): void;
  /** Returns all of it: the call was not made. */
  release(): void;
}

export interface ChildAccount extends Account {
  /**
   * Called once the child has said what it spent in all, and that is charged. What the record said of it before no
   * longer counts: of a model call in progress it only has an estimate.
   */
  counted(): void;
  /**
   * Returns what was not spent, and also its place among the children if it was never started. The second call does
   * nothing.
   */
  close(isStarted?: boolean): void;
}

/** Money that several accounts share: each gets a piece, and more when it needs more. */
export interface Purse extends Partial<Source> {
  /** The total that this account may take from the purse. Kinds that the purse does not limit are left out. */
  readonly given: Partial<Amount>;
  /**
   * Gives more at once, from what this process knows: `least` if that is available, and up to `most` as long as a part
   * remains for others. Both are amounts in all.
   */
  raise?: ((least: Amount, most: Amount) => void) | undefined;
  /**
   * Like `raise`, but asks where the money is kept, which may be another machine. Returns whether more came from
   * there. What only moves between accounts does not count, or two accounts could take it from each other for ever.
   * Rejects with the reason when the source cannot be asked.
   */
  draw?: ((least: Amount, most: Amount, signal: AbortSignal) => Promise<boolean>) | undefined;
  /** Why the purse gives nothing at this moment, and when it may give something. */
  explain?: ((kind: LimitKind, call: NextCall) => Lacking) | undefined;
}

/** The further operations of an account whose money comes from a parent. */
interface Source {
  /** Waits for more. Resolves to false when no sibling will return any. Both are amounts in all. */
  gather(least: Amount, most: Amount, signal: AbortSignal): Promise<boolean>;
  /** All that the child had spent before a takeover of its parent is charged. */
  counted(): void;
  /** Takes back all that was not spent, and returns what was. The second call does nothing. */
  close(spent: Amount, isStarted: boolean): Amount;
  /** This much is spent or reserved now, which may be more than was given. */
  cover(used: Amount): void;
  pause(): () => void;
}

export interface Lacking {
  readonly message: string;
  /** Undefined when waiting does not help. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Draws, then at once runs `take`, which reserves something: nothing happens between the two. If another call of the
 * tree was faster, it draws again, as long as that brings more.
 */
export async function takeDrawn<Out>(
  account: Pick<Account, "draw">,
  { least, most, signal = NEVER }: Drawing,
  take: () => Out,
): Promise<Out> {
  for (;;) {
    const isMore = await account.draw(least, most, signal);
    try {
      return take();
    } catch (thrown) {
      if (!isMore || !(thrown instanceof Failure) || thrown.code !== "budget_exceeded")
        throw thrown;
    }
  }
}

interface Drawing {
  readonly least: Partial<Amount>;
  readonly most: Partial<Amount>;
  readonly signal?: AbortSignal | undefined;
}

/** Opens an account. With a purse the limits are a ceiling, and the account may spend what the purse has given. */
export function createAccount(limits: Limits, purse?: Purse): Account {
  return new Ledger(limits, purse);
}

class Ledger implements ChildAccount {
  readonly ceiling: Limits;
  readonly #purse: Purse | undefined;
  #spent: Amount = NOTHING;
  #held: Amount = NOTHING;
  #family: Family | undefined;

  constructor(ceiling: Limits, purse: Purse | undefined) {
    this.ceiling = ceiling;
    this.#purse = purse;
  }

  get family(): Family {
    this.#family ??= new Family(this, (ceiling, purse) => new Ledger(ceiling, purse));
    return this.#family;
  }

  get limits(): Limits {
    const given = this.#purse?.given;
    return given ? mapKinds((kind) => toLess(this.ceiling[kind], given[kind])) : this.ceiling;
  }

  get spent(): Amount {
    return this.#spent;
  }

  get left(): Amount {
    const { limits } = this;
    return eachKind((kind) => {
      const limit = limits[kind];
      return limit === null
        ? Number.POSITIVE_INFINITY
        : limit - this.#spent[kind] - this.#held[kind];
    });
  }

  hold(amount: Partial<Amount>): Hold {
    const wanted: Amount = { ...NOTHING, ...amount };
    this.reach(wanted, wanted);
    // Reserving nothing always succeeds, even when more was spent than there was.
    const [lacking] = isNothing(wanted) ? [] : findLacking(wanted, this.left);
    if (lacking) throw this.#exceeded(lacking, wanted[lacking]);
    this.#held = addAmounts(this.#held, wanted);
    this.#cover();
    let most = wanted;
    let isOpen = true;
    const resize = (next: Amount): void => {
      if (!isOpen) return;
      this.#held = eachKind((kind) => this.#held[kind] - most[kind] + next[kind]);
      most = next;
      this.#cover();
    };
    const end = (actual: Partial<Amount>): void => {
      resize(NOTHING);
      if (isOpen) this.charge(actual);
      isOpen = false;
    };
    return {
      get most() {
        return most;
      },
      resize,
      settle: end,
      release: () => end({}),
    };
  }

  charge(actual: Partial<Amount>): void {
    this.#spent = addAmounts(this.#spent, { ...NOTHING, ...actual });
    this.#cover();
  }

  #cover(): void {
    this.#purse?.cover?.(addAmounts(this.#spent, this.#held));
  }

  reach(least: Partial<Amount>, most: Partial<Amount>): void {
    this.#purse?.raise?.(this.#toAll(least), this.#toAll(most));
  }

  async draw(least: Partial<Amount>, most: Partial<Amount>, signal: AbortSignal): Promise<boolean> {
    this.reach(least, most);
    const purse = this.#purse;
    return (await purse?.draw?.(this.#toAll(least), this.#toAll(most), signal)) ?? false;
  }

  async gather(least: Partial<Amount>, most: Partial<Amount>, signal: AbortSignal): Promise<void> {
    if (this.#family?.isOpen) {
      await this.draw(least, most, signal);
      await this.#family.spareFor({ ...NOTHING, ...least }, signal);
    }
    // Every other purse gives its money at once or not at all, so waiting does not help.
    if (this.#purse?.gather) await this.gatherAbove(least, most, signal);
  }

  async gatherAbove(
    least: Partial<Amount>,
    most: Partial<Amount>,
    signal: AbortSignal,
  ): Promise<void> {
    const purse = this.#purse;
    await this.draw(least, most, signal);
    if (!purse?.gather) return;
    let isHoped = true;
    while (isHoped) {
      this.reach(least, most);
      // Counted again each time: this run's own children may have spent meanwhile.
      const all = this.#toAll(least);
      const { given } = purse;
      if (KINDS.every((kind) => all[kind] <= (given[kind] ?? all[kind]))) return;
      isHoped = await purse.gather(all, this.#toAll(most), signal);
    }
  }

  pause(): () => void {
    return this.#purse?.pause?.() ?? (() => {});
  }

  counted(): void {
    this.#purse?.counted?.();
  }

  close(isStarted = true): void {
    this.#spent = this.#purse?.close?.(this.#spent, isStarted) ?? this.#spent;
  }

  /**
   * Adds the wanted amount to what is used already. Amounts above the ceiling could not be used, so they are not asked
   * for.
   */
  #toAll(more: Partial<Amount>): Amount {
    return eachKind((kind) => {
      const all = this.#spent[kind] + this.#held[kind] + (more[kind] ?? 0);
      return toLess(this.ceiling[kind], all) ?? 0;
    });
  }

  #exceeded(kind: LimitKind, wanted: number): Failure {
    const purse = this.#purse;
    const isOwn = this.#isOwnLimit(kind);
    const most = isOwn ? this.limits[kind] : (purse?.given[kind] ?? this.limits[kind]);
    const used = this.#spent[kind] + this.#held[kind];
    const call = { wanted, left: Math.max((most ?? 0) - used, 0) };
    // What the purse did not give is not a limit of this run.
    if (purse?.explain && purse.given[kind] !== undefined && !isOwn) {
      const { message, retryAfterMs } = purse.explain(kind, call);
      return new Failure("budget_exceeded", message, { retryAfterMs });
    }
    const budget = `budget of ${toFigure(kind, this.limits[kind] ?? 0)}`;
    // Model calls take tokens and dollars. Before the first one, nothing is used.
    const isFirstCall = used === 0 && (kind === "tokens" || kind === "usd");
    const message = isFirstCall
      ? `Not started: the ${budget} does not cover one model call (about ${toFigure(kind, wanted)}).`
      : `The ${budget} ${describeLack(kind, "the next call", call)}.`;
    return new Failure("budget_exceeded", message);
  }

  /** True if the account's own limit refuses the call, and not what its purse has given. */
  #isOwnLimit(kind: LimitKind): boolean {
    const ceiling = this.ceiling[kind];
    return ceiling !== null && ceiling <= (this.#purse?.given[kind] ?? ceiling);
  }
}

/** The smaller of two limits; if one is missing, the other. */
function toLess(limit: number | null, other: number | undefined): number | null {
  if (other === undefined || limit === null) return other ?? limit;
  return Math.min(limit, other);
}
