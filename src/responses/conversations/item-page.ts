/**
 * Reads a page of a conversation's items, a few at a time. It ends when it has the requested number, or when it is as
 * large as one answer should be. So no page needs more memory than that.
 */

import { countJsonChars } from "../../base/json-size.ts";
import type { Shelf, Thing, ThingQuery } from "../../store/shelf.ts";
import { type ListPage, type Paging, toPage, toThingQuery, toWholePage } from "../tenant/paging.ts";

/** A few large pictures, or far more words than people read at once. */
const MAX_PAGE_CHARS = 16_000_000;
/** Their size is not known before they are read. */
const READ_FIRST = 4;

export interface PageParts {
  readonly shelf: Pick<Shelf, "list">;
  readonly maxChars?: number | undefined;
}

/** `paging` names things, not items. Returns at least one item, however large. */
export async function readItemPage<Shown extends { readonly id: string }>(
  { shelf, maxChars = MAX_PAGE_CHARS }: PageParts,
  among: Parameters<typeof toThingQuery>[0],
  paging: Paging,
  show: (thing: Thing) => Shown,
): Promise<ListPage<Shown>> {
  const { things, isCut } = await readThings(shelf, toThingQuery(among, paging), maxChars);
  return isCut ? toWholePage(things.map(show), true) : toPage(things, paging, show);
}

interface ReadThings {
  readonly things: readonly Thing[];
  /** True if there are more than fit. */
  readonly isCut: boolean;
}

async function readThings(
  shelf: PageParts["shelf"],
  query: ThingQuery,
  maxChars: number,
): Promise<ReadThings> {
  const isBackwards = query.before !== undefined && query.after === undefined;
  const things: Thing[] = [];
  let chars = 0;
  for await (const thing of walk(shelf, query, isBackwards ? "before" : "after")) {
    chars += countJsonChars(thing.body);
    const isCut = chars > maxChars && things.length > 0;
    if (isCut) return { things: isBackwards ? things.reverse() : things, isCut };
    things.push(thing);
  }
  return { things: isBackwards ? things.reverse() : things, isCut: false };
}

/** From the edge where the page begins: the last one first if it is read from its end. */
async function* walk(
  shelf: PageParts["shelf"],
  query: ThingQuery,
  edge: "after" | "before",
): AsyncGenerator<Thing> {
  let from = query[edge];
  let left = query.limit;
  for (let count = READ_FIRST; left > 0; count *= 2) {
    const limit = Math.min(count, left);
    const rows = await shelf.list({ ...query, [edge]: from, limit });
    yield* edge === "before" ? rows.toReversed() : rows;
    from = (edge === "before" ? rows[0] : rows.at(-1))?.id;
    left = rows.length < limit ? 0 : left - limit;
  }
}
