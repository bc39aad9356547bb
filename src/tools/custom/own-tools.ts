/**
 * The setting `own_tools`: the user's programs that become tools, by name.
 *
 * Checked when the configuration is read, so that a mistake is reported before anything is sent. JSON
 * schemas are checked when the tools are opened, because only then the validator is loaded.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";

export interface OwnTool {
  readonly name: string;
  /** The words that start the program. No shell interprets them. */
  readonly command: readonly [string, ...string[]];
  readonly description: string;
  /** A JSON schema of an object. */
  readonly parameters: JsonObject;
  readonly readOnly: boolean;
  readonly timeoutMs: number;
  /** Variables that the program gets in addition to those that every command gets. */
  readonly env: readonly string[];
}

const DEFAULT_TIMEOUT_SECONDS = 60;
const MAX_TIMEOUT_SECONDS = 3600;

/** The check of each field, and its rule in words that follow "must be". */
const FIELDS: Readonly<Record<string, { is(value: Json): boolean; readonly what: string }>> = {
  command: {
    is: (value) => isTexts(value) && value.length > 0 && value[0] !== "",
    what: "a list of words, the program first: [./scripts/x, word]",
  },
  description: { is: (value) => typeof value === "string", what: "a text" },
  parameters: {
    is: (value) => isJsonObject(value) && isObjectSchema(value),
    what: "a JSON schema of type object: { type: object, properties: { … } }",
  },
  read_only: { is: (value) => typeof value === "boolean", what: "`true` or `false`" },
  timeout: {
    is: (value) => typeof value === "number" && value >= 1 && value <= MAX_TIMEOUT_SECONDS,
    what: `a number of seconds from 1 to ${MAX_TIMEOUT_SECONDS}`,
  },
  env: {
    is: (value) => isTexts(value) && value.every((name) => /^[A-Za-z_]\w*$/.test(name)),
    what: "a list of names of environment variables",
  },
};

/** Arguments by name alone (`{ city: string }`) are a valid schema, too, and one that describes nothing. */
function isObjectSchema(schema: JsonObject): boolean {
  if ((schema["type"] ?? "object") !== "object") return false;
  const words = Object.keys(schema);
  return words.length === 0 || words.some((word) => SCHEMA_WORDS.has(word));
}

const SCHEMA_WORDS: ReadonlySet<string> = new Set([
  ...["type", "properties", "patternProperties", "additionalProperties", "required"],
  ...["$ref", "$defs", "$schema", "allOf", "anyOf", "oneOf", "title", "description"],
]);

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Returns the map if every row of it is valid. */
export function checkOwnTools(map: JsonObject, where: string): JsonObject {
  for (const [name, row] of Object.entries(map))
    checkRow(`${where}: \`${clip(name, 70)}\``, name, row);
  return map;
}

/** The tools of a map that `checkOwnTools` has accepted. */
export function toOwnTools(map: JsonObject): OwnTool[] {
  return Object.entries(map).map(([name, row]) => toOwnTool(name, row as unknown as Row));
}

interface Row {
  readonly command: readonly [string, ...string[]];
  readonly description?: string;
  readonly parameters?: JsonObject;
  readonly read_only?: boolean;
  readonly timeout?: number;
  readonly env?: readonly string[];
}

function toOwnTool(name: string, row: Row): OwnTool {
  const { command, description, parameters, read_only, timeout, env } = row;
  return {
    name,
    command,
    description: description ?? `Runs \`${clip(command.join(" "), 100)}\`.`,
    parameters: {
      type: "object",
      ...(parameters ?? { properties: {}, additionalProperties: false }),
    },
    readOnly: read_only ?? false,
    timeoutMs: (timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    env: env ?? [],
  };
}

function checkRow(at: string, name: string, row: Json | undefined): void {
  if (!NAME.test(name)) {
    throw invalid(
      `${at} is not a valid tool name: use a letter, then up to 63 letters, digits, _ or -.`,
    );
  }
  // Names of this form belong to the tools of MCP servers.
  if (name.startsWith("mcp__")) throw invalid(`${at} must not begin with \`mcp__\`.`);
  const fields = isJsonObject(row) ? Object.entries(row) : [];
  // First, because a misspelled `command` is also a missing one.
  for (const [field, value] of fields) checkField(at, field, value);
  if (!isJsonObject(row) || row["command"] === undefined) {
    throw invalid(
      `${at} must be a map with \`command\`, and some of: ${Object.keys(FIELDS).slice(1).join(", ")}.`,
    );
  }
}

function checkField(at: string, name: string, value: Json | undefined): void {
  const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  if (!field) {
    const known = Object.keys(FIELDS);
    const guess = nearest(name, known);
    const hint = guess === undefined ? `Known: ${known.join(", ")}.` : `Did you mean \`${guess}\`?`;
    throw invalid(`${at} does not know \`${clip(name, 60)}\`. ${hint}`);
  }
  if (value === undefined || field.is(value)) return;
  throw invalid(`${at}: \`${name}\` must be ${field.what}.`);
}

function isTexts(value: Json): value is readonly string[] {
  return (
    Array.isArray(value) && value.every((one) => typeof one === "string" && !one.includes("\0"))
  );
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message, { param: "own_tools" });
}
