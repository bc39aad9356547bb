/**
 * Events of a log as the API shows them: consecutive deltas joined, and large values cut, with a note of what is
 * missing. Pure.
 */

import { Failure } from "../../base/failure.ts";
import { asJsonObject, isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip, cutToChars } from "../../base/text.ts";
import type { LoggedEvent } from "../../protocol/run-events.ts";
import type { Clipped, EventView, TextPiece } from "./views.ts";

/** The size of one event, in characters of its JSON. */
export const EVENT_CHARS = 64 * 1024;
/** The size of one piece of a long text. */
export const PIECE_CHARS = 512 * 1024;

/** The events in order; joined deltas have the number of the first. */
export function toEventViews(
  events: readonly LoggedEvent[],
  maxChars: number = EVENT_CHARS,
): EventView[] {
  const views: Joined[] = [];
  for (const logged of events) {
    const last = views.at(-1);
    if (last && canJoin(last, logged)) {
      last.deltas.push(deltaOf(logged));
      last.last_seq = logged.seq;
    } else views.push({ first: logged, last_seq: logged.seq, deltas: [deltaOf(logged)] });
  }
  return views.map((joined) => toView(joined, maxChars));
}

interface Joined {
  readonly first: LoggedEvent;
  last_seq: number;
  readonly deltas: string[];
}

function deltaOf({ event }: LoggedEvent): string {
  return "delta" in event && typeof event.delta === "string" ? event.delta : "";
}

/** True for deltas of the same run, kind and place: they differ only in their text. */
function canJoin({ first, last_seq }: Joined, next: LoggedEvent): boolean {
  if (first.event.type !== next.event.type || !next.event.type.endsWith("_delta")) return false;
  if (first.run_id !== next.run_id || last_seq + 1 !== next.seq) return false;
  return placeOf(first.event) === placeOf(next.event);
}

function placeOf(event: object): string {
  return JSON.stringify(event, (key, value: unknown) => (key === "delta" ? undefined : value));
}

function toView({ first, last_seq, deltas }: Joined, maxChars: number): EventView {
  const { seq, event } = first;
  const given = asJsonObject(event);
  const whole = deltas.length > 1 ? { ...given, delta: deltas.join("") } : given;
  const { value, clipped } = clipJson(whole, maxChars);
  const at_ms = "at_ms" in event ? event.at_ms : null;
  const at = event.type === "run_start" ? event.created_at_ms : at_ms;
  return { seq, last_seq, type: event.type, at_ms: at, event: value, clipped };
}

/** Tries shorter and shorter texts and lists, until everything fits. */
export function clipJson(
  value: JsonObject,
  maxChars: number,
): { readonly value: JsonObject; readonly clipped: readonly Clipped[] } {
  if (JSON.stringify(value).length <= maxChars) return { value, clipped: [] };
  for (let limit = maxChars / 2; limit > SHORTEST; limit /= 2) {
    const clipped: Clipped[] = [];
    const cut = clipValue(value, { path: "", limit: Math.floor(limit), clipped }) as JsonObject;
    if (JSON.stringify(cut).length <= maxChars) return { value: cut, clipped };
  }
  const type = value["type"] ?? null;
  return {
    value: { type },
    clipped: [{ path: "", length: Object.keys(value).length, kind: "list" }],
  };
}

/** With less than this an event says nothing. */
const SHORTEST = 8;

interface Clipping {
  readonly path: string;
  readonly limit: number;
  readonly clipped: Clipped[];
}

function clipValue(value: Json, clipping: Clipping): Json {
  const { path, limit, clipped } = clipping;
  if (typeof value === "string") {
    if (value.length <= limit) return value;
    clipped.push({ path, length: value.length, kind: "text" });
    return `${cutToChars(value, limit - 1)}…`;
  }
  if (Array.isArray(value)) {
    const most = Math.max(1, Math.floor(limit / LIST_CHARS));
    if (value.length > most) clipped.push({ path, length: value.length, kind: "list" });
    return value
      .slice(0, most)
      .map((one, at) => clipValue(one, { ...clipping, path: `${path}/${at}` }));
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, one]): [string, Json] => [
    key,
    clipValue(one ?? null, { ...clipping, path: `${path}/${escapeKey(key)}` }),
  ]);
  return Object.fromEntries(entries);
}

/** The size that an entry of a list counts as. */
const LIST_CHARS = 64;

function escapeKey(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** A piece of the text at a JSON Pointer; for other values, of their JSON. Rejects if there is nothing. */
export function toTextPiece(event: JsonObject, path: string, from: number): TextPiece {
  const found = findValue(event, path);
  const text = typeof found === "string" ? found : JSON.stringify(found);
  const start = Math.min(Math.max(0, from), text.length);
  const end = Math.min(text.length, start + PIECE_CHARS);
  const piece = text.slice(start, end);
  const next = end < text.length ? end : null;
  return { object: "run.text", text: piece, from: start, next, length: text.length };
}

function findValue(event: JsonObject, path: string): Json {
  let at: Json | undefined = event;
  for (const part of path === "" ? [] : path.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) at = at[Number(key)];
    else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  if (at !== undefined) return at;
  throw new Failure("not_found", `The event has nothing at \`${clip(path, 200)}\`.`);
}
