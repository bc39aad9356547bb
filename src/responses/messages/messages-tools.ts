/**
 * Translates tools and the choice among them. A model of the vendor gets the vendor's kinds unchanged; for any other
 * model each becomes the equivalent kind of ours, or a function.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { BLOCKS } from "../../protocol/messages-blocks.ts";
import type { CreateResponse } from "../../protocol/request.ts";
import type { FunctionTool, Tool, ToolChoice } from "../../protocol/tools.ts";
import { toClientFunction } from "./client-tools.ts";
import { isToolset, toMcpTools } from "./messages-mcp.ts";
import type { MessagesRequest, ToolChoiceParam, ToolParam } from "./messages-request.ts";
import { toModelName } from "./tool-names.ts";

export interface OfferedMessagesTools {
  /** True if the model's server uses this API itself, and runs its tools. */
  readonly isVendor: boolean;
  /**
   * Tools that the conversation has found: of those with `defer_loading`, the model gets no others.
   */
  readonly references: ReadonlySet<string>;
}

export interface MessagesTools {
  readonly fields: Pick<
    CreateResponse,
    "tools" | "tool_choice" | "parallel_tool_calls" | "max_tool_calls"
  >;
  readonly ignored: readonly string[];
}

export function toTools(request: MessagesRequest, asked: OfferedMessagesTools): MessagesTools {
  const given = request.tools ?? [];
  const chosen = request.tool_choice?.type === "tool" ? request.tool_choice.name : undefined;
  const finds = given.some(({ type }) => isToolSearch(type));
  const told = given.filter(
    ({ defer_loading, name }) =>
      finds ||
      asked.isVendor ||
      !defer_loading ||
      name === chosen ||
      asked.references.has(name ?? ""),
  );
  const read = told.map((tool) => ({
    name: tool.name ?? undefined,
    made: toTool(tool, given.indexOf(tool), asked),
  }));
  const servers = toMcpTools(request);
  const tools = [...read.flatMap(({ made }) => (made ? [made] : [])), ...servers];
  const most = toMostCalls(told, asked.isVendor);
  const ignored = told.flatMap((tool, at) => {
    if (isToolset(tool.type) || asked.isVendor) return [];
    if (!read[at]?.made) return [`tools (${tool.type})`];
    const names = leftOutOf(tool, most.max_tool_calls !== undefined);
    return names.map((name) => `tools[${given.indexOf(tool)}].${name}`);
  });
  if (tools.length === 0) return { fields: {}, ignored };
  const named = new Map(
    read.flatMap(({ name, made }) => (name && made ? [[name, made] as const] : [])),
  );
  return { ignored, fields: { tools, ...most, ...toChoice(request.tool_choice, named) } };
}

/** Undefined for a kind that only the vendor has. */
function toTool(tool: ToolParam, at: number, asked: OfferedMessagesTools): Tool | undefined {
  const { type } = tool;
  if (!type || type === "custom") return toFunction(tool, at, asked);
  if (isToolset(type)) return undefined;
  if (asked.isVendor) return toVendors(tool) as unknown as Tool;
  const client = toClientFunction(tool);
  if (client) return client;
  return (toHosted(type, tool as unknown as JsonObject) as unknown as Tool) ?? undefined;
}

function toFunction(tool: ToolParam, at: number, asked: OfferedMessagesTools): FunctionTool {
  const { type: _, name, description, input_schema, strict, ...more } = tool;
  if (!name) throw missing(at, "name");
  if (!input_schema) throw missing(at, "input_schema");
  const isDeferred = more.defer_loading && !asked.isVendor && !asked.references.has(name);
  const own = asked.isVendor ? presentIn(more as JsonObject) : {};
  return {
    type: "function",
    name: toModelName(name, asked.isVendor),
    ...(description ? { description } : {}),
    parameters: input_schema,
    strict: strict === true,
    // The vendor searches such tools itself.
    ...(isDeferred ? { defer_loading: true } : {}),
    ...(Object.keys(own).length > 0 ? { [BLOCKS]: own } : {}),
  };
}

function presentIn(fields: JsonObject): JsonObject {
  return pick(fields, Object.keys(fields));
}

function missing(at: number, field: string): Failure {
  const param = `tools[${at}].${field}`;
  return new Failure(
    "invalid_request",
    `\`${param}\` is missing. Each tool of the client's has a \`name\` and an \`input_schema\`.`,
    { param },
  );
}

