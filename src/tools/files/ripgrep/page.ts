/**
 * A page of a long listing, as the tools that give one answer: `results` and where they stand.
 *
 * Whatever order things are found in, a page is cut from them sorted by their keys. Only what can
 * still be on the page is kept, so a listing of a million costs a page's memory.
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
};

export function toPage(results: string[], total: number, { offset, limit }: PageRequest): Page {
  const returned = results.length;
  return { results, total, offset, limit, has_more: offset + returned < total, returned };
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
}

/** How many entries are taken in before the first sort: sorting often costs, and so does keeping. */
const FIRST_CUT = 1024;

export class Selection<Value> {
  /** How many entries up to the page's end there must be. */
  readonly needed: number;
  total = 0;
  #entries: Entry<Value>[] = [];
  #cutAt = FIRST_CUT;
  /** Nothing behind this key is on the page. */
  #bound: string | undefined;

  constructor({ offset, limit }: PageRequest) {
    this.needed = limit > 0 ? offset + limit : Number.POSITIVE_INFINITY;
  }

  /** Whether something under this key can be on the page. */
  wants(key: string): boolean {
    return this.#bound === undefined || key <= this.#bound;
  }

  /** `count`: for how many results it stands. Keys come once. In the order of code units. */
  add(key: string, value: Value, count = 1): void {
    this.total += count;
    if (!this.wants(key)) return;
    this.#entries.push({ key, value, count });
    if (this.#entries.length >= this.#cutAt) this.#cut();
  }

  /** Sorted; the first results of them up to the page's end. */
  finish(): readonly Entry<Value>[] {
    this.#cut();
    return this.#entries;
  }

  #cut(): void {
    const sorted = this.#entries.sort((a, b) => (a.key < b.key ? -1 : 1));
    let count = 0;
    const end = sorted.findIndex((entry) => {
      count += entry.count;
      return count >= this.needed;
    });
    if (end >= 0) {
      sorted.length = end + 1;
      this.#bound = sorted[end]?.key;
    }
    this.#cutAt = Math.max(FIRST_CUT, sorted.length * 2);
  }
}
