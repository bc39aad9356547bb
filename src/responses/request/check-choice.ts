/**
 * `tool_choice` must name tools that the request offers: a forced call that cannot be made is a mistake
 * of the client's, and an answer without it would hide the mistake. Pure.
 */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";
import type { McpTool, Tool, ToolChoice } from "../../protocol/tools.ts";
import { kindOf } from "./hosted-kinds.ts";

type Choice = ToolChoice | null | undefined;

/** Rejects with `invalid_request` a choice that none of the tools fits. */
export function checkChoice(choice: Choice, tools: readonly Tool[]): void {
  if (choice === "required" && tools.length === 0) {
    throw invalid("`tool_choice` is `required`, and the request offers no `tools`.");
  }
  const missing = findMissing(choice, tools);
  if (missing) throw toMissing(missing);
  if (toEntries(choice)?.length === 0) throw invalid("`tool_choice.tools` is empty.");
}

/** Whether the tools of the request itself leave nothing to complain about. */
export function isOffered(choice: Choice, tools: readonly Tool[]): boolean {
  if (choice === "required") return tools.length > 0;
  return findMissing(choice, tools) === undefined;
}

/** What the tools are offered as, once MCP servers have said what they have. */
interface Offered {
  readonly listed: readonly Item[];
  /** `auto` in place of a choice whose tool is not offered. */
  toolChoice(choice: ToolChoice): ToolChoice;
}

/**
 * Rejects a choice of a tool that its MCP server does not have. Names `tool_choice` as left out where
 * its tool was: a kind that nobody here knows, a server that is not there.
 */
export function checkOffered(choice: ToolChoice, { listed, toolChoice }: Offered): string[] {
  if (typeof choice === "string" || toolChoice(choice) !== "auto") return [];
  const lists = listed.filter(
    (item) =>
      item.type === "mcp_list_tools" &&
      choice.type === "mcp" &&
      item.server_label === choice.server_label,
  );
  if (lists.some((item) => !("error" in item && item.error))) throw toMissing(toEntry(choice));
  // A server that could not be asked fails the response with a reason of its own.
  return lists.length > 0 ? [] : ["tool_choice"];
}

function findMissing(choice: Choice, tools: readonly Tool[]): JsonObject | undefined {
  if (!choice || typeof choice === "string") return undefined;
  const entries = toEntries(choice) ?? [toEntry(choice)];
  return entries.find((entry) => !tools.some((tool) => isMeant(entry, tool)));
}

/** The tools that the model is restricted to; undefined for any other choice. */
function toEntries(choice: Choice): readonly JsonObject[] | undefined {
  if (!choice || typeof choice === "string" || choice.type !== "allowed_tools") return undefined;
  return choice.tools;
}

function toEntry(choice: Exclude<ToolChoice, string>): JsonObject {
  return { ...choice } as unknown as JsonObject;
}

function isMeant(entry: JsonObject, tool: Tool): boolean {
  if (tool.type === "mcp") return isServerMeant(entry, tool);
  if (tool.type === "namespace") {
    const { namespace } = entry;
    const isInside = namespace === undefined || namespace === null || namespace === tool.name;
    if (isInside && tool.tools.some((inner) => isNamed({ ...entry, namespace: null }, inner))) {
      return true;
    }
  }
  return isNamed(entry, tool);
}

/** By its kind, in any spelling of it, and by its name where it has one. */
function isNamed({ type, name, namespace }: JsonObject, tool: Tool): boolean {
  if (namespace !== undefined && namespace !== null) return false;
  if (typeof type !== "string" || kindOf({ type }) !== kindOf(tool)) return false;
  return !("name" in tool) || tool.name === name;
}

/** What a server has is known when it is asked; what the request leaves of it, before. */
function isServerMeant(entry: JsonObject, { server_label, allowed_tools }: McpTool): boolean {
  const { type, server_label: label, name } = entry;
  if (type !== "mcp" || label !== server_label) return false;
  const names = Array.isArray(allowed_tools) ? allowed_tools : allowed_tools?.tool_names;
  return typeof name !== "string" || !names || names.includes(name);
}

function toMissing({ type, name, server_label }: JsonObject): Failure {
  const parts = [server_label, name].filter((part) => typeof part === "string");
  const named = clip(parts.length > 0 ? parts.join("/") : String(type), 80);
  return invalid(
    `\`tool_choice\` names \`${named}\`, which is not among the \`tools\` of the request.`,
  );
}

function invalid(message: string): Failure {
  return new Failure("invalid_request", message, { param: "tool_choice" });
}
