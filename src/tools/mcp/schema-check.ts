/**
 * Makes a check of arguments from an external JSON schema. Patterns are left to the server: a regular
 * expression from outside can block this process for hours.
 */

import type { Ajv } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { runWithin, type WorkLimit } from "../../base/run-within.ts";
import { clip } from "../../base/text.ts";

/** References may lead to one place in a thousand ways, and a schema may have any size. */
const LIMIT = { limitMs: 1000, what: "The schema of a tool" };

/** Undefined if the value is valid, otherwise the problem. */
export type SchemaCheck = (value: Json) => string | undefined;

/** Throws for an invalid schema. The same object is compiled once. */
export type Compile = (schema: JsonObject) => SchemaCheck;

export async function createCompile(limit: WorkLimit = LIMIT): Promise<Compile> {
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
  // differ the older one looks away, and what is not a schema in both is not one for a vendor either.
  const createCompilers = (): Compilers => ({
    old: new Draft7.default(options),
    current: new Draft2020.default({ ...options, validateSchema: false }),
  });
  /** Undefined while they work: those that are stopped in the middle of a schema can compile no other. */
  let idle: Compilers | undefined;
  const known = new WeakMap<JsonObject, SchemaCheck>();
  return (schema) => {
    const check = known.get(schema) ?? runWithin(limit, () => compile(schema));
    known.set(schema, check);
    return check;
  };

  function compile(schema: JsonObject): SchemaCheck {
    const compilers = idle ?? createCompilers();
    idle = undefined;
    try {
      return compileWith(compilers, schema);
    } finally {
      // Not reached where the work is stopped: no code of it runs any more.
      idle = compilers;
    }
  }
}

interface Compilers {
  readonly old: Ajv;
  readonly current: Ajv2020;
}

function compileWith({ old, current }: Compilers, schema: JsonObject): SchemaCheck {
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

/** Keywords whose values hold schemas by names of any kind. */
const NAMED = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose values are data. */
const DATA = new Set(["const", "enum", "default", "examples"]);

function withoutPatterns(schema: Json | undefined): Json | undefined {
  if (Array.isArray(schema)) return schema.map((one: Json) => withoutPatterns(one) ?? null);
  if (!isJsonObject(schema)) return schema;
  // These two apply to what the patterns do not match, which is not known without the patterns.
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
