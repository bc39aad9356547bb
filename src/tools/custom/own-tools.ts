/**
 * The setting `own_tools`: programs of the user's that become tools, by name.
 *
 * Checked when the configuration is read, so that a mistake is told before anything is sent; what is
 * wrong with a JSON schema is found when the tools are opened, where the validator is loaded.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip, nearest } from "../../base/text.ts";

export interface OwnTool {
  readonly name: string;
  /** The words that start the program; no shell reads them. */
  readonly command: readonly [string, ...string[]];
  readonly description: string;
  /** A JSON schema of an object. */
  readonly parameters: JsonObject;
  readonly readOnly: boolean;
  readonly timeoutMs: number;
  /** Names of variables that the program gets beside those that every command gets. */
  readonly env: readonly string[];
}

const DEFAULT_TIMEOUT_SECONDS = 60;
const MAX_TIMEOUT_SECONDS = 3600;

/** Each field with what must be true of it, to follow "must be". */
const FIELDS: Readonly<Record<string, { is(value: Json): boolean; readonly what: string }>> = {
  command: {
    is: (value) => isTexts(value) && value.length > 0 && value[0] !== "",
    what: "a list of words, the program first: [./scripts/x, word]",
  },
  description: { is: (value) => typeof value === "string", what: "a text" },
  parameters: {
    is: (value) => isJsonObject(value) && (value["type"] ?? "object") === "object",
    what: "a JSON schema of type object",
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

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Gives the map back when every row of it can be used. */
export function checkOwnTools(map: JsonObject, where: string): JsonObject {
  for (const [name, row] of Object.entries(map))
    checkRow(`${where}: \`${clip(name, 70)}\``, name, row);
  return map;
}

/** The tools of a map that `checkOwnTools` has passed. */
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
    throw wrong(`${at} is no name for a tool: a letter, then up to 63 letters, digits, _ or -.`);
  }
  // Names of this form belong to the tools of MCP servers.
  if (name.startsWith("mcp__")) throw wrong(`${at} must not begin with \`mcp__\`.`);
  if (!isJsonObject(row) || row["command"] === undefined) {
    throw wrong(
      `${at} must be a map with \`command\`, and some of: ${Object.keys(FIELDS).slice(1).join(", ")}.`,
    );
  }
  for (const [field, value] of Object.entries(row)) checkField(at, field, value);
}

function checkField(at: string, name: string, value: Json | undefined): void {
  const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  if (!field) {
    const known = Object.keys(FIELDS);
    const guess = nearest(name, known);
    const hint = guess === undefined ? `Known: ${known.join(", ")}.` : `Did you mean \`${guess}\`?`;
    throw wrong(`${at} does not know \`${clip(name, 60)}\`. ${hint}`);
  }
  if (value === undefined || field.is(value)) return;
  throw wrong(`${at}: \`${name}\` must be ${field.what}.`);
}

function isTexts(value: Json): value is readonly string[] {
  return (
    Array.isArray(value) && value.every((one) => typeof one === "string" && !one.includes("\0"))
  );
}

function wrong(message: string): Failure {
  return new Failure("invalid_request", message, { param: "own_tools" });
}
