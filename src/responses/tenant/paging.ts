/** Lists in pages, as every list of the API: `limit`, `order`, `after`, `before`. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { ThingName, ThingQuery } from "../../store/shelf.ts";

export interface Paging {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly after: string | undefined;
  readonly before: string | undefined;
}

export interface PagingDefaults {
  readonly defaultOrder: Paging["order"];
  readonly defaultLimit?: number | undefined;
  readonly maxLimit?: number | undefined;
}

export interface ListPage<Shown> {
  readonly object: "list";
  readonly data: readonly Shown[];
  /** Empty, like `last_id`, if the page is: the API promises text. */
  readonly first_id: string;
  readonly last_id: string;
  readonly has_more: boolean;
}

/** Rejects with `invalid_request` an invalid page: `param` is the field at fault. */
export function parsePaging(query: URLSearchParams, defaults: PagingDefaults): Paging {
  const { defaultOrder, defaultLimit = 20, maxLimit = 100 } = defaults;
  return {
    limit: parseLimit(query.get("limit"), defaultLimit, maxLimit),
    order: parseOrder(query.get("order"), defaultOrder),
    after: query.get("after") || undefined,
    before: query.get("before") || undefined,
  };
}

/**
 * The fields that the query asks for, in each form in which clients write a list: `include`, `include[]`,
 * `include[0]`.
 */
export function parseInclude(query: URLSearchParams): ReadonlySet<string> {
  const values = [...query].filter(([name]) => /^include(\[\d*\])?$/.test(name));
  return new Set(values.flatMap(([, value]) => value.split(",")).filter((name) => name !== ""));
}

/** Asks for one more than fits, so that `toPage` knows if there are more. */
export function toThingQuery(
  among: Omit<ThingName, "id"> & { readonly parent?: string | undefined },
  { limit, order, after, before }: Paging,
): ThingQuery {
  const { tenant, kind, parent } = among;
  const shelfOrder = order === "asc" ? "oldest" : "newest";
  return { tenant, kind, parent, order: shelfOrder, limit: limit + 1, after, before };
}

/**
 * `things` are those of `toThingQuery`. `before` in the paging says that the page was read from its end: the extra
 * thing is then the first one.
 */
export function toPage<Kept, Shown extends { readonly id: string }>(
  things: readonly Kept[],
  limit: number | Paging,
  toObject: (thing: Kept) => Shown,
): ListPage<Shown> {
  const paging = typeof limit === "number" ? { limit, before: undefined, after: undefined } : limit;
  const isBackwards = paging.before !== undefined && paging.after === undefined;
  const surplus = Math.max(things.length - paging.limit, 0);
  const kept = isBackwards ? things.slice(surplus) : things.slice(0, paging.limit);
  return toWholePage(kept.map(toObject), surplus > 0);
}

/** A page of objects that already have their final form. */
export function toWholePage<Shown extends { readonly id: string }>(
  data: readonly Shown[],
  has_more = false,
): ListPage<Shown> {
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? "",
    last_id: data.at(-1)?.id ?? "",
    has_more,
  };
}

function parseLimit(text: string | null, defaultLimit: number, maxLimit: number): number {
  if (text === null || text === "") return defaultLimit;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= maxLimit) return limit;
  throw invalid("limit", `a whole number from 1 to ${maxLimit}`, text);
}

function parseOrder(text: string | null, defaultOrder: Paging["order"]): Paging["order"] {
  if (text === null || text === "") return defaultOrder;
  if (text === "asc" || text === "desc") return text;
  throw invalid("order", '"asc" or "desc"', text);
}

function invalid(param: string, wanted: string, given: string): Failure {
  const message = `\`${param}\` must be ${wanted}, not ${JSON.stringify(clip(given, 60))}.`;
  return new Failure("invalid_request", message, { param });
}
