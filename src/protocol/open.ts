/**
 * How a schema stays open: unknown fields, kinds and words pass unchanged. The types name only what is
 * known, so that `item.type === "function_call"` narrows and a typo does not compile. The price, paid in
 * this file alone: a value may carry a kind or a word its type does not list, so code that switches over
 * one needs a branch for the rest.
 */

import { z } from "zod";
import type { Json, JsonObject as JsonObjectType } from "../base/json.ts";

/** Any JSON. Checks nothing: what is parsed here was read from JSON. */
export const JsonValue = z.unknown() as unknown as z.ZodType<Json>;

/** Any JSON object. */
export const JsonObject = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObjectType>;

/** An object that keeps the fields it does not know. */
export function open<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape> {
  return z.looseObject(shape) as unknown as z.ZodObject<Shape>;
}

/** A word from a list that may grow: any text passes. */
export function openEnum<const Words extends readonly string[]>(
  _words: Words,
): z.ZodType<Words[number]> {
  return z.string() as unknown as z.ZodType<Words[number]>;
}

/** The schema of one kind of object in an open union; a kind may have several names. */
export type TypedSchema = z.ZodObject<{ type: z.ZodLiteral<string> }>;

/** Objects told apart by `type`. A known kind is checked; an unknown one needs only its `type`. */
export function openUnion<const Kinds extends readonly TypedSchema[]>(
  kinds: Kinds,
): z.ZodType<z.infer<Kinds[number]>> {
  const known = new Map(
    kinds.flatMap((kind) => [...kind.shape.type.values].map((name) => [name, kind])),
  );
  const unknown = open({ type: z.string() });
  const pick = (value: unknown): z.ZodType => known.get(typeOf(value) ?? "") ?? unknown;
  return choose(pick, { among: kinds, knownTypes: [...known.keys()] });
}

/** Every `type` of the kinds, in their order. */
export function typesOf(kinds: readonly TypedSchema[]): string[] {
  return kinds.flatMap((kind) => [...kind.shape.type.values]);
}

/** Text, or a value of `schema`: the two forms in which the API lets most content be written. */
export function textOr<Out>(schema: z.ZodType<Out>): z.ZodType<string | Out> {
  const text = z.string();
  const pick = (value: unknown): z.ZodType =>
    typeof value === "object" && value !== null ? schema : text;
  return choose(pick, { among: [text, schema] });
}

/**
 * A schema that is chosen by looking at the value. Unlike a union it complains about the one alternative
 * that was meant, and it returns the value as it came, keys in their order. `choice` lists what `pick`
 * picks from, for descriptions of the schema.
 */
export function choose<Out>(
  pick: SchemaChoice["pick"],
  choice: Omit<SchemaChoice, "pick">,
): z.ZodType<Out> {
  const schema = z.unknown().check((context) => {
    const checked = pick(context.value).safeParse(context.value);
    for (const issue of checked.error?.issues ?? []) {
      context.issues.push({ ...issue, input: undefined });
    }
  });
  choices.set(schema, { ...choice, pick });
  return schema as unknown as z.ZodType<Out>;
}

export interface SchemaChoice {
  /** The schema that a value is checked with. */
  readonly pick: (value: unknown) => z.ZodType;
  readonly among: readonly z.ZodType[];
  /** If this is given, objects of any other `type` pass, too. */
  readonly knownTypes?: readonly string[] | undefined;
}

const choices = new WeakMap<z.core.$ZodType, SchemaChoice>();

/** The alternatives of a schema made by `choose`; undefined for any other schema. */
export function choiceOf(schema: z.core.$ZodType): SchemaChoice | undefined {
  return choices.get(schema);
}

function typeOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("type" in value)) return undefined;
  return typeof value.type === "string" ? value.type : undefined;
}
