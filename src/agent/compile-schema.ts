/** A JSON schema as a check. What a stranger's schema takes is bounded in time; see `runWithin`. */

import type { Ajv } from "ajv";
import { Failure } from "../base/failure.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { runWithin } from "../base/run-within.ts";
import { clip } from "../base/text.ts";

/** Patterns, references and sheer size take any time. */
const COMPILE_MS = 1000;
const CHECK_MS = 500;
export const ABOUT = { what: "The output schema", param: "text.format" };

/** Undefined when the value fits, else what is wrong with it. */
export type Validate = (value: Json) => string | undefined;

export async function compileSchema(schema: JsonObject): Promise<Validate> {
  const { $schema, ...plain } = schema;
  // Clients name the draft that their schema library writes; each has a validator of its own.
  const { default: Ajv } = /draft-0[4-7]/.test(String($schema))
    ? await import("ajv")
    : await import("ajv/dist/2020.js");
  // Formats are for people's eyes here: an unknown one, or one not checked, fails nobody.
  const ajv: Ajv = new Ajv.default({ strict: false, allErrors: true, validateFormats: false });
  try {
    const validate = runWithin({ ...ABOUT, limitMs: COMPILE_MS }, () => ajv.compile(plain));
    return (value) => {
      const isFit = runWithin({ ...ABOUT, limitMs: CHECK_MS }, () => validate(value));
      return isFit ? undefined : `${ajv.errorsText(validate.errors)}.`;
    };
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The output schema is no JSON schema: ${clip(reason, 200)}.`;
    throw new Failure("invalid_request", message, { cause, param: "schema" });
  }
}
