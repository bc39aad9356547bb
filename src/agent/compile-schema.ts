/**
 * Compiles a JSON Schema into a check. The time that a schema of unknown origin may take is
 * limited; see `runWithin`.
 */

import type { Ajv } from "ajv";
import { Failure } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { runWithin, type WorkLimit } from "../base/run-within.ts";
import { clip } from "../base/text.ts";

/** Patterns, references and sheer size can take any amount of time. */
const COMPILE_MS = 1000;
const CHECK_MS = 500;
export const ABOUT = { what: "The output schema", param: "text.format" };

/** The validator reports a wrong `type` by three rules of the schema of schemas. */
const WRONG_TYPE =
  /(\S*\btype) must be equal to one of the allowed values, \1 must be array, \1 must match a schema in anyOf/g;
const TYPES = "string, number, integer, boolean, object, array or null, or a list of these";

/** Returns undefined when the value fits, otherwise what is wrong with it. */
export type Validate = (value: Json) => string | undefined;

export async function compileSchema(
  schema: JsonObject,
  limit: WorkLimit = { ...ABOUT, limitMs: COMPILE_MS },
): Promise<Validate> {
  const { $schema, ...plain } = schema;
  // Clients name the draft that their schema library writes; each draft has a validator of its own.
  const { default: Ajv } = /draft-0[4-7]/.test(String($schema))
    ? await import("ajv")
    : await import("ajv/dist/2020.js");
  // Formats are for people's eyes here: an unknown one, or one not checked, fails no answer.
  const options = { strict: false, allErrors: true, validateFormats: false };
  try {
    // A validator for each try: one that was stopped in the middle of a schema cannot compile another.
    const { ajv, validate } = runWithin(limit, () => {
      const made: Ajv = new Ajv.default(options);
      return { ajv: made, validate: made.compile(plain) };
    });
    return (value) => {
      const isFit = runWithin({ ...ABOUT, limitMs: CHECK_MS }, () => validate(value));
      return isFit ? undefined : `${ajv.errorsText(validate.errors)}.`;
    };
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const said = cause instanceof Error ? cause.message : String(cause);
    // The validator names the whole schema `data`.
    const reason = said
      .replace(/^schema is invalid: /, "")
      .replace(/\bdata\//g, "")
      .replace(WRONG_TYPE, `\`$1\` must be ${TYPES}`);
    const message = `The output schema is not a valid JSON Schema: ${clip(reason, 200)}.`;
    throw new Failure("invalid_request", message, { cause, param: "schema" });
  }
}
