/**
 * Makes a page of things of which some are left out: a thing that is left out takes no place in it.
 */

import type { Shelf, Thing } from "../../store/shelf.ts";
import { type ListPage, type Paging, toWholePage } from "../tenant/paging.ts";

/** Rows that are read at a time. */
const READ_ROWS = 500;

interface Wanted<Shown> {
  readonly among: {
    readonly tenant: string;
    readonly kind: string;
    readonly parent?: string | undefined;
  };
  readonly paging: Paging;
  readonly isWanted: (thing: Thing) => boolean;
  readonly toObject: (thing: Thing) => Shown;
}

export async function collectPage<Shown extends { readonly id: string }>(
  shelf: Shelf,
  { among, paging, isWanted, toObject }: Wanted<Shown>,
): Promise<ListPage<Shown>> {
  const found: Thing[] = [];
  const order = paging.order === "asc" ? "oldest" : "newest";
  let { after } = paging;
  for (;;) {
    const things = await shelf.list({ ...among, order, limit: READ_ROWS, after });
    found.push(...things.filter(isWanted));
    after = things.at(-1)?.id;
    if (things.length < READ_ROWS || found.length > paging.limit) break;
  }
  const shown = found.slice(0, paging.limit).map(toObject);
  return toWholePage(shown, found.length > paging.limit);
}
