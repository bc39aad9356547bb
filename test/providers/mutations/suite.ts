/**
 * Streams and answers of a wire with one field of another type, null, or left out. Servers do that: a list
 * where all others send text once crashed the terminal. The result must be sound (`soundness.ts`).
 *
 * All of it takes a minute, so unit tests and recordings try a part: every value for each field, at one of
 * the places where the field comes, with the ways of asking in turn. `test/e2e/mutations.e2e.ts` tries all
 * of it over the project's own streams.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Stream, StreamFolder } from "../streams.ts";
import {
  change,
  type Field,
  findFields,
  type Place,
  REMOVED,
  VALUES,
  type Value,
} from "./changes.ts";
import { type Answer, type Asking, checkAnswer, readAnswer } from "./soundness.ts";

export interface Mutated extends StreamFolder {
  readonly wire: string;
  /** The ways in which an answer is requested. */
  readonly askings: readonly Asking[];
}

/** Every value for each field, at some place. */
export function describeSomeMutations(mutated: Mutated): void {
  describeMutations(mutated, "one place of each field", trySome);
}

/** Every value at each place, for every way of asking. */
export function describeAllMutations(mutated: Mutated): void {
  describeMutations(mutated, "each place of each field", tryAll);
}

/** The problems of a changed answer. Undefined if the change makes no difference. */
type Outcome = readonly string[] | undefined;

type TryField = (field: Field, askings: readonly Asking[]) => Outcome;

function describeMutations(mutated: Mutated, extent: string, tryField: TryField): void {
  const { wire, streams, answers, askings } = mutated;
  const whole = answers.map(({ name, body }) => ({ name, lines: [body] }));
  describe(`answers on the wire ${wire} with a wrong value at ${extent}`, () => {
    let read = 0;
    for (const [kind, fields] of findFields([...streams, ...whole])) {
      it(`are sound, or a failure: ${kind}`, () => {
        const outcomes = tryFields(fields, (field) => tryField(field, askings));
        read += outcomes.length;
        assert.deepEqual(outcomes.flat().slice(0, 20), []);
      });
    }

    it("differ from those without it", () => assert.ok(read >= 10, `only ${read} fields are read`));
  });
}

/** The fields that are read. Fields inside one that is not read are not tried. */
function tryFields(
  fields: readonly Field[],
  tryField: (field: Field) => Outcome,
): (readonly string[])[] {
  const unread: string[] = [];
  return fields.flatMap((field) => {
    if (unread.some((name) => isInside(field, name))) return [];
    const outcome = tryField(field);
    if (outcome) return [outcome];
    unread.push(field.name);
    return [];
  });
}

function isInside({ name }: Field, outer: string): boolean {
  return name.startsWith(outer) && /^[.[{]/.test(name.slice(outer.length));
}

/** A field that makes no difference with this many values makes none with the others. */
const PROBES = 6;

function trySome(field: Field, askings: readonly Asking[]): Outcome {
  let outcome: Outcome;
  for (const [number, value] of VALUES.entries()) {
    if (!outcome && number === PROBES) break;
    const next = tryUntilRead(field.places, { value, number }, askings);
    outcome = next ? [...(outcome ?? []), ...next] : outcome;
  }
  return outcome;
}

/** How many places of a field are tried until one makes a difference. */
const TRIES = 4;

/** Values take turns over the places and the ways of asking. */
function tryUntilRead(
  places: readonly Place[],
  { value, number }: { readonly value: Value; readonly number: number },
  askings: readonly Asking[],
): Outcome {
  const tries = Math.max(askings.length, Math.min(TRIES, places.length));
  for (let at = number; at < number + tries; at++) {
    const place = places[at % places.length];
    const asking = askings[at % askings.length];
    const outcome = place && asking && tryOne({ place, value, asking });
    if (outcome) return outcome;
  }
  return undefined;
}

function tryAll({ places }: Field, askings: readonly Asking[]): Outcome {
  const outcomes = askings.flatMap((asking) =>
    places.flatMap((place) =>
      VALUES.flatMap((value) => {
        const outcome = tryOne({ place, value, asking });
        return outcome ? [outcome] : [];
      }),
    ),
  );
  return outcomes.length === 0 ? undefined : outcomes.flat();
}

interface Change {
  readonly place: Place;
  readonly value: Value;
  readonly asking: Asking;
}

function tryOne({ place, value, asking }: Change): Outcome {
  const lines = change(place, value);
  if (!lines) return undefined;
  try {
    const answer = readAnswer(asking, lines);
    if (isSame(answer, unchanged(place.stream, asking))) return undefined;
    checkAnswer(answer, asking);
    return [];
  } catch (thrown) {
    const { message, stack = "" } = thrown as Error;
    const put = value === REMOVED ? "taken away" : `as ${JSON.stringify(value)}`;
    const where = `${place.stream.name}:${place.line + 1}, ${place.path.join(".")} ${put}`;
    const [, at = "no file"] = /\/(src\/[^)\s]+)/.exec(stack) ?? [];
    return [`${where}, ${asking.name}: ${message} (${at})`];
  }
}

const known = new WeakMap<Asking, WeakMap<Stream, Answer>>();

function unchanged(stream: Stream, asking: Asking): Answer {
  const read = known.get(asking) ?? new WeakMap<Stream, Answer>();
  known.set(asking, read);
  const answer = read.get(stream) ?? readAnswer(asking, stream.lines);
  read.set(stream, answer);
  return answer;
}

function isSame(one: Answer, other: Answer): boolean {
  if (one.failure?.message !== other.failure?.message) return false;
  if (one.texts.length !== other.texts.length) return false;
  return one.texts.every((text, at) => text === other.texts[at]);
}
