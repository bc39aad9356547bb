/**
 * The fields of streams and answers, and the values that replace them. A field is a place in a kind of
 * event: `response.output_item.done` has one `item.id` for each type of item, however often it comes.
 */

import {
  isJsonObject,
  type Json,
  type JsonObject,
  tryParsePayload,
} from "../../../src/base/json.ts";
import type { Stream } from "../streams.ts";

/** In place of a value: the field is removed. */
export const REMOVED = Symbol("removed");

export type Value = Json | typeof REMOVED;

/** One value of each type first, then the forms in which servers send text that is not a plain string. */
export const VALUES: readonly Value[] = [
  ...[7, {}, ["word"], "word", null],
  REMOVED,
  ...[true, -1.5, "", [], [[]], [null]],
  [{ type: "text", text: "word" }],
  { text: "word" },
];

type Path = readonly (string | number)[];

/** Where a field is found. */
export interface Place {
  readonly stream: Stream;
  readonly line: number;
  readonly path: Path;
}

export interface Field {
  /** `.item{web_search_call}.action{search}.sources[]`. */
  readonly name: string;
  /** Those in the shortest streams first. */
  readonly places: Place[];
}

/** The fields of each kind of event and of item, parent fields first. */
export function findFields(streams: readonly Stream[]): ReadonlyMap<string, readonly Field[]> {
  const kinds = new Map<string, Map<string, Field>>();
  for (const stream of streams.toSorted((one, other) => sizeOf(one) - sizeOf(other))) {
    for (const [line, payload] of payloadsOf(stream).entries()) {
      if (typeof payload !== "object" || payload === null) continue;
      for (const { path, ...found } of pathsOf(payload)) {
        const name = nameIn(payload, found.name);
        const [kind = kindOf(payload)] = /^item\{[^}]*\}/.exec(name) ?? [];
        const fields = kinds.get(kind) ?? new Map<string, Field>();
        kinds.set(kind, fields);
        const field = fields.get(name) ?? { name, places: [] };
        fields.set(name, field);
        field.places.push({ stream, line, path });
      }
    }
  }
  return new Map([...kinds].map(([kind, fields]) => [kind, [...fields.values()]]));
}

/** The stream with one field changed; undefined if the change has no effect. */
export function change({ stream, line, path }: Place, value: Value): string[] | undefined {
  const payload = payloadsOf(stream)[line];
  if (payload === undefined || !isOther(value, find(payload, path))) return undefined;
  return stream.lines.with(line, JSON.stringify(replace(payload, path, value)));
}

const parsed = new WeakMap<Stream, readonly (Json | undefined)[]>();

/** Parsed once, however often it is changed. */
function payloadsOf(stream: Stream): readonly (Json | undefined)[] {
  const known = parsed.get(stream);
  if (known) return known;
  const payloads = stream.lines.map(tryParsePayload);
  parsed.set(stream, payloads);
  return payloads;
}

function sizeOf({ lines }: Stream): number {
  return lines.reduce((sum, { length }) => sum + length, 0);
}

/** The type of an event; without one, the names of its fields. */
function kindOf(payload: object): string {
  const { type } = payload as JsonObject;
  return typeof type === "string" ? type : Object.keys(payload).slice(0, 3).join(", ");
}

interface NamedPath {
  readonly name: string;
  readonly path: Path;
}

function* pathsOf(value: Json, name = "", path: Path = []): Generator<NamedPath> {
  const below = Array.isArray(value)
    ? [...value.entries()].map(([at, one]) => [at, `${name}[]`, one as Json] as const)
    : isJsonObject(value)
      ? Object.entries(value).map(
          ([key, one]) => [key, `${name}${typeIn(value)}.${key}`, one ?? null] as const,
        )
      : [];
  for (const [key, inner, one] of below) {
    yield { name: inner, path: [...path, key] };
    yield* pathsOf(one, inner, [...path, key]);
  }
}

/** An item or a block has the same fields everywhere, except one that has only begun. */
const ITEM = /^.*?\.(?:item|output\[\]|content_block|content\[\])\{/;

function nameIn(payload: object, name: string): string {
  return kindOf(payload).endsWith(".added") ? name : name.replace(ITEM, "item{");
}

function typeIn({ type }: JsonObject): string {
  return typeof type === "string" ? `{${type}}` : "";
}

/** Lists and objects always count as different. */
function isOther(value: Value, old: Json | undefined): boolean {
  if (value === null || old === null) return value !== old;
  return typeof value === "object" || typeof value !== typeof old;
}

function find(value: Json, path: Path): Json | undefined {
  let found: Json | undefined = value;
  for (const key of path) found = (found as Record<string | number, Json | undefined>)[key];
  return found;
}

function replace(value: Json, [key, ...rest]: Path, by: Value): Json {
  if (key === undefined) return by as Json;
  const isLast = rest.length === 0;
  if (Array.isArray(value)) {
    const at = Number(key);
    if (isLast && by === REMOVED) return value.toSpliced(at, 1) as Json;
    return value.with(at, replace(value[at] as Json, rest, by)) as Json;
  }
  const { [key]: old, ...others } = value as JsonObject;
  if (isLast && by === REMOVED) return others;
  return { ...(value as JsonObject), [key]: replace(old ?? null, rest, by) };
}
