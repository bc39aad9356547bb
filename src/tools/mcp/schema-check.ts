/**
 * A stranger's JSON schema, as a check of what the model wrote. Patterns are left to the server: a
 * regular expression from outside can hold this process for hours.
 */

import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { runWithin } from "../../base/run-within.ts";
import { clip } from "../../base/text.ts";

/** References may lead a thousand ways to one place, and a schema may be of any size. */
const LIMIT = { limitMs: 1000, what: "The schema of a tool" };

/** Undefined when the value fits, else what is wrong with it. */
export type Check = (value: Json) => string | undefined;

/** Throws for a schema that is none. The same object is compiled once. */
export type Compile = (schema: JsonObject) => Check;

export async function createCompile(): Promise<Compile> {
  const [{ default: Draft7 }, { default: Draft2020 }] = await Promise.all([
    import("ajv"),
    import("ajv/dist/2020.js"),
  ]);
  const options = {
    strict: false,
    allErrors: true,
    validateFormats: false,
    // Two tools may give their schemas the same `$id`.
    addUsedSchema: false,
    logger: false,
  } as const;
  // The meta-schema of 2020 takes 150 ms to compile, that of draft 7 a tenth of it. Where the drafts
  // differ the older one looks away, and what is no schema in both is none for a vendor either.
  const old = new Draft7.default(options);
  const current = new Draft2020.default({ ...options, validateSchema: false });
  const known = new WeakMap<JsonObject, Check>();
  return (schema) => {
    const check = known.get(schema) ?? runWithin(LIMIT, () => compile(schema));
    known.set(schema, check);
    return check;
  };

  function compile(schema: JsonObject): Check {
    const isOld = /draft-0[67]/.test(String(schema["$schema"] ?? ""));
    const ajv = isOld ? old : current;
    const { $schema: _, ...plain } = withoutPatterns(schema) as JsonObject;
    if (!old.validateSchema(plain)) throw new Error(old.errorsText(old.errors, { dataVar: "it" }));
    const validate = ajv.compile(plain);
    ajv.removeSchema(plain);
    return (value) => {
      if (runWithin(LIMIT, () => validate(value))) return undefined;
      return clip(ajv.errorsText(validate.errors, { dataVar: "arguments" }), 500);
    };
  }
}

/** Keywords whose values hold schemas by names of any kind. */
const NAMED = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose values are data. */
const DATA = new Set(["const", "enum", "default", "examples"]);

function withoutPatterns(schema: Json | undefined): Json | undefined {
  if (Array.isArray(schema)) return schema.map((one: Json) => withoutPatterns(one) ?? null);
  if (!isJsonObject(schema)) return schema;
  // What the patterns do not take falls to these two, which cannot be told without them.
  const loose = schema["patternProperties"] !== undefined;
  const skipped = loose
    ? ["pattern", "patternProperties", "additionalProperties", "unevaluatedProperties"]
    : ["pattern"];
  const entries = Object.entries(schema).flatMap(([keyword, value]) => {
    if (skipped.includes(keyword)) return [];
    if (DATA.has(keyword)) return [[keyword, value] as const];
    if (!NAMED.has(keyword) || !isJsonObject(value))
      return [[keyword, withoutPatterns(value)] as const];
    const inner = Object.entries(value).map(([name, one]) => [name, withoutPatterns(one)] as const);
    return [[keyword, Object.fromEntries(inner)] as const];
  });
  return Object.fromEntries(entries);
}
