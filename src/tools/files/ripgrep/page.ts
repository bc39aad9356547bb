/**
 * A page of a long listing, for the tools that return one: `results` and their position.
 *
 * The page is cut from all entries sorted by their keys, whatever the order in which they are found. Only
 * entries that can still be on the page are kept, so a listing of a million costs only the memory of a
 * page; if a page itself is too large, only its beginning is kept.
 */

export interface PageRequest {
  readonly offset: number;
  /** How many results a page has; 0 for all. */
  readonly limit: number;
}

export type ResultPage = {
  results: string[];
  total: number;
  offset: number;
  limit: number;
  has_more: boolean;
  returned: number;
  /** Set only if the page has less than was requested. */
  note?: string;
};

export function toPage(results: string[], total: number, request: PageRequest): ResultPage {
  const { offset, limit } = request;
  const returned = results.length;
  const has_more = offset + returned < total;
  return { results, total, offset, limit, has_more, returned, ...toNote(returned, total, request) };
}

/** The note for a page that was cut because it was too large. */
export function toNote(
  returned: number,
  total: number,
  { offset, limit }: PageRequest,
): { note?: string } {
  const rest = Math.max(0, total - offset);
  const whole = limit > 0 ? Math.min(limit, rest) : rest;
  if (returned >= whole) return {};
  return { note: `Too large: this page has ${returned} of ${whole} results. Narrow the search.` };
}

/** The page of a complete list. */
export function cutPage(all: readonly string[], request: PageRequest): ResultPage {
  const { offset, limit } = request;
  return toPage(all.slice(offset, limit > 0 ? offset + limit : undefined), all.length, request);
}

interface Entry<Value> {
  readonly key: string;
  readonly value: Value;
  readonly count: number;
  readonly cost: number;
}

/** The most bytes that are kept; a model's context holds a hundredth of it. */
export const MAX_KEPT = 16 * 1024 * 1024;
/** The cost of keeping a text beside its characters. */
export const TEXT_COST = 32;

/** How many entries are collected before the first sort: sorting often costs time, keeping costs memory. */
const FIRST_CUT = 1024;

export class Selection<Value> {
  /** The number of entries up to the end of the page. */
  readonly needed: number;
  total = 0;
  #entries: Entry<Value>[] = [];
  #cutAt = FIRST_CUT;
  #cost = 0;
  /** Entries after this key are not on the page. */
  #bound: string | undefined;

  constructor({ offset, limit }: PageRequest) {
    this.needed = limit > 0 ? offset + limit : Number.POSITIVE_INFINITY;
  }

  /** True if an entry with this key can be on the page. */
  wants(key: string): boolean {
    return this.#bound === undefined || key <= this.#bound;
  }

  /**
   * Adds an entry. `count` is the number of its results. `cost` is what keeping the value takes; from
   * `MAX_KEPT` on the value may be incomplete. Each key comes once. Sorted by code units.
   */
  add(key: string, value: Value, { count = 1, cost = 0 } = {}): void {
    this.total += count;
    if (!this.wants(key)) return;
    const whole = key.length + TEXT_COST + cost;
    this.#entries.push({ key, value, count, cost: whole });
    this.#cost += whole;
    if (this.#entries.length >= this.#cutAt || this.#cost > 2 * MAX_KEPT) this.#cut();
  }

  /** The sorted entries up to the page's end, or up to the limit on memory. */
  finish(): readonly Entry<Value>[] {
    this.#cut();
    return this.#entries;
  }

  #cut(): void {
    const sorted = this.#entries.sort((a, b) => (a.key < b.key ? -1 : 1));
    let count = 0;
    let cost = 0;
    const end = sorted.findIndex((entry) => {
      count += entry.count;
      cost += entry.cost;
      return count >= this.needed || cost >= MAX_KEPT;
    });
    this.#cost = cost;
    if (end >= 0) {
      sorted.length = end + 1;
      this.#bound = sorted[end]?.key;
    }
    this.#cutAt = Math.max(FIRST_CUT, sorted.length * 2);
  }
}
