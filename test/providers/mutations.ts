/**
 * Every stream of a wire with one field of another type. Servers do that: a list where all others send text
 * once crashed the terminal. What comes of it is right events or a `Failure`, and nothing else.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import { isJsonObject, type Json, tryParsePayload } from "../../src/base/json.ts";
import type { Item } from "../../src/protocol/items.ts";
import type { ModelEvent } from "../../src/protocol/model-events.ts";
import type { Decoder } from "../../src/providers/wire.ts";
import { assertEventOrder } from "./event-order.ts";
import type { StreamFolder } from "./streams.ts";

type Path = readonly (string | number)[];

/** One of each type, and the forms in which servers write text that is no plain text. */
const VALUES: readonly Json[] = [
  ...[7, -1.5, "word", "", true, [], {}, ["word"], [[]]],
  [{ type: "text", text: "word" }],
  { text: "word" },
];

export function describeMutations(
  wire: string,
  { streams, answers }: StreamFolder,
  createDecoder: () => Decoder,
): void {
  const all = [...streams, ...answers.map(({ name, body }) => ({ name, lines: [body] }))];
  describe(`streams of ${wire} with a field of another type`, () => {
    for (const { name, lines } of all) {
      it(`mean something sound, or a failure: ${name}`, () => {
        for (const { sent, where } of mutate(lines)) assertSound(createDecoder(), sent, where);
      });
    }
  });
}

interface Mutation {
  readonly sent: readonly Json[];
  /** What was changed. */
  readonly where: string;
}

function* mutate(lines: readonly string[]): Generator<Mutation> {
  const payloads: Json[] = lines.map((line) => tryParsePayload(line) ?? line);
  for (const [at, payload] of payloads.entries()) {
    for (const [number, path] of pathsOf(payload).entries()) {
      const old = find(payload, path);
      // A third of them for each field, others for the next: streams have the same fields again and again.
      const some = VALUES.filter((_, place) => (place + number + at) % 3 === 0);
      for (const value of some.filter((one) => isOther(one, old))) {
        const sent = payloads.with(at, replace(payload, path, value));
        yield { sent, where: `line ${at}, ${path.join(".")} as ${JSON.stringify(value)}` };
      }
    }
  }
}

/** Lists and objects are others whatever stands in them. */
function isOther(value: Json, old: Json | undefined): boolean {
  return typeof value === "object" || typeof value !== typeof old;
}

function assertSound(decoder: Decoder, payloads: readonly Json[], where: string): void {
  const events: ModelEvent[] = [];
  try {
    for (const payload of payloads) {
      decoder.read(typeof payload === "string" ? payload : JSON.stringify(payload), events);
    }
    decoder.end(events);
    assertEventOrder(events);
  } catch (thrown) {
    if (thrown instanceof assert.AssertionError) thrown.message = `${where}: ${thrown.message}`;
    if (!(thrown instanceof Failure)) throw Object.assign(thrown as Error, { where });
  }
  for (const event of events) {
    const wrong = findWrong(event);
    assert.equal(wrong, undefined, `${where}: ${wrong} in ${JSON.stringify(event)}`);
  }
}

/** What of an event has another type than it promises. */
function findWrong(event: ModelEvent): string | undefined {
  if ("delta" in event && typeof event.delta !== "string") return "the delta";
  if (event.type === "start") {
    return isText(event.response_id) && isText(event.model) ? undefined : "the start";
  }
  if (event.type === "end") {
    const { input_tokens, output_tokens, total_tokens } = event.usage;
    const figures = [input_tokens, output_tokens, total_tokens];
    return figures.every((figure) => Number.isFinite(figure) && figure >= 0)
      ? undefined
      : "the usage";
  }
  return "item" in event ? findWrongItem(event.item) : undefined;
}

function findWrongItem(item: Item): string | undefined {
  switch (item.type) {
    case "function_call":
      return [item.call_id, item.name, item.arguments].every(isText) ? undefined : "the call";
    case "reasoning": {
      const parts = [...item.summary, ...(item.content ?? [])];
      return parts.every(({ text }) => isText(text)) ? undefined : "the reasoning";
    }
    case "message": {
      const parts = typeof item.content === "string" ? [] : item.content;
      return parts.every(isSoundPart) ? undefined : "the message";
    }
    default:
      // Of the vendor's own: kept as it came.
      return undefined;
  }
}

function isSoundPart(part: object): boolean {
  if ("text" in part) return isText(part.text);
  return !("refusal" in part) || isText(part.refusal);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/** To every value of every object and list in it. */
function pathsOf(value: Json, path: Path = []): Path[] {
  const keys = Array.isArray(value)
    ? [...value.keys()]
    : isJsonObject(value)
      ? Object.keys(value)
      : [];
  return keys.flatMap((key) => {
    const below = [...path, key];
    return [below, ...pathsOf(find(value, [key]) ?? null, below)];
  });
}

function find(value: Json, path: Path): Json | undefined {
  let found: Json | undefined = value;
  for (const key of path) found = (found as Record<string | number, Json | undefined>)[key];
  return found;
}

function replace(value: Json, [key, ...rest]: Path, by: Json): Json {
  if (key === undefined) return by;
  const below = replace(find(value, [key]) ?? null, rest, by);
  if (Array.isArray(value)) return value.with(Number(key), below) as Json;
  return { ...(value as object), [key]: below } as Json;
}
