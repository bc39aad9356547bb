/**
 * Reads the text of an agent file: YAML between two lines of `---`, and the instructions after it. An error is one
 * line with the file and the line number. The parser is loaded here, so that runs without agents do not pay for it.
 */

import { basename } from "node:path";
import type { Document, LineCounter, Pair } from "yaml";
import { OUTPUT_MODES, type OutputMode } from "../../agent/output-mode.ts";
import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { looksSecret } from "../../base/secret-shapes.ts";
import { clip, nearest } from "../../base/text.ts";
import { findOptionsProblem } from "../../protocol/own-options.ts";
import {
  AGENT_NAME,
  type AgentBudget,
  type AgentDefinition,
  BUDGET,
  type BudgetKind,
  EXPOSED,
  type Exposed,
  UNEDITED_DESCRIPTION,
  UNEDITED_PROBLEM,
} from "./definition.ts";

const FIELDS = [
  "name",
  "description",
  "model",
  "url",
  "provider",
  "api_key_name",
  "options",
  "tools",
  "budget",
  "input_schema",
  "output_mode",
  "output_schema",
  "expose",
] as const;
type FieldName = (typeof FIELDS)[number];

/** The model that chooses an agent reads all descriptions in every request. */
const MAX_DESCRIPTION_CHARS = 1000;

/**
 * Rejects with `Failure("invalid_request")`. If the schema is in a file of its own, its name is returned; the file is
 * not read here.
 */
export async function parseAgentFile(text: string, path: string): Promise<AgentDefinition> {
  const { front, body } = cut(text, path);
  const fields = await readFields(front, path);
  const { schemaFile, outputSchema } = readSchema(fields, path);
  const outputMode = readMode(fields, path, schemaFile !== undefined || outputSchema !== undefined);
  const name = readName(fields, path);
  if (body.trim() === "") {
    throw invalid(path, 1, "There are no instructions below the second `---`.");
  }
  return {
    name,
    path,
    description: readDescription(fields, path),
    model: readModel(fields, path),
    ...readAddress(fields, path),
    options: readOptions(fields, path),
    tools: readTools(fields, path),
    budget: readBudget(fields, path),
    inputSchema: readInputSchema(fields, path),
    outputMode,
    outputSchema,
    schemaFile,
    expose: readExpose(fields, path),
    instructions: body.trim(),
  };
}

/**
 * Cuts out the part between the first two lines of `---`, with an empty line for the first: line numbers stay the
 * same.
 */
function cut(text: string, path: string): { readonly front: string; readonly body: string } {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const isFence = (line: string): boolean => line.trimEnd() === "---";
  if (!isFence(lines[0] ?? "")) {
    throw invalid(path, 1, "An agent file begins with a line of `---`, then `name: ...`.");
  }
  const end = lines.findIndex((line, at) => at > 0 && isFence(line));
  if (end < 0) throw invalid(path, 1, "The second line of `---` is missing.");
  const front = ["", ...lines.slice(1, end)].join("\n");
  return { front, body: lines.slice(end + 1).join("\n") };
}

interface Field {
  readonly value: Json;
  readonly line: number;
  /** The lines of its inner fields, if it is a map. */
  readonly inner: ReadonlyMap<string, number>;
}

type Fields = ReadonlyMap<FieldName, Field>;

interface Reading {
  readonly path: string;
  readonly lines: LineCounter;
  readonly document: Document;
  readonly isMap: (node: unknown) => node is { readonly items: readonly Pair[] };
}

async function readFields(front: string, path: string): Promise<Fields> {
  const { isMap, LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(front, { lineCounter: lines, prettyErrors: false });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) {
    const { line } = lines.linePos(problem.pos[0]);
    throw invalid(path, line, `${REASONS[problem.code] ?? clip(problem.message, 160)}.`);
  }
  const { contents } = document;
  if (!isMap(contents))
    throw invalid(path, 1, "Between the lines of `---`, write `name: value` lines.");
  const reading: Reading = { path, lines, document, isMap };
  return new Map(contents.items.map((pair) => readField(pair as Pair, reading)));
}

const REASONS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "This name is used a second time here",
  MULTIPLE_DOCS: "A second document begins here; there may be one",
};

