/**
 * Structured outputs: is the answer the document that was asked for?
 *
 * The schema is compiled once, before anything is sent: one that is no schema fails there.
 */

import { Failure } from "../base/failure.ts";
import { isJsonObject, type Json, tryParseJson } from "../base/json.ts";
import { runWithin } from "../base/run-within.ts";
import { clip } from "../base/text.ts";
import type { OutputFormat } from "../providers/provider.ts";

/** A schema is a stranger's, and may be a trap: patterns, references and sheer size take any time. */
const COMPILE_MS = 1000;
const CHECK_MS = 500;
const ABOUT = { what: "The output schema", param: "text.format" };

/** How often a model is told what was wrong before the run fails. */
export const MAX_REPAIRS = 2;

export type CheckOutput = (text: string) => Checked;

export type Checked =
  | { readonly ok: true; readonly value: Json | undefined }
  | { readonly ok: false; readonly problem: string };

export async function createOutputCheck(format: OutputFormat): Promise<CheckOutput> {
  if (format.type === "text") return () => ({ ok: true, value: undefined });
  if (format.type === "json_object") return checkObject;
  const validate = await compileSchema(format.schema);
  return (text) => {
    const value = parseAnswer(text);
    if (value === undefined) return notJson(text);
    const problem = runWithin({ ...ABOUT, limitMs: CHECK_MS }, () => validate(value));
    return problem === undefined ? { ok: true, value } : { ok: false, problem };
  };
}

/** What the model is told when its answer does not fit. */
export function toRepairRequest(problem: string): string {
  return `Your answer does not fit: ${problem} Answer again with the JSON document alone.`;
}

function checkObject(text: string): Checked {
  const value = parseAnswer(text);
  if (value === undefined) return notJson(text);
  return isJsonObject(value) ? { ok: true, value } : { ok: false, problem: "It is not an object." };
}

/** Models like to put a document into a code fence, also when told not to. */
function parseAnswer(text: string): Json | undefined {
  const fenced = /^```(?:json)?[^\S\n]*\n([\s\S]*)```$/.exec(text.trim())?.[1];
  return tryParseJson(fenced ?? text);
}

function notJson(text: string): Checked {
  return { ok: false, problem: `It is not JSON: "${clip(text, 80)}".` };
}

type Validate = (value: Json) => string | undefined;

async function compileSchema(schema: object): Promise<Validate> {
  const { $schema, ...plain } = schema as { readonly $schema?: unknown };
  // Clients name the draft that their schema library writes; each has a validator of its own.
  const { default: Ajv } = /draft-0[4-7]/.test(String($schema))
    ? await import("ajv")
    : await import("ajv/dist/2020.js");
  // Formats are for people's eyes here: an unknown one, or one not checked, fails nobody.
  const ajv = new Ajv.default({ strict: false, allErrors: true, validateFormats: false });
  try {
    const validate = runWithin({ ...ABOUT, limitMs: COMPILE_MS }, () => ajv.compile(plain));
    return (value) => (validate(value) ? undefined : `${ajv.errorsText(validate.errors)}.`);
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The output schema is no JSON schema: ${clip(reason, 200)}.`;
    throw new Failure("invalid_request", message, { cause, param: "schema" });
  }
}
