/**
 * A prompt template: a text with holes, `{{name}}`, and its fields. Pure.
 *
 * The file has an optional head between two lines of `---` (description, model, variables with their defaults) and
 * the text below it. A value that is put into a hole is not read again: one that contains `{{…}}` stays as it is.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";

export interface Template {
  readonly name: string;
  readonly description: string;
  /** The model that it asks; only used if the file is the user's own, or trusted. */
  readonly model: string | undefined;
  /**
   * Every hole except `input`, in the order of the text; undefined if it has no default and must be given.
   */
  readonly variables: ReadonlyMap<string, string | undefined>;
  readonly text: string;
}

export type ParsedTemplate = Template | { readonly problem: string };

export const TEMPLATE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** The hole for the words after the template's name. */
export const INPUT = "input";

const HOLE = /\{\{\s*([A-Za-z_][A-Za-z0-9_-]{0,63})\s*\}\}/g;

const FIELDS = ["description", "model", "variables"];

/**
 * A problem is worded to follow the file's name. The YAML parser is loaded only if there is a head.
 */
export async function parseTemplate(name: string, text: string): Promise<ParsedTemplate> {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const isFence = (line: string): boolean => line.trimEnd() === "---";
  const hasHead = isFence(lines[0] ?? "");
  const end = hasHead ? lines.findIndex((line, at) => at > 0 && isFence(line)) : -1;
  if (hasHead && end < 0) return { problem: "has no second line of `---`" };
  const head = hasHead ? await parseHead(lines.slice(1, end).join("\n")) : {};
  if (typeof head === "string") return { problem: head };
  const body = lines
    .slice(end + 1)
    .join("\n")
    .trim();
  if (body === "") return { problem: "has no text" };
  return toTemplate(name, head, body);
}

function toTemplate(name: string, head: JsonObject, text: string): ParsedTemplate {
  const unknown = Object.keys(head).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) {
    return { problem: `has the field \`${clip(unknown, 60)}\`. There are: ${FIELDS.join(", ")}` };
  }
  const { description = "", model, variables = {} } = head;
  if (typeof description !== "string") return { problem: "has a `description` that is not text" };
  if (model !== undefined && (typeof model !== "string" || model.trim() === "")) {
    return { problem: "has a `model` that is not text" };
  }
  if (!isJsonObject(variables ?? {})) {
    return { problem: "has `variables` that are not `name: default` lines" };
  }
  const given = Object.entries(isJsonObject(variables) ? variables : {});
  const wrong = given.find(
    ([key, value]) => key === INPUT || (value !== null && typeof value === "object"),
  );
  if (wrong) return { problem: `has a variable \`${clip(wrong[0], 60)}\` that cannot be one` };
  const defaults = new Map(
    given.map(([key, value]) => [key, value === null ? undefined : String(value)]),
  );
  const names = new Set([...holesOf(text).filter((hole) => hole !== INPUT), ...defaults.keys()]);
  return {
    name,
    description: description.replace(/\s+/g, " ").trim(),
    model: model?.trim(),
    variables: new Map([...names].map((key) => [key, defaults.get(key)])),
    text,
  };
}

async function parseHead(front: string): Promise<JsonObject | string> {
  const { parseDocument } = await import("yaml");
  try {
    const document = parseDocument(front, { prettyErrors: false });
    const [first] = document.errors;
    if (first) return `has a head that cannot be read: ${clip(first.message, 120)}`;
    // Bounded, because aliases of aliases can stand for more than fits in memory.
    const fields: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
    return isJsonObject(fields) ? fields : "has a head without `name: value` lines";
  } catch (thrown) {
    return `has a head that cannot be read: ${clip(String(thrown), 120)}`;
  }
}

function holesOf(text: string): string[] {
  return [...text.matchAll(HOLE)].map(([, name = ""]) => name);
}

/** Values of `--var name=value`. */
export function parseVariables(given: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    given.map((text): [string, string] => {
      const at = text.indexOf("=");
      if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1)];
      throw invalid(`\`--var ${clip(text, 60)}\` has no value. Write --var NAME=VALUE.`);
    }),
  );
}

/** Rejects a variable that the template does not have, and a missing one. */
export function fillTemplate(
  { name, variables, text }: Template,
  given: ReadonlyMap<string, string>,
  input: string,
): string {
  const names = [...variables.keys()];
  const known = names.length === 0 ? "It has none." : `It has: ${names.join(", ")}.`;
  for (const key of given.keys()) {
    if (variables.has(key)) continue;
    throw invalid(`The template \`${name}\` has no variable \`${clip(key, 60)}\`. ${known}`);
  }
  const missing = names.filter((key) => (given.get(key) ?? variables.get(key)) === undefined);
  if (missing.length > 0) {
    const flags = missing.map((key) => `--var ${key}=…`).join(" ");
    throw invalid(`The template \`${name}\` needs ${missing.join(", ")}. Give ${flags}. ${known}`);
  }
  const toValue = (key: string): string =>
    key === INPUT ? input : (given.get(key) ?? variables.get(key) ?? "");
  const filled = text.replace(HOLE, (_, key: string) => toValue(key));
  const isPlaced = holesOf(text).includes(INPUT);
  return isPlaced || input === "" ? filled : `${filled}\n\n${input}`;
}

/** True if the text has a place for the input: without any input the place would stay empty. */
export function needsInput({ text }: Template): boolean {
  return holesOf(text).includes(INPUT);
}

/** The text of a new template. */
export function toNewTemplate(name: string): string {
  return `---
description: What \`offshoot run -t ${name}\` is for, in one line.
# model: openai/gpt-5.1
variables:
  language: English
---
Look at {{input}} and say what you find, in {{language}}.
`;
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message);
}