/** Fields of a function that are read, and hints that change nothing about its calls. */
const FUNCTION_FIELDS: ReadonlySet<string> = new Set([
  ...["type", "name", "description", "input_schema", "strict", "defer_loading"],
  ...["cache_control", "eager_input_streaming"],
]);

/** Fields of a tool that only the vendor could heed. */
function leftOutOf(tool: ToolParam, isLimited: boolean): string[] {
  const given = presentIn(tool as unknown as JsonObject);
  const { type, allowed_callers: callers, citations } = given;
  if (!type || type === "custom") {
    const isDirect = Array.isArray(callers) && callers.includes("direct");
    return Object.keys(given).filter(
      (name) => !FUNCTION_FIELDS.has(name) && !(isDirect && name === "allowed_callers"),
    );
  }
  const cites = isJsonObject(citations) && citations["enabled"] === true;
  const isCut = HOSTED.test(tool.type ?? "") && !isLimited && given["max_uses"] !== undefined;
  return [...(isCut ? ["max_uses"] : []), ...(cites ? ["citations"] : [])];
}

/** A mark for the cache is at its end, where the wire puts it. */
function toVendors({ cache_control: _, ...tool }: ToolParam & { cache_control?: unknown }): object {
  return tool;
}

function toHosted(type: string, tool: JsonObject): JsonObject | undefined {
  if (/^web_search_\d+$/.test(type)) {
    // A client that blocks sites needs that to work, and not every vendor's own search can do it.
    const execution = tool["blocked_domains"] ? { execution: "server" } : {};
    return { type: "web_search", ...toSites(tool), ...pick(tool, ["user_location"]), ...execution };
  }
  if (/^web_fetch_\d+$/.test(type)) {
    return { type: "web_fetch", ...toSites(tool), ...pick(tool, ["max_content_tokens"]) };
  }
  if (/^code_execution_\d+$/.test(type)) {
    return { type: "code_interpreter", container: { type: "auto" } };
  }
  return isToolSearch(type) ? { type: "tool_search" } : undefined;
}

/** The limit on calls of all server tools together; the vendor counts each tool separately. */
function toMostCalls(
  tools: readonly ToolParam[],
  isVendor: boolean,
): Pick<CreateResponse, "max_tool_calls"> {
  const hosted = isVendor ? [] : tools.filter(({ type }) => HOSTED.test(type ?? ""));
  const limits = hosted.map((tool) => (tool as { max_uses?: unknown }).max_uses);
  if (limits.length === 0 || !limits.every((limit) => typeof limit === "number")) return {};
  return { max_tool_calls: limits.reduce((sum, limit) => sum + limit, 0) };
}

const HOSTED = /^(web_search|web_fetch|code_execution)_\d+$/;

function toSites({ allowed_domains, blocked_domains }: JsonObject): JsonObject {
  if (!allowed_domains && !blocked_domains) return {};
  return {
    filters: {
      ...(allowed_domains ? { allowed_domains } : {}),
      ...(blocked_domains ? { blocked_domains } : {}),
    },
  };
}

function pick(tool: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) =>
      tool[name] === null || tool[name] === undefined ? [] : [[name, tool[name]]],
    ),
  );
}

function isToolSearch(type: string | null | undefined): boolean {
  return /^tool_search_tool_/.test(type ?? "");
}

function toChoice(
  choice: ToolChoiceParam | null | undefined,
  named: ReadonlyMap<string, Tool>,
): Pick<CreateResponse, "tool_choice" | "parallel_tool_calls"> {
  if (!choice) return {};
  const single = choice.disable_parallel_tool_use ? { parallel_tool_calls: false } : {};
  switch (choice.type) {
    case "any":
      return { tool_choice: "required", ...single };
    case "none":
      return { tool_choice: "none", ...single };
    case "tool":
      return { tool_choice: toNamed(choice.name, named), ...single };
    default:
      return single;
  }
}

/** A tool that is not offered is refused with the other errors of the request. */
function toNamed(name: string | null | undefined, named: ReadonlyMap<string, Tool>): ToolChoice {
  if (!name) {
    const message = "`tool_choice.name` is missing. Name the tool that must be called.";
    throw new Failure("invalid_request", message, { param: "tool_choice.name" });
  }
  const tool = named.get(name);
  if (!tool || tool.type === "function") return { type: "function", name: tool?.name ?? name };
  return { type: tool.type } as ToolChoice;
}
