/**
 * A page of a conversation's items, read a few at a time: it ends where it has as many as were asked
 * for, or where it is as large as one answer should be. So no page holds more than that in memory.
 */

import { countJsonChars } from "../../base/json-size.ts";
import type { Shelf, Thing, ThingQuery } from "../../store/shelf.ts";
import { type Page, type Paging, toPage, toThingQuery, toWholePage } from "../tenant/paging.ts";

/** A few large pictures, or far more words than anybody reads at once. */
const MAX_PAGE_CHARS = 16_000_000;
/** Nobody knows how large they are before they are read. */
const READ_FIRST = 4;

export interface PageParts {
  readonly shelf: Pick<Shelf, "list">;
  readonly maxChars?: number | undefined;
}

/** `paging` names things, not items. At least one item, however large. */
export async function readItemPage<Shown extends { readonly id: string }>(
  { shelf, maxChars = MAX_PAGE_CHARS }: PageParts,
  among: Parameters<typeof toThingQuery>[0],
  paging: Paging,
  show: (thing: Thing) => Shown,
): Promise<Page<Shown>> {
  const { things, isCut } = await readThings(shelf, toThingQuery(among, paging), maxChars);
  return isCut ? toWholePage(things.map(show), true) : toPage(things, paging, show);
}

interface ReadThings {
  readonly things: readonly Thing[];
  /** Whether there are more than fit. */
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

/** From the edge that the page begins at: the last one first where it is asked for from its end. */
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
