/** Lists a page at a time, as every list of the API has them: `limit`, `order`, `after`, `before`. */

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

export interface Page<Shown> {
  readonly object: "list";
  readonly data: readonly Shown[];
  /** Empty, like `last_id`, where the page is: the API promises text. */
  readonly first_id: string;
  readonly last_id: string;
  readonly has_more: boolean;
}

/** Rejects with `invalid_request` what is no page: `param` is the field at fault. */
export function parsePaging(query: URLSearchParams, defaults: PagingDefaults): Paging {
  const { defaultOrder, defaultLimit = 20, maxLimit = 100 } = defaults;
  return {
    limit: parseLimit(query.get("limit"), defaultLimit, maxLimit),
    order: parseOrder(query.get("order"), defaultOrder),
    after: query.get("after") || undefined,
    before: query.get("before") || undefined,
  };
}

/** What the query asks to see, in each way that clients write a list: `include`, `include[]`, `include[0]`. */
export function parseInclude(query: URLSearchParams): ReadonlySet<string> {
  const values = [...query].filter(([name]) => /^include(\[\d*\])?$/.test(name));
  return new Set(values.flatMap(([, value]) => value.split(",")).filter((name) => name !== ""));
}

/** Asks for one more than fits, so that `toPage` knows whether there is more. */
export function toThingQuery(
  among: Omit<ThingName, "id"> & { readonly parent?: string | undefined },
  { limit, order, after, before }: Paging,
): ThingQuery {
  const { tenant, kind, parent } = among;
  const shelfOrder = order === "asc" ? "oldest" : "newest";
  return { tenant, kind, parent, order: shelfOrder, limit: limit + 1, after, before };
}

/**
 * `things` are those of `toThingQuery`. Instead of the limit, the paging itself tells that the page was
 * asked for from its end (`before`): the one too many is the first one then.
 */
export function toPage<Kept, Shown extends { readonly id: string }>(
  things: readonly Kept[],
  limit: number | Paging,
  toObject: (thing: Kept) => Shown,
): Page<Shown> {
  const paging = typeof limit === "number" ? { limit, before: undefined, after: undefined } : limit;
  const isBackwards = paging.before !== undefined && paging.after === undefined;
  const surplus = Math.max(things.length - paging.limit, 0);
  const kept = isBackwards ? things.slice(surplus) : things.slice(0, paging.limit);
  return toWholePage(kept.map(toObject), surplus > 0);
}

/** A page of objects that are shown already. */
export function toWholePage<Shown extends { readonly id: string }>(
  data: readonly Shown[],
  has_more = false,
): Page<Shown> {
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
