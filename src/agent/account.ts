/**
 * The money of a run: what it may spend, what it has spent, and what is set aside for calls on their
 * way and for children.
 *
 * Nothing is spent that was not set aside before, so at no moment is the sum of what is spent and set
 * aside above a limit, in a run and in every run above it. What a child does not use comes back when
 * its account is closed. After a restart the accounts are made anew by the replay: what the journal has
 * is charged, what was on its way is set aside again.
 */

import { Failure } from "../base/failure.ts";
import { plural } from "../base/text.ts";
import {
  type Amount,
  addAmounts,
  eachKind,
  findLacking,
  type LimitKind,
  type Limits,
  mapKinds,
  NOTHING,
} from "./limits.ts";

export interface Account {
  readonly limits: Limits;
  /** By the run itself and by children whose accounts are closed. */
  readonly spent: Amount;
  /** What is neither spent nor set aside; `Infinity` where there is no limit. */
  readonly left: Amount;
  /** Sets aside the most that something may cost. Throws `Failure("budget_exceeded")` if it is not there. */
  hold(most: Partial<Amount>): Hold;
  /** Writes down what was spent without a hold: a call that the journal had. */
  charge(actual: Partial<Amount>): void;
  /**
   * Asks for more where the money is given piece by piece: to hold `least`, and towards `most`. Before
   * something that keeps to what is left; `hold` asks by itself.
   */
  reach(least: Partial<Amount>, most: Partial<Amount>): void;
  /**
   * A child's account, its limits set aside here. A limit that is null takes none from here where there
   * is none here; where there is one, the child must have its own. Throws `Failure("budget_exceeded")`.
   */
  open(limits: Limits): ChildAccount;
}

/** Settled or released once; the second time does nothing. */
export interface Hold {
  readonly most: Amount;
  /** Spends what it really cost, and gives the rest back. */
  settle(actual: Partial<Amount>): void;
  /** Gives all of it back: what was on its way did not happen. */
  release(): void;
}

export interface ChildAccount extends Account {
  /** Gives back what was not spent. Once; the second time does nothing. */
  close(): void;
}

/** Money that several accounts share: each gets a piece, and more when it needs more. */
export interface Purse {
  /** What this account may spend of it in all; what is left out is not its business. */
  readonly given: Partial<Amount>;
  /**
   * Gives more, in all: `least` where that is there, and towards `most` what leaves a part for others.
   * At once: what is given must be held before anybody else asks.
   */
  raise(least: Amount, most: Amount): void;
  /** Why there is no more at this moment, and when there may be. */
  explain?: (() => Lacking) | undefined;
}

export interface Lacking {
  readonly message: string;
  /** Undefined where waiting does not help. */
  readonly retryAfterMs: number | undefined;
}

/** With a purse the limits are a ceiling: what may be spent is what the purse has given. */
export function createAccount(limits: Limits, purse?: Purse): Account {
  return new Ledger(limits, { purse });
}

interface Source {
  readonly purse?: Purse | undefined;
  /** What a parent has set aside. */
  readonly hold?: Hold | undefined;
}

class Ledger implements ChildAccount {
  readonly #ceiling: Limits;
  readonly #source: Source;
  #spent: Amount = NOTHING;
  #held: Amount = NOTHING;

  constructor(ceiling: Limits, source: Source) {
    this.#ceiling = ceiling;
    this.#source = source;
  }

  get limits(): Limits {
    const given = this.#source.purse?.given;
    return given ? mapKinds((kind) => toLess(this.#ceiling[kind], given[kind])) : this.#ceiling;
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

  hold(most: Partial<Amount>): Hold {
    const wanted = { ...NOTHING, ...most };
    this.reach(wanted, wanted);
    const [lacking] = findLacking(wanted, this.left);
    if (lacking) throw this.#exceeded(lacking);
    this.#held = addAmounts(this.#held, wanted);
    let isOpen = true;
    const end = (actual: Partial<Amount>): void => {
      if (!isOpen) return;
      isOpen = false;
      this.#held = eachKind((kind) => this.#held[kind] - wanted[kind]);
      this.charge(actual);
    };
    return { most: wanted, settle: end, release: () => end({}) };
  }

  charge(actual: Partial<Amount>): void {
    this.#spent = addAmounts(this.#spent, { ...NOTHING, ...actual });
  }

  reach(least: Partial<Amount>, most: Partial<Amount>): void {
    const { purse } = this.#source;
    if (!purse) return;
    const used = addAmounts(this.#spent, this.#held);
    // What is beyond the ceiling would be set aside in vain.
    const toAll = (more: Partial<Amount>): Amount =>
      eachKind((kind) => toLess(this.#ceiling[kind], used[kind] + (more[kind] ?? 0)) ?? 0);
    purse.raise(toAll(least), toAll(most));
  }

  open(limits: Limits): ChildAccount {
    const unlimited = (Object.keys(limits) as LimitKind[]).find(
      (kind) => limits[kind] === null && this.limits[kind] !== null,
    );
    if (unlimited) throw new Failure("internal", `A child needs a limit of ${unlimited} here.`);
    const own = eachKind((kind) => limits[kind] ?? 0);
    return new Ledger(limits, { hold: this.hold(own) });
  }

  close(): void {
    this.#source.hold?.settle(this.#spent);
  }

  #exceeded(kind: LimitKind): Failure {
    const { purse } = this.#source;
    // What the purse did not give is not this run's own limit.
    if (purse?.explain && purse.given[kind] !== undefined && !this.#isOwnLimit(kind)) {
      const { message, retryAfterMs } = purse.explain();
      return new Failure("budget_exceeded", message, { retryAfterMs });
    }
    const limit = this.limits[kind] ?? 0;
    return new Failure("budget_exceeded", `The budget of ${NAMES[kind](limit)} is used up.`);
  }

  /** Whether its own limit is what stands in the way, and not what a purse has given of it. */
  #isOwnLimit(kind: LimitKind): boolean {
    const ceiling = this.#ceiling[kind];
    return ceiling !== null && ceiling <= (this.#source.purse?.given[kind] ?? ceiling);
  }
}

/** The smaller of the two; of one that is not there the other. */
function toLess(limit: number | null, other: number | undefined): number | null {
  if (other === undefined || limit === null) return other ?? limit;
  return Math.min(limit, other);
}

const NAMES: Readonly<Record<LimitKind, (limit: number) => string>> = {
  turns: (limit) => plural(limit, "turn"),
  tokens: (limit) => plural(limit, "token"),
  usd: (limit) => `$${limit}`,
  tool_calls: (limit) => plural(limit, "tool call"),
  children: (limit) => plural(limit, "subagent"),
};
