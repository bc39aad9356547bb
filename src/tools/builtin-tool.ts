/**
 * Declares the arguments of built-in tools: fields that are both the JSON schema for the model and the
 * check of its arguments.
 *
 * In place of zod, which `defineTool` uses: every run sends these schemas, and loading zod for them costs a
 * third of the time to the first request (bench/start.ts).
 */

import { Failure } from "../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../base/json.ts";
import { clip } from "../base/text.ts";
import type { Effect, Targets, Tool, ToolContext, ToolOutput } from "./tool.ts";

/** One argument. `check` returns the value, or the problem with it. */
interface Field<Value> {
  readonly schema: JsonObject;
  /** The default of a missing value; undefined makes the argument required. */
  readonly otherwise: { readonly value: Value } | undefined;
  check(value: Json): { readonly value: Value } | { readonly problem: string };
}

type Fields = Readonly<Record<string, Field<unknown>>>;

type Input<Shape extends Fields> = {
  readonly [Name in keyof Shape]: Shape[Name] extends Field<infer Value> ? Value : never;
};

interface Definition<Shape extends Fields> {
  readonly name: string;
  readonly description: string;
  readonly parameters: Shape;
  readonly readOnly: boolean;
  readonly effect: Effect;
  effectOf?(input: Input<Shape>): Effect;
  readonly timeoutMs?: number;
  targets?(input: Input<Shape>): Targets;
  run(input: Input<Shape>, context: ToolContext): Promise<Json | ToolOutput>;
}

export function defineBuiltin<Shape extends Fields>(definition: Definition<Shape>): Tool {
  const { name, description, parameters: fields, readOnly, effect, timeoutMs } = definition;
  return {
    spec: { type: "function", name, description, parameters: toSchema(fields), strict: false },
    readOnly,
    effect,
    effectOf: (input) => definition.effectOf?.(input as Input<Shape>) ?? effect,
    timeoutMs,
    parse: (input) => parseInput(name, fields, input),
    targets: (input) => definition.targets?.(input as Input<Shape>) ?? {},
    run: (input, context) => definition.run(input as Input<Shape>, context),
  };
}

interface TextOptions {
  readonly minLength?: number;
  readonly default?: string;
}

export function text(description: string, options: TextOptions = {}): Field<string> {
  const { minLength = 0, default: standard } = options;
  return {
    schema: { type: "string", ...options, description },
    otherwise: standard === undefined ? undefined : { value: standard },
    check(value) {
      if (typeof value !== "string") return { problem: "must be a text" };
      return value.length < minLength ? { problem: "must not be empty" } : { value };
    },
  };
}

interface IntegerOptions {
  readonly minimum: number;
  readonly maximum?: number;
  readonly default: number;
}

export function integer(description: string, options: IntegerOptions): Field<number> {
  const { minimum, maximum = Number.MAX_SAFE_INTEGER } = options;
  const range = options.maximum === undefined ? `${minimum} or more` : `${minimum} to ${maximum}`;
  return {
    schema: { type: "integer", ...options, description },
    otherwise: { value: options.default },
    check(value) {
      if (typeof value !== "number" || !Number.isInteger(value)) {
        return { problem: "must be a whole number" };
      }
      return value < minimum || value > maximum ? { problem: `must be ${range}` } : { value };
    },
  };
}

/** A list of texts, such as the words of a command. If missing, it is undefined. */
export function texts(description: string): Field<readonly string[] | undefined> {
  return {
    schema: { type: "array", items: { type: "string" }, description },
    otherwise: { value: undefined },
    check(value) {
      const isFit = Array.isArray(value) && value.every((one) => typeof one === "string");
      return isFit ? { value } : { problem: "must be a list of texts" };
    },
  };
}

/** A text that may be left out and has no default. */
export function optionalText(description: string): Field<string | undefined> {
  return {
    schema: { type: "string", description },
    otherwise: { value: undefined },
    check: (value) => (typeof value === "string" ? { value } : { problem: "must be a text" }),
  };
}

export function flag(description: string): Field<boolean> {
  return {
    schema: { type: "boolean", default: false, description },
    otherwise: { value: false },
    check: (value) =>
      typeof value === "boolean" ? { value } : { problem: "must be true or false" },
  };
}

export function oneOf<const Word extends string>(
  description: string,
  words: readonly [Word, ...Word[]],
): Field<Word> {
  return {
    schema: { type: "string", enum: words, default: words[0], description },
    otherwise: { value: words[0] },
    check(value) {
      const word = words.find((known) => known === value);
      const known = words.map((one) => JSON.stringify(one)).join(", ");
      return word === undefined ? { problem: `must be one of ${known}` } : { value: word };
    },
  };
}

function toSchema(fields: Fields): JsonObject {
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => !field.otherwise).map(([name]) => name);
  const properties = Object.fromEntries(entries.map(([name, { schema }]) => [name, schema]));
  return { type: "object", required, properties, additionalProperties: false };
}

/** Checks all arguments and names every problem at once, so that the model can fix them together. */
function parseInput(tool: string, fields: Fields, input: Json): JsonObject {
  if (!isJsonObject(input)) throw unfit(tool, ["the arguments must be an object"]);
  const problems = Object.keys(input)
    .filter((name) => !Object.hasOwn(fields, name))
    .map((name) => `${clip(name, 40)}: there is no such argument`);
  const values = Object.entries(fields).map(([name, field]) => {
    const given = input[name];
    // Models write null for an argument that they leave out.
    const checked = given === undefined || given === null ? field.otherwise : field.check(given);
    if (!checked) problems.push(`${name}: is missing`);
    else if ("problem" in checked) problems.push(`${name}: ${checked.problem}`);
    return [name, checked && "value" in checked ? checked.value : undefined];
  });
  if (problems.length > 0) throw unfit(tool, problems);
  return Object.fromEntries(values);
}

function unfit(tool: string, problems: readonly string[]): Failure {
  const message = `The arguments of \`${tool}\` do not fit: ${problems.join("; ")}.`;
  return new Failure("invalid_request", message);
}
