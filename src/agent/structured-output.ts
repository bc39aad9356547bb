/**
 * Structured outputs: checks whether the answer is the document that was asked for.
 *
 * The schema is compiled once, before anything is sent: an invalid schema fails there.
 */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../base/json.ts";
import { clip } from "../base/text.ts";
import type { OutputFormat } from "../providers/provider.ts";

/** How many times a model may correct its answer before the run fails. */
export const MAX_REPAIRS = 2;

export type CheckOutput = (text: string) => Promise<Checked>;

export type Checked =
  | { readonly ok: true; readonly value: Json | undefined }
  | { readonly ok: false; readonly problem: string };

/** `owner` is the tenant of the schema: the schemas of several owners are worked on in turn. */
export async function createOutputCheck(format: OutputFormat, owner = ""): Promise<CheckOutput> {
  if (format.type === "text") return async () => ({ ok: true, value: undefined });
  if (format.type === "json_object") return async (text) => checkObject(text);
  const { createSchemaCheck } = await import("./schema-check.ts");
  const check = await createSchemaCheck(format.schema as JsonObject, owner);
  return async (text) => {
    const value = parseAnswer(text);
    if (value === undefined) return notJson(text);
    const problem = await check(value);
    return problem === undefined ? { ok: true, value } : { ok: false, problem };
  };
}

/** The message that tells the model that its answer does not fit. */
export function toRepairRequest(problem: string): string {
  return `Your answer does not fit: ${problem} Answer again with the JSON document alone.`;
}

function checkObject(text: string): Checked {
  const value = parseAnswer(text);
  if (value === undefined) return notJson(text);
  return isJsonObject(value) ? { ok: true, value } : { ok: false, problem: "It is not an object." };
}

/** Models often put a document into a code fence, even when told not to. */
function parseAnswer(text: string): Json | undefined {
  const fenced = /^```(?:json)?[^\S\n]*\n([\s\S]*)```$/.exec(text.trim())?.[1];
  return tryParseJson(fenced ?? text);
}

function notJson(text: string): Checked {
  return { ok: false, problem: `It is not JSON: "${clip(text, 80)}".` };
}
