/**
 * A page of a long listing, as the tools that give one answer: `results` and where they stand.
 *
 * Whatever order things are found in, a page is cut from them sorted by their keys. Only what can
 * still be on the page is kept, so a listing of a million costs a page's memory; and of a page that is
 * itself too large, only the beginning.
 */

export interface PageRequest {
  readonly offset: number;
  /** How many a page has; 0 for all. */
  readonly limit: number;
}

export type Page = {
  results: string[];
  total: number;
  offset: number;
  limit: number;
  has_more: boolean;
  returned: number;
  /** Only where the page has less than was asked for. */
  note?: string;
};

export function toPage(results: string[], total: number, request: PageRequest): Page {
  const { offset, limit } = request;
  const returned = results.length;
  const has_more = offset + returned < total;
  return { results, total, offset, limit, has_more, returned, ...toNote(returned, total, request) };
}

/** Said where less is returned than there is on the page. */
export function toNote(
  returned: number,
  total: number,
  { offset, limit }: PageRequest,
): { note?: string } {
  const rest = Math.max(0, total - offset);
  const whole = limit > 0 ? Math.min(limit, rest) : rest;
  if (returned >= whole) return {};
  return { note: `Too much to keep: ${returned} of ${whole} are here. Narrow the search.` };
}

/** The page of what is all there. */
export function cutPage(all: readonly string[], request: PageRequest): Page {
  const { offset, limit } = request;
  return toPage(all.slice(offset, limit > 0 ? offset + limit : undefined), all.length, request);
}

interface Entry<Value> {
  readonly key: string;
  readonly value: Value;
  readonly count: number;
  readonly cost: number;
}

/** How much is kept at most, in bytes; a model's context holds a hundredth of it. */
export const MAX_KEPT = 16 * 1024 * 1024;
/** What keeping a text costs beside its characters. */
export const TEXT_COST = 32;

/** How many entries are taken in before the first sort: sorting often costs, and so does keeping. */
const FIRST_CUT = 1024;

export class Selection<Value> {
  /** How many entries up to the page's end there must be. */
  readonly needed: number;
  total = 0;
  #entries: Entry<Value>[] = [];
  #cutAt = FIRST_CUT;
  #cost = 0;
  /** Nothing behind this key is on the page. */
  #bound: string | undefined;

  constructor({ offset, limit }: PageRequest) {
    this.needed = limit > 0 ? offset + limit : Number.POSITIVE_INFINITY;
  }

  /** Whether something under this key can be on the page. */
  wants(key: string): boolean {
    return this.#bound === undefined || key <= this.#bound;
  }

  /**
   * `count`: for how many results it stands. `cost`: what keeping the value takes; from `MAX_KEPT` on it
   * may be a part of itself. Keys come once. In the order of code units.
   */
  add(key: string, value: Value, { count = 1, cost = 0 } = {}): void {
    this.total += count;
    if (!this.wants(key)) return;
    const whole = key.length + TEXT_COST + cost;
    this.#entries.push({ key, value, count, cost: whole });
    this.#cost += whole;
    if (this.#entries.length >= this.#cutAt || this.#cost > 2 * MAX_KEPT) this.#cut();
  }

  /** Sorted; the first results of them up to the page's end, or to where too much would be kept. */
  finish(): readonly Entry<Value>[] {
    this.#cut();
    return this.#entries;
  }

  #cut(): void {
    const sorted = this.#entries.sort((a, b) => (a.key < b.key ? -1 : 1));
    let [count, cost] = [0, 0];
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