function readField(pair: Pair, reading: Reading): [FieldName, Field] {
  const { path, document, isMap } = reading;
  const name = String(pair.key);
  const line = lineOf(pair.key, reading);
  const known = FIELDS.find((field) => field === name);
  if (known === undefined) {
    const guess = nearest(name, FIELDS);
    const hint = guess ? ` Did you mean \`${guess}\`?` : ` There are: ${FIELDS.join(", ")}.`;
    throw invalid(path, line, `Unknown field \`${clip(name, 60)}\`.${hint}`);
  }
  const inner = isMap(pair.value)
    ? pair.value.items.map(({ key }) => [String(key), lineOf(key, reading)] as const)
    : [];
  try {
    // Bounded: an alias of an alias of an alias can stand for more than fits into memory.
    const value = isNode(pair.value) ? pair.value.toJS(document, { maxAliasCount: 100 }) : null;
    return [known, { value: value as Json, line, inner: new Map(inner) }];
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalid(path, line, `${clip(reason, 160)}.`, cause);
  }
}

interface Node {
  readonly range?: readonly [number, number, number] | null;
  toJS(document: Document, options: { maxAliasCount: number }): unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "toJS" in value;
}

function lineOf(node: unknown, { lines }: Reading): number {
  return lines.linePos(isNode(node) ? (node.range?.[0] ?? 0) : 0).line;
}

function readName(fields: Fields, path: string): string {
  const { value, line } = fieldOf(fields, "name", path);
  if (typeof value !== "string" || !AGENT_NAME.test(value)) {
    const message =
      "`name` must begin with a small letter and have at most 64 small letters, digits, `-` and `_`.";
    throw invalid(path, line, message);
  }
  const file = basename(path);
  if (file === `${value}.md`) return value;
  throw invalid(
    path,
    line,
    `The agent \`${value}\` must be in \`${value}.md\`, not in \`${file}\`.`,
  );
}

function readDescription(fields: Fields, path: string): string {
  const { value, line } = fieldOf(fields, "description", path);
  const text = typeof value === "string" ? value.replace(/\s+/g, " ").trim() : "";
  if (text === "")
    throw invalid(path, line, "`description` must say in one line what the agent is for.");
  if (text === UNEDITED_DESCRIPTION) {
    throw invalid(path, line, UNEDITED_PROBLEM);
  }
  if (text.length <= MAX_DESCRIPTION_CHARS) return text;
  const message = `\`description\` has ${text.length} characters; at most ${MAX_DESCRIPTION_CHARS} are sent.`;
  throw invalid(path, line, message);
}

function readModel(fields: Fields, path: string): string | undefined {
  const field = fields.get("model");
  if (!field || field.value === null) return undefined;
  const { value, line } = field;
  if (typeof value === "string" && /^[^/\s]+[/:]\S/.test(value)) return value;
  throw invalid(path, line, "`model` must be vendor/model. Leave it out to use the parent's.");
}

type Address = Pick<AgentDefinition, "url" | "provider" | "apiKeyName">;

/**
 * Where the model is asked, and with which key. An address without `model` would send the parent's key to this file's
 * server.
 */
function readAddress(fields: Fields, path: string): Address {
  const named = ADDRESS.flatMap((name) => {
    const field = fields.get(name);
    return field && field.value !== null ? [{ name, ...field }] : [];
  });
  const [first] = named;
  if (first && (fields.get("model")?.value ?? null) === null) {
    const message = `\`${first.name}\` needs \`model\` with it, which says whose key is sent. For a server of your own: \`model: custom/NAME\`.`;
    throw invalid(path, first.line, message);
  }
  for (const { name, value, line } of named) checkAddress(name, value, { path, line });
  const values = new Map(named.map(({ name, value }) => [name, String(value).trim()]));
  const url = values.get("url");
  const provider = values.get("provider");
  const apiKeyName = values.get("api_key_name");
  return {
    ...(url === undefined ? {} : { url }),
    ...(provider === undefined ? {} : { provider }),
    ...(apiKeyName === undefined ? {} : { apiKeyName }),
  };
}

const ADDRESS = ["url", "provider", "api_key_name"] as const;

/** The message does not show the value: it may be a key. */
function checkAddress(
  name: (typeof ADDRESS)[number],
  value: Json,
  { path, line }: { readonly path: string; readonly line: number },
): void {
  const text = typeof value === "string" && !looksSecret(value) ? value.trim() : "";
  if (name === "url" && !/^https?:\/\/[^\s/]/.test(text)) {
    const message =
      "`url` must be an http or https URL without a password: http://127.0.0.1:8000/v1.";
    throw invalid(path, line, message);
  }
  if (name === "api_key_name" && !/^[A-Za-z_]\w*$/.test(text)) {
    const message = "`api_key_name` must be the name of an environment variable, not a key.";
    throw invalid(path, line, message);
  }
  if (name === "provider" && text === "") {
    throw invalid(path, line, "`provider` must be the name of an API, for example openai-chat.");
  }
}

