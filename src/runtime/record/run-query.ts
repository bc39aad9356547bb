/** Queries of the API of runs, read from the text of an address. Each error names what is wrong with a value. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import { ENDINGS, type Ending } from "../../protocol/run-events.ts";
import type { RunListQuery } from "../../store/run-index.ts";
import { toDay } from "../../store/run-notes.ts";
import type { RecordPage } from "./views.ts";

export type Query = Pick<URLSearchParams, "get" | "has">;

const DAY_MS = 86_400_000;
const MAX_PAGE = 100;
const USUAL_PAGE = 50;
/** The longest window of usage: more than a year would be read for one answer. */
const MAX_DAYS = 400;
const USUAL_DAYS = 30;

/** Filters of `GET /v1/runs`, one line each: the docs are made from them. */
export const RUN_FILTERS = {
  status: "`running`, `waiting` (for an answer), `ended`, or an ending: `completed`, `failed`, …",
  model: "The model, as `vendor/model`",
  agent: "The agent, or the label of the run",
  key: "The id of the key whose request it answers",
  session:
    "The session that it belongs to; `client:ID` for the requests of a client's own session, such as Claude Code's",
  folder: "The folder that its tools work in",
  kind: "`agent`, `response` or `index`",
  day: "Started on this day of UTC, `2026-11-18`",
  from: "Started on this day or later",
  to: "Started on this day or earlier",
  search: "Words that its title or its id contains, in any order and case",
  tenant: "Of this tenant; only for `admin` keys. Other keys see their own tenant",
} as const;

export function parseRunList(query: Query): Omit<RunListQuery, "tenant" | "limit"> {
  const text = (name: keyof typeof RUN_FILTERS): string | undefined => query.get(name) || undefined;
  return {
    ...parseStatus(text("status")),
    model: text("model"),
    agent: text("agent"),
    key_id: text("key"),
    session: text("session"),
    folder: text("folder"),
    name: text("kind"),
    ...parseDays(query),
    search: text("search"),
    before: parseRunCursor(query.get("after")),
  };
}

function parseStatus(
  status: string | undefined,
): Pick<RunListQuery, "status" | "ending" | "waiting"> {
  if (status === undefined) return {};
  if (status === "running" || status === "ended") return { status };
  if (status === "waiting") return { status: "running", waiting: true };
  if (Object.hasOwn(ENDINGS, status)) return { status: "ended", ending: status as Ending };
  const known = ["running", "waiting", "ended", ...Object.keys(ENDINGS)].join(", ");
  throw toInvalid("status", `Unknown status \`${clip(status, 80)}\`. Use one of: ${known}.`);
}

function parseDays(query: Query): Pick<RunListQuery, "from_ms" | "to_ms"> {
  const day = query.get("day");
  const from = day || query.get("from");
  const to = day || query.get("to");
  return {
    from_ms: from ? parseDay("from", from) : undefined,
    to_ms: to ? parseDay("to", to) + DAY_MS : undefined,
  };
}

function parseDay(name: string, text: string): number {
  const atMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (!Number.isNaN(atMs) && toDay(atMs) === text) return atMs;
  throw toInvalid(name, `\`${name}\` is not a day: \`${clip(text, 40)}\`. Write it as 2026-11-18.`);
}

/** Both days are included; the last 30 days if the query names none. */
export function parseWindow(
  query: Query,
  nowMs: number,
): { readonly from_day: string; readonly to_day: string } {
  const to = query.get("to") ? parseDay("to", query.get("to") ?? "") : parseDay("to", toDay(nowMs));
  const from = query.get("from")
    ? parseDay("from", query.get("from") ?? "")
    : to - (USUAL_DAYS - 1) * DAY_MS;
  if (from > to) throw toInvalid("from", "`from` is after `to`.");
  if ((to - from) / DAY_MS >= MAX_DAYS)
    throw toInvalid("from", `The window is longer than ${MAX_DAYS} days. Ask for less at once.`);
  return { from_day: toDay(from), to_day: toDay(to) };
}

/** The size of a page, 1 to 100. */
export function parseLimit(query: Query, max = MAX_PAGE, usual = USUAL_PAGE): number {
  const text = query.get("limit");
  if (text === null || text === "") return usual;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= max) return limit;
  throw toInvalid("limit", `\`limit\` is ${clip(text, 40)}. Use a whole number from 1 to ${max}.`);
}

/** A whole number, or `usual` if it is left out. */
export function parseNumber(query: Query, name: string, usual: number): number {
  const text = query.get(name);
  if (text === null || text === "") return usual;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= -1) return value;
  throw toInvalid(name, `\`${name}\` is \`${clip(text, 40)}\`. Use a whole number.`);
}

/** A place in a list: the time and the id of a run. Opaque to clients. */
export function toCursor(at_ms: number, id: string): string {
  return Buffer.from(JSON.stringify([at_ms, id])).toString("base64url");
}

export function parseCursor(
  text: string | null,
): { readonly at_ms: number; readonly id: string } | undefined {
  if (text === null || text === "") return undefined;
  try {
    const read: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    const [at_ms, id] = Array.isArray(read) ? (read as unknown[]) : [];
    if (typeof at_ms === "number" && typeof id === "string") return { at_ms, id };
  } catch {
    // Reported below, like any other text that is not a cursor.
  }
  throw toInvalid("after", "`after` is not a place of a list. Use `next` of the page before.");
}

/** `hasMore`: there is at least one more row than those. */
export function toPage<Row>(
  data: readonly Row[],
  hasMore: boolean,
  cursorOf: (row: Row) => string,
): RecordPage<Row> {
  const last = data.at(-1);
  return { object: "list", data, next: hasMore && last ? cursorOf(last) : null };
}

function parseRunCursor(text: string | null): RunListQuery["before"] {
  const at = parseCursor(text);
  return at && { created_at_ms: at.at_ms, id: at.id };
}

export function toInvalid(param: string, message: string): Failure {
  return new Failure("invalid_request", message, { param });
}
