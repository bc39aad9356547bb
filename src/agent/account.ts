/**
 * The money of a run: what it may spend, what it has spent, and what is set aside for calls on their
 * way and for children.
 *
 * Nothing is spent that was not set aside before, so at no moment is the sum of what is spent and set
 * aside above a limit, in a run and in every run above it. A child has a share of what its parent has,
 * and gets more of it as it needs more (`family.ts`). After a restart the accounts are made anew by the
 * replay: what the journal has is charged, what was on its way is set aside again.
 */

import { NEVER } from "../base/async.ts";
import { Failure } from "../base/failure.ts";
import { Family } from "./family.ts";
import {
  type Amount,
  addAmounts,
  eachKind,
  findLacking,
  isNothing,
  KINDS,
  type LimitKind,
  type Limits,
  mapKinds,
  NOTHING,
  toFigure,
} from "./limits.ts";

export interface Account {
  /** What it may have now. Where money is given piece by piece that is less than it may have in all. */
  readonly limits: Limits;
  /** What it may have in all; null where nothing of its own limits it. */
  readonly ceiling: Limits;
  /** By the run itself and by children whose accounts are closed. */
  readonly spent: Amount;
  /** What is neither spent nor set aside; `Infinity` where there is no limit. */
  readonly left: Amount;
  /**
   * Sets aside the most that something may cost, at once, of what the tree of accounts has. Throws
   * `Failure("budget_exceeded")` if it is not there: whoever may need more draws before (`takeDrawn`).
   */
  hold(most: Partial<Amount>): Hold;
  /** Writes down what was spent without a hold: a call that the journal had. */
  charge(actual: Partial<Amount>): void;
  /**
   * Takes more, at once, of what the accounts above have: to hold `least`, and towards `most`. Before
   * something that keeps to what is left; `hold` does it by itself.
   */
  reach(least: Partial<Amount>, most: Partial<Amount>): void;
  /**
   * Does what `reach` does, and asks for more where the money of the tree is given piece by piece from
   * outside this process. This is the one place where that is waited for. Says whether more came from there.
   * Rejects with the reason where nobody could be asked; nothing is set aside then.
   */
  draw(least: Partial<Amount>, most: Partial<Amount>, signal: AbortSignal): Promise<boolean>;
  /**
   * Does what `draw` does, and waits while `least` is not there and a sibling may still give back what
   * it does not use. Resolves also when nobody can: what is left says whether it is enough. Rejects when
   * the signal aborts.
   */
  gather(least: Partial<Amount>, most: Partial<Amount>, signal: AbortSignal): Promise<void>;
  /** The same of those above alone, for children that all wait: none of them can give anything back. */
  gatherAbove(least: Partial<Amount>, most: Partial<Amount>, signal: AbortSignal): Promise<void>;
  /** Says that the run waits for a word of its parent: it gives nothing back until what this returns is called. */
  pause(): () => void;
  /** The accounts of children: what they share is what this one has. */
  readonly family: Family;
}

/** Settled or released once; the second time does nothing. */
export interface Hold {
  readonly most: Amount;
  /** Sets aside as much instead, for whoever knows that it is there, or that it is spent already. */
  resize(most: Amount): void;
  /** Spends what it really cost, and gives the rest back. */
  settle(actual: Partial<Amount>): void;
  /** Gives all of it back: what was on its way did not happen. */
  release(): void;
}

export interface ChildAccount extends Account {
  /** Gives back what was not spent, and its place where it was never started. Once; the second time does nothing. */
  close(isStarted?: boolean): void;
}

/** Money that several accounts share: each gets a piece, and more when it needs more. */
export interface Purse extends Partial<Source> {
  /** What this account may spend of it in all; what is left out is not its business. */
  readonly given: Partial<Amount>;
  /**
   * Gives more, in all: `least` where that is there, and towards `most` what leaves a part for others.
   * At once, from what this process knows.
   */
  raise?: ((least: Amount, most: Amount) => void) | undefined;
  /**
   * The same from where the money is kept, which may be another machine. Says whether more came from
   * there: what moves between accounts does not count, or two could take it from each other for ever.
   * Rejects with the reason where it could not be asked for.
   */
  draw?: ((least: Amount, most: Amount, signal: AbortSignal) => Promise<boolean>) | undefined;
  /** Why there is no more at this moment, and when there may be. */
  explain?: ((kind: LimitKind) => Lacking) | undefined;
}

/** What more can be done with money that a parent gives. */
interface Source {
  /** Waits for it. False when nobody will give any more back. Both are amounts in all. */
  gather(least: Amount, most: Amount, signal: AbortSignal): Promise<boolean>;
  /** Takes back all that was not spent, and says what was. Once; the second time does nothing. */
  close(spent: Amount, isStarted: boolean): Amount;
  /** So much is spent or set aside now, which may be more than was given. */
  cover(used: Amount): void;
  pause(): () => void;
}

export interface Lacking {
  readonly message: string;
  /** Undefined where waiting does not help. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Draws, then does at once what sets something aside: nothing else comes between the two. Where another
 * call of the tree was faster, it draws again, for as long as that brings more.
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

/** With a purse the limits are a ceiling: what may be spent is what the purse has given. */
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
    // Nothing can always be set aside, also where more was spent than there was.
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
      ...{ resize, settle: end, release: () => end({}) },
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
    // Other money is there or is not: waiting brings no more of it.
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
      // Counted anew each time: this run's own children may have spent meanwhile.
      const all = this.#toAll(least);
      const { given } = purse;
      if (KINDS.every((kind) => all[kind] <= (given[kind] ?? all[kind]))) return;
      isHoped = await purse.gather(all, this.#toAll(most), signal);
    }
  }

  pause(): () => void {
    return this.#purse?.pause?.() ?? (() => {});
  }

  close(isStarted = true): void {
    this.#spent = this.#purse?.close?.(this.#spent, isStarted) ?? this.#spent;
  }

  /** So much more is so much in all. What is beyond the ceiling would be set aside in vain. */
  #toAll(more: Partial<Amount>): Amount {
    return eachKind((kind) => {
      const all = this.#spent[kind] + this.#held[kind] + (more[kind] ?? 0);
      return toLess(this.ceiling[kind], all) ?? 0;
    });
  }

  #exceeded(kind: LimitKind, wanted: number): Failure {
    const purse = this.#purse;
    // What the purse did not give is not this run's own limit.
    if (purse?.explain && purse.given[kind] !== undefined && !this.#isOwnLimit(kind)) {
      const { message, retryAfterMs } = purse.explain(kind);
      return new Failure("budget_exceeded", message, { retryAfterMs });
    }
    const budget = `budget of ${toFigure(kind, this.limits[kind] ?? 0)}`;
    // A model call is what takes tokens and dollars. Before the first one, nothing is used.
    const isUnused = this.#spent[kind] + this.#held[kind] === 0;
    const isFirstCall = isUnused && (kind === "tokens" || kind === "usd");
    const message = isFirstCall
      ? `Not started: the ${budget} does not cover one model call (about ${toFigure(kind, wanted)}).`
      : `The ${budget} is used up.`;
    return new Failure("budget_exceeded", message);
  }

  /** Whether its own limit is what stands in the way, and not what a purse has given of it. */
  #isOwnLimit(kind: LimitKind): boolean {
    const ceiling = this.ceiling[kind];
    return ceiling !== null && ceiling <= (this.#purse?.given[kind] ?? ceiling);
  }
}

/** The smaller of the two; of one that is not there the other. */
function toLess(limit: number | null, other: number | undefined): number | null {
  if (other === undefined || limit === null) return other ?? limit;
  return Math.min(limit, other);
}
