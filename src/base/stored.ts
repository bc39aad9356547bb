/**
 * Values of our own types that are stored as JSON and read back: inputs and steps of runs, bodies of things. Each
 * kind is defined once, beside its type. Reading checks that a value is of that kind, so a record that was damaged
 * or edited fails where it is read, and names what it is. What stands in the fields is taken as this program wrote it.
 */

import { Failure } from "./failure.ts";
import { isJsonObject, type Json } from "./json.ts";

export interface Stored<Value> {
  write(value: Value): Json;
  /** Throws `internal` for a value of another kind. */
  read(stored: Json): Value;
}

/** `fields`: those that every version has written. `what` names the kind in the error: "a container". */
export function storedObject<Value extends object>(
  what: string,
  fields: readonly (keyof Value & string)[],
): Stored<Value> {
  return defineStored(what, (stored) => hasFields(stored, fields));
}

/** A list of objects, each with these fields. */
export function storedList<One extends object>(
  what: string,
  fields: readonly (keyof One & string)[],
): Stored<readonly One[]> {
  const isOne = (stored: Json): boolean => hasFields(stored, fields);
  return defineStored(what, (stored) => Array.isArray(stored) && stored.every(isOne));
}

/** A stored value that may also be null. */
export function storedOrNull<Value>({ write, read }: Stored<Value>): Stored<Value | null> {
  return {
    write: (value) => (value === null ? null : write(value)),
    read: (stored) => (stored === null ? null : read(stored)),
  };
}

/**
 * The one place that takes JSON for a type: interfaces have no index signature, so the compiler cannot compare them.
 */
function defineStored<Value>(what: string, isOne: (stored: Json) => boolean): Stored<Value> {
  return {
    write: (value) => value as unknown as Json,
    read(stored) {
      if (isOne(stored)) return stored as unknown as Value;
      throw new Failure("internal", `The record does not hold ${what} where it should.`);
    },
  };
}

function hasFields(stored: Json, fields: readonly string[]): boolean {
  return isJsonObject(stored) && fields.every((field) => stored[field] !== undefined);
}
