/**
 * Makes shapes from the protocol's own schemas, for data that a Responses server sends and that is passed
 * on unchanged. Later readers rely on the schema of its kind, so a wrong value is corrected here: an
 * optional field of a wrong type is left out, and a missing required one is empty. For an unknown kind only
 * the type is checked.
 */

import { z } from "zod";
import { isJsonObject } from "../../base/json.ts";
import { choiceOf, type SchemaChoice } from "../../protocol/open.ts";
import { anything, flag, list, loose, number, object, type Shape, text, toPath } from "../shape.ts";

const known = new WeakMap<z.core.$ZodType, Shape<unknown>>();

export function shapeOf<Type>(schema: z.core.$ZodType<Type>): Shape<Type> {
  const shape = known.get(schema) ?? makeShape(schema);
  known.set(schema, shape);
  return shape as Shape<Type>;
}

function makeShape(schema: z.core.$ZodType): Shape<unknown> {
  const choice = choiceOf(schema);
  if (choice) return toChosen(choice);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return loose(shapeOf(schema.unwrap()));
  }
  if (schema instanceof z.ZodObject) return toFields(schema);
  if (schema instanceof z.ZodArray) return list(shapeOf(schema.element));
  if (schema instanceof z.ZodRecord) return toRecord(shapeOf(schema.valueType));
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum) return text;
  if (schema instanceof z.ZodNumber) return number;
  return schema instanceof z.ZodBoolean ? flag : anything;
}

/** Data that is distinguished by its type must have one. */
function toChosen({ pick, knownTypes }: SchemaChoice): Shape<unknown> {
  return {
    check(value) {
      const type = isJsonObject(value) ? value["type"] : undefined;
      if (knownTypes && typeof type !== "string") return "has no type";
      return shapeOf(pick(value)).check(value);
    },
  };
}

const ANY_OBJECT = object({});

function toRecord(of: Shape<unknown>): Shape<unknown> {
  return {
    check(value) {
      const problem = ANY_OBJECT.check(value);
      return problem ?? list(of).check(Object.values(value as object));
    },
  };
}

interface Row {
  readonly name: string;
  readonly schema: z.core.$ZodType;
  readonly shape: Shape<unknown>;
  readonly mayBeMissing: boolean;
  readonly mayBeNull: boolean;
}

function toFields(schema: z.ZodObject): Shape<unknown> {
  // Created when first needed, because a schema may contain itself.
  let rows: readonly Row[] | undefined;
  return {
    check(value) {
      const isOther = ANY_OBJECT.check(value);
      if (isOther !== undefined) return isOther;
      rows ??= Object.entries(schema.shape).map(toRow);
      for (const row of rows) {
        const problem = repair(value as Record<string, unknown>, row);
        if (problem !== undefined) return toPath(`.${row.name}`, problem);
      }
      return undefined;
    },
  };
}

function toRow([name, schema]: [string, z.core.$ZodType]): Row {
  return {
    name,
    schema,
    shape: shapeOf(schema),
    // Checked inside an object: a value of any type may still be required there.
    mayBeMissing: z.safeParse(z.object({ [name]: schema }), {}).success,
    mayBeNull: z.safeParse(schema, null).success,
  };
}

/** Corrects a field, or returns the problem if it cannot. */
function repair(holder: Record<string, unknown>, row: Row): string | undefined {
  const { name, schema, shape, mayBeMissing, mayBeNull } = row;
  const found = holder[name];
  if (found === undefined || found === null) {
    const isAllowed = found === null ? mayBeNull : mayBeMissing;
    if (!isAllowed) holder[name] = mayBeMissing ? undefined : emptyOf(schema);
    return undefined;
  }
  if (schema instanceof z.ZodLiteral) {
    if (!schema.values.has(found as z.core.util.Literal)) holder[name] = emptyOf(schema);
    return undefined;
  }
  const problem = shape.check(found);
  if (problem === undefined || !shape.isLoose) return problem;
  holder[name] = mayBeMissing ? undefined : null;
  return undefined;
}

/** The smallest valid value; for an object, with all required fields. */
function emptyOf(schema: z.core.$ZodType): unknown {
  const choice = choiceOf(schema);
  if (choice) return emptyOf(choice.pick(undefined));
  if (schema instanceof z.ZodLiteral) return [...schema.values][0];
  if (schema instanceof z.ZodString) return "";
  if (schema instanceof z.ZodArray) return [];
  if (schema instanceof z.ZodNumber) return 0;
  if (schema instanceof z.ZodBoolean) return false;
  const empty = {};
  shapeOf(schema).check(empty);
  return empty;
}
