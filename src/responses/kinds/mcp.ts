/**
 * `mcp`: tools of an MCP server, which this server calls. The label `offshoot` names this server's own catalogue, so
 * that any client can request `bash_read` or `subagent` in standard terms.
 *
 * A call that the client wants to approve first is an item of its own, and the answer ends there; the call is made
 * when the next request says yes (`approved-calls.ts`).
 */

import { Failure, toFailure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import type { McpTool } from "../../protocol/hosted-kinds/mcp.ts";
import { MCP, type McpListTools } from "../../protocol/hosted-kinds/mcp.ts";
import type { Item } from "../../protocol/items.ts";
import type { FunctionTool, Tool } from "../../protocol/tools.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";
import { readText } from "./arguments.ts";
import { toResultText } from "./result-text.ts";
import {
  type KindRequest,
  type Offer,
  type OpenedTool,
  type ServerRun,
  type ToolKind,
  typesOf,
} from "./tool-kind.ts";

/** The label of this server's own tools. */
export const OWN_LABEL = "offshoot";

export interface McpKindParts {
  /**
   * The tools of a server, under its own names for them; undefined if such a server is not available. Rejects with
   * `tool_failed` if it cannot be reached, and with another code if it may not be used. With `known`, its tools are
   * the listed ones, and it is only connected to when one is called.
   */
  readonly connect: (
    tool: McpTool,
    request: KindRequest,
    known?: McpListTools,
  ) => Promise<ConnectedServer | undefined>;
}

export interface ConnectedServer {
  readonly tools: readonly ListedTool[];
  close(): Promise<void>;
}

export interface ListedTool {
  readonly tool: GateTool;
  /** True if its server says that it changes nothing; clients choose and approve by it. */
  readonly isReadOnly: boolean;
}

export function createMcpKind({ connect }: McpKindParts): ToolKind {
  return {
    ...typesOf(MCP),
    open: (tool: Tool, request) => openServer(tool as McpTool, request, connect),
    keyOf: (item) =>
      item.type === "mcp_call" || item.type === "mcp_approval_request"
        ? toKey(item.server_label, item.name)
        : undefined,
    toFunctions: toMcpFunctions,
  };
}

async function openServer(
  tool: McpTool,
  request: KindRequest,
  connect: McpKindParts["connect"],
): Promise<OpenedTool> {
  try {
    const known = findListed(tool, request.items ?? []);
    const server = isOwn(tool) ? toOwnServer(request) : await connect(tool, request, known);
    if (!server) return { offers: [], ignored: [`tools (mcp ${clip(tool.server_label, 64)})`] };
    const offered = server.tools.filter((one) => isAllowed(tool, one));
    const offers = offered.map((one) => toOffer(tool, one));
    const listed = known ? [] : [toListed(tool, offered)];
    return { offers, listed, close: () => server.close() };
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (failure.code !== "tool_failed") throw failure;
    return { offers: [], listed: [toListed(tool, [], failure.message)] };
  }
}

/**
 * The server's list in the conversation, if it has every tool that the request names: a list contains what was
 * allowed when it was made.
 */
function findListed(tool: McpTool, items: readonly Item[]): McpListTools | undefined {
  const { server_label, allowed_tools } = tool;
  const found = items.findLast(
    (item): item is McpListTools =>
      item.type === "mcp_list_tools" && item.server_label === server_label,
  );
  if (!found || found.error) return undefined;
  const wanted = Array.isArray(allowed_tools) ? allowed_tools : allowed_tools?.tool_names;
  const names = new Set(found.tools.map(({ name }) => name));
  return wanted?.every((name) => names.has(name)) === false ? undefined : found;
}

function isOwn({ server_label, server_url, connector_id }: McpTool): boolean {
  return server_label === OWN_LABEL && !server_url && !connector_id;
}

/** A tool with the fields by which clients choose and approve. */
type NamedTool = Pick<GateTool, "readOnly"> & { readonly spec: Pick<FunctionTool, "name"> };

/**
 * This server's own tools that a request lets the model call without asking. Children of its run get only these,
 * because the client cannot be asked about their calls.
 */
export function findUnasked<Own extends NamedTool>(
  asked: readonly Tool[],
  own: readonly Own[],
): Own[] {
  const entries = asked.filter(
    (tool): tool is McpTool => tool.type === "mcp" && isOwn(tool as McpTool),
  );
  return own.filter(isNobodyElses).filter((tool) => {
    const listed = { tool, isReadOnly: tool.readOnly };
    const offering = entries.filter((entry) => isAllowed(entry, listed));
    return offering.length > 0 && !offering.some((entry) => needsApproval(entry, listed));
  });
}

/** Tools of other servers have labels of their own. */
function isNobodyElses({ spec }: NamedTool): boolean {
  return !spec.name.startsWith("mcp__");
}

function toOwnServer({ catalogue }: KindRequest): ConnectedServer {
  const own = catalogue.filter(isNobodyElses);
  return {
    tools: own.map((tool) => ({
      // A model calls it by another name; the operator's rules use its own.
      tool: { ...tool, judgedAs: tool.spec.name },
      isReadOnly: tool.readOnly,
    })),
    close: async () => {},
  };
}

function toListed(
  { server_label }: McpTool,
  offered: readonly ListedTool[],
  error: string | null = null,
): Item {
  return {
    type: "mcp_list_tools",
    server_label,
    tools: offered.map(({ tool: { spec }, isReadOnly }) => ({
      name: spec.name,
      description: spec.description ?? null,
      input_schema: spec.parameters ?? { type: "object" },
      annotations: { read_only: isReadOnly },
    })),
    error,
  } as Item;
}

/** Throws if the tools of a server are not available: no answer is better than one without them. */
export function checkListed(listed: readonly Item[]): void {
  for (const item of listed) {
    if (item.type !== "mcp_list_tools" || !item.error) continue;
    const label = clip(item.server_label, 64);
    const message = `Error retrieving tool list from MCP server: '${label}'. ${toText(item.error)}`;
    throw new Failure(UNREACHABLE, message, { param: "tools" });
  }
}

/** For a server that a request needs and that cannot be reached. */
const UNREACHABLE = "connector_failed";

interface Weighed {
  readonly tool: NamedTool;
  readonly isReadOnly: boolean;
}

/** True if the client lets the model call it. */
function isAllowed({ allowed_tools }: McpTool, listed: Weighed): boolean {
  if (!allowed_tools) return true;
  const filter = Array.isArray(allowed_tools) ? { tool_names: allowed_tools } : allowed_tools;
  return fitsFilter(filter, listed);
}

interface Filter {
  readonly tool_names?: readonly string[] | undefined;
  /** Not in the API: clients of other APIs say which tools they do not want. */
  readonly except?: unknown;
  readonly read_only?: boolean | undefined;
}

function fitsFilter(filter: Filter, { tool, isReadOnly }: Weighed): boolean {
  const { name } = tool.spec;
  if (filter.tool_names && !filter.tool_names.includes(name)) return false;
  if (Array.isArray(filter.except) && filter.except.includes(name)) return false;
  return typeof filter.read_only !== "boolean" || filter.read_only === isReadOnly;
}

/**
 * Always, unless the client says otherwise: that is the API's own default. A filter that names nothing matches
 * nothing.
 */
function needsApproval({ require_approval }: McpTool, listed: Weighed): boolean {
  if (!require_approval) return true;
  if (typeof require_approval === "string") return require_approval !== "never";
  const { always, never } = require_approval;
  if (always && isFilter(always) && fitsFilter(always, listed)) return true;
  return !(never && isFilter(never) && fitsFilter(never, listed));
}

function isFilter({ tool_names, read_only }: Filter): boolean {
  return Array.isArray(tool_names) || typeof read_only === "boolean";
}

function toOffer(mcp: McpTool, listed: ListedTool): Offer {
  const { tool } = listed;
  const { server_label } = mcp;
  const { name } = tool.spec;
  const asks = needsApproval(mcp, listed);
  return {
    key: toKey(server_label, name),
    spec: { ...describe(mcp, tool.spec), name: toKey(server_label, name) },
    isMeantBy: (choice) =>
      choice["type"] === "mcp" &&
      choice["server_label"] === server_label &&
      (choice["name"] === undefined || choice["name"] === null || choice["name"] === name),
    deferred: mcp.defer_loading ? toFound(mcp, name) : undefined,
    shows: asks ? "nothing" : "all",
    toItem: ({ arguments: text }, id): Item =>
      asks
        ? { type: "mcp_approval_request", id, server_label, name, arguments: text }
        : toMcpCall({ id, server_label, name, arguments: text }),
    run: asks ? undefined : toRun(tool),
    isListed: !isOwn(mcp),
    approved: toRun(tool),
  };
}

/** A server as a search shows it: the found tool, without the secrets to reach the server. */
function toFound({ authorization: _, headers: __, ...shown }: McpTool, name: string): McpTool {
  return { ...shown, allowed_tools: [name] };
}

function describe({ server_description }: McpTool, spec: FunctionTool): FunctionTool {
  if (!server_description) return spec;
  return {
    ...spec,
    description: [spec.description, server_description].filter(Boolean).join("\n\n"),
  };
}

/** A call that is still to be made. */
export function toMcpCall(call: {
  readonly id: string;
  readonly server_label: string;
  readonly name: string;
  readonly arguments: string;
  readonly approval_request_id?: string | undefined;
}): Item {
  return {
    type: "mcp_call",
    approval_request_id: null,
    output: null,
    error: null,
    ...call,
    status: "in_progress",
  };
}

function toRun(tool: GateTool): ServerRun {
  return {
    tool,
    toArguments: (item) => (item.type === "mcp_call" ? item.arguments : "{}"),
    show: (item, result) => [toMadeCall(item, result)],
  };
}

function toMadeCall(item: Item, { output, failed }: ToolResult): Item {
  const text = toResultText(output);
  if (!failed) return { ...item, status: "completed", output: text, error: null } as Item;
  const error = { type: "mcp_tool_execution_error", content: [{ type: "text", text }] };
  return { ...item, status: "failed", output: null, error } as unknown as Item;
}

function toKey(label: string, name: string): string {
  return `${label}__${name}`;
}

/** An approval is answered under the id of its request; other calls only have their own id. */
function toMcpFunctions(item: Item, nameOf: (key: string) => string): readonly Item[] {
  switch (item.type) {
    case "mcp_approval_request":
      return [toCall(item.id ?? "", item, nameOf)];
    case "mcp_approval_response":
      return item.approve ? [] : [toOutput(item.approval_request_id, refusalOf(item))];
    case "mcp_call": {
      const output = item.output ?? errorText(item.error);
      const request = item.approval_request_id;
      if (request) return [toOutput(request, output)];
      const id = item.id ?? "";
      return [toCall(id, item, nameOf), toOutput(id, output)];
    }
    default:
      return [];
  }
}

interface NamedCall {
  readonly server_label: string;
  readonly name: string;
  /** An object in answers of the older reference. */
  readonly arguments: string | JsonObject;
}

function toCall(
  call_id: string,
  { server_label, name, arguments: text }: NamedCall,
  nameOf: (key: string) => string,
): Item {
  return {
    type: "function_call",
    call_id,
    name: nameOf(toKey(server_label, name)),
    arguments: toText(text),
  };
}

export function toText(text: string | JsonObject): string {
  return typeof text === "string" ? text : JSON.stringify(text);
}

function toOutput(call_id: string, output: string): Item {
  return { type: "function_call_output", call_id, output };
}

function refusalOf(item: { readonly reason?: string | null | undefined }): string {
  return `Error: The user did not approve this call.${item.reason ? ` ${item.reason}` : ""}`;
}

function errorText(error: string | JsonObject | null | undefined): string {
  if (typeof error === "string") return `Error: ${error}`;
  const content = error?.["content"];
  if (!Array.isArray(content)) return error ? `Error: ${JSON.stringify(error)}` : "";
  const parts: readonly JsonObject[] = content.filter(isJsonObject);
  return parts.map(({ text }) => readText(text)).join("\n");
}

/** For servers that may not reach other servers. */
export const NO_SERVERS: McpKindParts["connect"] = ({ server_label }) => {
  const message = `The MCP server \`${clip(server_label, 64)}\` cannot be reached: this server connects to no MCP servers.`;
  return Promise.reject(new Failure("invalid_request", message, { param: "tools" }));
};
