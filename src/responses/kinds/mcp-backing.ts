/**
 * Built-in kinds of tools whose calls go to a tool of a configured MCP server: `web_search` answered by
 * `brave/search`. The kind keeps its items and events; the setting decides where its results come from.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Tool } from "../../tools/tool.ts";

/** By kind: `"server/tool"`, or with the tool's names for the kind's arguments. */
export type BackingSettings = Readonly<Record<string, Backing | undefined>>;

export type Backing =
  | string
  | { readonly tool: string; readonly arguments?: Readonly<Record<string, string>> | undefined };

/** Finds tools by their names; rejects if a tool does not exist. */
export interface ToolPicker {
  pick(names: readonly string[]): Promise<Tool[]>;
}

/**
 * The tool for a kind, taking the kind's own arguments; undefined if the settings name none. Rejects with one line if
 * the named tool does not exist, or has no place for an argument.
 */
export async function findBackingTool(
  settings: BackingSettings,
  kind: string,
  toolbox: ToolPicker,
): Promise<Tool | undefined> {
  const backing = settings[kind];
  if (backing === undefined) return undefined;
  const { tool: name, arguments: names = {} } =
    typeof backing === "string" ? { tool: backing } : backing;
  const [, server, remote] = /^([^/]+)\/(.+)$/.exec(name) ?? [];
  if (server === undefined || remote === undefined) {
    throw invalid(kind, `\`${name}\` must be written as "server/tool".`);
  }
  const [tool] = await toolbox.pick([`mcp__${server}__${remote}`]);
  if (!tool) throw invalid(kind, `unknown tool \`${name}\`.`);
  return toBacking(tool, names);
}

/** The tool, called with the arguments of another one. Approval and record use its own name. */
function toBacking(tool: Tool, names: Readonly<Record<string, string>>): Tool {
  const properties = toObject(tool.spec.parameters?.["properties"]);
  const texts = Object.keys(properties).filter((key) => isText(properties[key]));
  const required = tool.spec.parameters?.["required"];
  const first = Array.isArray(required) ? texts.find((key) => required.includes(key)) : undefined;
  const usual = first ?? texts[0];
  return {
    ...tool,
    parse: (input) => tool.parse(toArguments(input, { names, properties, usual })),
  };
}

interface Mapping {
  readonly names: Readonly<Record<string, string>>;
  readonly properties: JsonObject;
  /** The argument for a text that the tool has no name for. */
  readonly usual: string | undefined;
}

/**
 * Arguments without a place in the tool are left out; of several texts without a place, the first is used.
 */
function toArguments(input: Json, { names, properties, usual }: Mapping): JsonObject {
  const made: Record<string, Json | undefined> = {};
  const put = (place: string | undefined, value: Json | undefined): void => {
    if (place === undefined || made[place] !== undefined) return;
    made[place] = isText(properties[place]) ? (toText(value) ?? value) : value;
  };
  const given = Object.entries(toObject(input));
  const placeOf = (name: string): string | undefined =>
    names[name] ?? (name in properties ? name : undefined);
  // Arguments with a place of their own get it first.
  for (const [name, value] of given) put(placeOf(name), value);
  for (const [name, value] of given) {
    if (placeOf(name) === undefined && toText(value) !== undefined) put(usual, value);
  }
  return made;
}

/** Several texts are joined if a tool takes one. */
function toText(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  const isList = Array.isArray(value) && value.length > 0;
  return isList && value.every((one) => typeof one === "string") ? value.join("\n") : undefined;
}

function isText(schema: Json | undefined): boolean {
  return isJsonObject(schema) && schema["type"] === "string";
}

function toObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function invalid(kind: string, problem: string): Failure {
  return new Failure("invalid_request", `The tool for \`${kind}\`: ${problem}`);
}