function readOptions(fields: Fields, path: string): JsonObject | undefined {
  const field = fields.get("options");
  if (!field || field.value === null) return undefined;
  const { value, line } = field;
  const problem = findOptionsProblem(value);
  if (problem) throw invalid(path, line, `\`options\` ${problem}.`);
  return value as JsonObject;
}

function readTools(fields: Fields, path: string): readonly string[] | undefined {
  const field = fields.get("tools");
  if (!field || field.value === null) return undefined;
  const { value, line } = field;
  const isFit = Array.isArray(value) && value.every((one) => typeof one === "string" && one !== "");
  if (isFit) return [...new Set(value as string[])];
  throw invalid(
    path,
    line,
    "`tools` must be a list of names or patterns: `[read, grep]`, `[]` for none.",
  );
}

function readBudget(fields: Fields, path: string): AgentBudget {
  const field = fields.get("budget");
  if (!field || field.value === null) return {};
  const { value, line, inner } = field;
  if (!isJsonObject(value))
    throw invalid(path, line, "`budget` must be a map, such as `turns: 10`.");
  const entries = Object.entries(value).map(([kind, amount]) => {
    const at = inner.get(kind) ?? line;
    if (!isBudgetKind(kind)) {
      const known = Object.keys(BUDGET).join(", ");
      throw invalid(path, at, `There is no budget of \`${clip(kind, 60)}\`. There are: ${known}.`);
    }
    return [kind, readAmount(kind, amount, { path, line: at })] as const;
  });
  return Object.fromEntries(entries);
}

function isBudgetKind(text: string): text is BudgetKind {
  return Object.hasOwn(BUDGET, text);
}

function readAmount(
  kind: BudgetKind,
  given: Json | undefined,
  { path, line }: { readonly path: string; readonly line: number },
): number {
  const { min, max, isWhole } = BUDGET[kind];
  const isNumber = typeof given === "number" && (isWhole ? Number.isSafeInteger(given) : true);
  if (isNumber && given >= min && given <= max) return given;
  const what = isWhole ? "whole number" : "number";
  const range = max >= Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
  throw invalid(path, line, `\`budget.${kind}\` is a ${what} ${range}.`);
}

function readMode(fields: Fields, path: string, hasSchema: boolean): OutputMode | undefined {
  const field = fields.get("output_mode");
  if (!field || field.value === null) return undefined;
  const mode = OUTPUT_MODES.find((one) => one === field.value);
  if (mode === undefined) {
    throw invalid(path, field.line, `\`output_mode\` must be one of ${OUTPUT_MODES.join(", ")}.`);
  }
  if (hasSchema === (mode === "json_schema")) return mode;
  const what = hasSchema ? "takes no `output_schema`" : "needs an `output_schema`";
  throw invalid(path, field.line, `\`output_mode: ${mode}\` ${what}.`);
}

function readSchema(
  fields: Fields,
  path: string,
): Pick<AgentDefinition, "outputSchema" | "schemaFile"> {
  const field = fields.get("output_schema");
  if (!field || field.value === null) return { outputSchema: undefined, schemaFile: undefined };
  const { value, line } = field;
  if (isJsonObject(value)) return { outputSchema: value as JsonObject, schemaFile: undefined };
  if (typeof value === "string" && value.trim() !== "") {
    return { outputSchema: undefined, schemaFile: value };
  }
  throw invalid(
    path,
    line,
    "`output_schema` must be a JSON schema, or the name of a file beside this one.",
  );
}

function readInputSchema(fields: Fields, path: string): JsonObject | undefined {
  const field = fields.get("input_schema");
  if (!field || field.value === null) return undefined;
  const { value, line } = field;
  if (isJsonObject(value) && value["type"] === "object") return value as JsonObject;
  throw invalid(path, line, "`input_schema` must be a JSON schema of the type `object`.");
}

function readExpose(fields: Fields, path: string): readonly Exposed[] {
  const field = fields.get("expose");
  if (!field || field.value === null) return [];
  const named = Array.isArray(field.value) ? field.value : [field.value];
  return named.map((one) => {
    const known = EXPOSED.find((name) => name === one);
    if (known !== undefined) return known;
    throw invalid(path, field.line, `\`expose\` takes ${EXPOSED.join(", ")}.`);
  });
}

function fieldOf(fields: Fields, name: FieldName, path: string): Field {
  const field = fields.get(name);
  if (field) return field;
  throw invalid(path, 1, `The field \`${name}\` is missing.`);
}

function invalid(path: string, line: number, reason: string, cause?: unknown): Failure {
  return new Failure("invalid_request", `${path}:${line}: ${reason}`, { cause });
}
