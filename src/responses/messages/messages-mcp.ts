/**
 * MCP servers of a request. This server reaches them itself, for every model, so they work everywhere and under the
 * same guard. The tools that the model may use are in the server's toolset among the tools or, in the older form, in
 * the server's own entry.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { McpTool } from "../../protocol/hosted-kinds/mcp.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { McpServerParam, MessagesRequest, ToolParam } from "./messages-request.ts";

/** A toolset names tools of `mcp_servers`; it is not a tool itself. */
export function isToolset(type: string | null | undefined): boolean {
  return type === "mcp_toolset";
}

/** Rejects a toolset of a server that the request does not have. */
export function toMcpTools({ mcp_servers, tools }: MessagesRequest): Tool[] {
  const servers = mcp_servers ?? [];
  const toolsets = new Map<string, JsonObject>();
  for (const [at, tool] of (tools ?? []).entries()) {
    if (isToolset(tool.type)) toolsets.set(readServer(tool, at, servers), tool as JsonObject);
  }
  return servers.flatMap((server) => {
    const toolset = toolsets.get(server.name);
    const chosen = toolset ? chooseByToolset(toolset) : chooseByServer(server);
    return chosen ? [toMcpTool(server, chosen)] : [];
  });
}

function readServer(tool: ToolParam, at: number, servers: readonly McpServerParam[]): string {
  const { mcp_server_name: name } = tool as { mcp_server_name?: unknown };
  if (typeof name === "string" && servers.some((server) => server.name === name)) return name;
  const param = `tools[${at}].mcp_server_name`;
  const message = `\`${param}\` is \`${clip(String(name), 60)}\`, which \`mcp_servers\` does not name.`;
  throw new Failure("invalid_request", message, { param });
}

type Chosen = Pick<McpTool, "allowed_tools" | "defer_loading">;

function chooseByToolset({ default_config, configs }: JsonObject): Chosen {
  const usual = isJsonObject(default_config) ? default_config : {};
  const rows = Object.entries(isJsonObject(configs) ? configs : {});
  const isOn = usual["enabled"] !== false;
  const named = rows.filter(([, row]) => enabledIn(row, isOn) !== isOn).map(([name]) => name);
  const all = isOn && named.length === 0;
  const allowed = isOn ? { except: named } : named;
  return {
    ...(all ? {} : { allowed_tools: allowed as NonNullable<McpTool["allowed_tools"]> }),
    ...(usual["defer_loading"] === true ? { defer_loading: true } : {}),
  };
}

function enabledIn(row: Json | undefined, usual: boolean): boolean {
  const enabled = isJsonObject(row) ? row["enabled"] : undefined;
  return typeof enabled === "boolean" ? enabled : usual;
}

/** Undefined for a server that is switched off. */
function chooseByServer({ tool_configuration }: McpServerParam): Chosen | undefined {
  const { enabled, allowed_tools } = tool_configuration ?? {};
  if (enabled === false) return undefined;
  return Array.isArray(allowed_tools) ? { allowed_tools: allowed_tools as string[] } : {};
}

function toMcpTool({ name, url, authorization_token }: McpServerParam, chosen: Chosen): Tool {
  return {
    type: "mcp",
    server_label: name,
    server_url: url,
    require_approval: "never",
    ...(authorization_token ? { authorization: authorization_token } : {}),
    ...chosen,
  };
}
