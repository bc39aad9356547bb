/**
 * Checks that `tool_choice` names tools of the request: a forced call that cannot be made is a mistake of the client,
 * and an answer without it would hide the mistake. Pure.
 */

import { Failure } from "../../base/failure.ts";
import { asJsonObject, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { McpTool } from "../../protocol/hosted-kinds/mcp.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import { kindOf } from "./hosted-kinds.ts";

type Choice = ToolChoice | null | undefined;

/** Rejects with `invalid_request` a choice that matches no tool. */
export function checkChoice(choice: Choice, tools: readonly Tool[]): void {
  if (choice === "required" && tools.length === 0) {
    throw invalid("`tool_choice` is `required`, and the request offers no `tools`.");
  }
  const missing = findMissing(choice, tools);
  if (missing) throw toMissing(missing);
  if (toEntries(choice)?.length === 0) throw invalid("`tool_choice.tools` is empty.");
}

/** True if the tools of the request itself match the choice. */
export function isOffered(choice: Choice, tools: readonly Tool[]): boolean {
  if (choice === "required") return tools.length > 0;
  return findMissing(choice, tools) === undefined;
}

/** The offered tools, once MCP servers have listed theirs. */
interface Offered {
  readonly listed: readonly Item[];
  /** Returns `auto` in place of a choice whose tool is not offered. */
  toolChoice(choice: ToolChoice): ToolChoice;
}

/**
 * Rejects a choice of a tool that its MCP server does not have. Reports `tool_choice` as left out if its tool was: an
 * unknown kind, or a server that is not available.
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
  return asJsonObject({ ...choice });
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

/** By its kind, in any spelling of it, and by its name if it has one. */
function isNamed({ type, name, namespace }: JsonObject, tool: Tool): boolean {
  if (namespace !== undefined && namespace !== null) return false;
  if (typeof type !== "string" || kindOf({ type }) !== kindOf(tool)) return false;
  return !("name" in tool) || tool.name === name;
}

/** The tools of a server are known when it was asked; those that the request leaves out, before. */
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
