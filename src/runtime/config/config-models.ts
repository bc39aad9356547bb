/**
 * The setting `models`: facts of a model that replace those of the model table.
 *
 * In the file it is snake_case by `vendor/model`; the model table wants rows.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";
import { findOptionsProblem } from "../../protocol/own-options.ts";
import type { Model, Price, RefusedParameter } from "../../providers/models/facts.ts";
import type { ModelOverride } from "../../providers/models/models.ts";

const SIZES = { context_tokens: "contextTokens", max_output_tokens: "maxOutputTokens" } as const;
const ABILITIES = ["reasoning", "vision", "pdf", "tools", "structured"] as const;
const FIELDS = [...Object.keys(SIZES), ...ABILITIES, "price", "refuses", "options", "headers"];
const PRICES = { input: "input", cached: "cached", cache_write: "cacheWrite", output: "output" };

const REFUSALS: readonly RefusedParameter[] = [
  "temperature",
  "top_p",
  "sampling_while_reasoning",
  "reasoning",
  "summary",
  "parallel_tool_calls",
  "stop",
  "frequency_penalty",
  "presence_penalty",
  "top_logprobs",
  "text.verbosity",
  "effort:none",
  "effort:minimal",
  "effort:low",
  "effort:medium",
  "effort:high",
  "effort:xhigh",
  "effort:max",
];

/** Returns the map when every row of it is valid. */
export function checkModels(models: JsonObject, where: string): JsonObject {
  for (const [ref, row] of Object.entries(models))
    checkRow(`${where}: \`${clip(ref, 60)}\``, ref, row);
  return models;
}

/** The rows for `findModel`, from a map that `checkModels` has accepted. */
export function toModelOverrides(models: JsonObject | undefined): ModelOverride[] {
  return Object.entries(models ?? {}).map(([ref, row]) => toOverride(ref, row as JsonObject));
}

function checkRow(where: string, ref: string, row: Json | undefined): void {
  if (!/^[^/\s]+\/\S+$/.test(ref)) throw invalid(`${where} must be written vendor/model.`);
  checkModelRow(where, row);
}

/** Checks what is said of one model. */
export function checkModelRow(where: string, row: Json | undefined): void {
  if (!isJsonObject(row))
    throw invalid(`${where} must be a map with some of: ${FIELDS.join(", ")}.`);
  for (const [field, value] of Object.entries(row)) checkField(where, field, value);
}

function checkField(where: string, field: string, value: Json | undefined): void {
  checkName(where, field, FIELDS);
  const at = `${where}: \`${field}\``;
  if (field === "price") return checkPrice(at, value);
  if (field === "refuses") return checkRefuses(at, value);
  if (field === "options") return checkOptions(at, value);
  if (field === "headers") return checkHeaders(at, value);
  if (field in SIZES) {
    if (Number.isSafeInteger(value) && Number(value) > 0) return;
    throw invalid(`${at} must be a whole number of 1 or more.`);
  }
  if (typeof value !== "boolean") throw invalid(`${at} must be \`true\` or \`false\`.`);
}

/** A price replaces the table's whole price, so that old and new parts never mix. */
function checkPrice(at: string, value: Json | undefined): void {
  if (!isJsonObject(value) || value["input"] === undefined || value["output"] === undefined) {
    throw invalid(`${at} must be a map with input and output, in USD per million tokens.`);
  }
  for (const [part, amount] of Object.entries(value)) {
    checkName(at, part, Object.keys(PRICES));
    if (typeof amount === "number" && amount >= 0 && Number.isFinite(amount)) continue;
    throw invalid(`${at}: \`${part}\` must be a number of 0 or more.`);
  }
}

/** Checks the vendor's own fields for the body of each request. They must not replace fields that Offshoot writes. */
export function checkOptions(at: string, value: Json | undefined): void {
  const problem = findOptionsProblem(value);
  if (problem) throw invalid(`${at} ${problem}.`);
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

export function checkHeaders(at: string, value: Json | undefined): void {
  if (!isJsonObject(value)) throw invalid(`${at} must be a map of header names and texts.`);
  for (const [name, text] of Object.entries(value)) {
    if (!HEADER_NAME.test(name))
      throw invalid(`${at}: \`${clip(name, 60)}\` is not a header name.`);
    if (typeof text !== "string" || !HEADER_VALUE.test(text)) {
      throw invalid(`${at}: \`${name}\` must be text of one line.`);
    }
  }
}

function checkRefuses(at: string, value: Json | undefined): void {
  if (!Array.isArray(value)) throw invalid(`${at} must be a list of: ${REFUSALS.join(", ")}.`);
  for (const word of value) checkName(at, String(word), REFUSALS);
}

/** Rejects an unknown name, with the nearest known one. */
export function checkName(where: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const guess = nearest(name, known);
  const hint = guess === undefined ? `Known: ${known.join(", ")}.` : `Did you mean \`${guess}\`?`;
  throw invalid(`${where} does not know \`${clip(name, 60)}\`. ${hint}`);
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message, { param: "models" });
}

function toOverride(ref: string, row: JsonObject): ModelOverride {
  const slash = ref.indexOf("/");
  const fields = Object.entries(row).map(([field, value]): [string, unknown] => {
    if (field === "price") return [field, toPrice(value as JsonObject)];
    return [field in SIZES ? SIZES[field as keyof typeof SIZES] : field, value];
  });
  const facts: Partial<Model> = Object.fromEntries(fields);
  return { ...facts, vendor: ref.slice(0, slash), name: ref.slice(slash + 1) };
}

function toPrice(price: JsonObject): Price {
  const amounts = Object.entries(PRICES).map(([from, to]) => [to, price[from]]);
  return Object.fromEntries(
    amounts.filter(([to, amount]) => to === "cached" || amount !== undefined),
  );
}
