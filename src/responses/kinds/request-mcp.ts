/**
 * MCP servers that requests name: by an address, reached over the guarded network with the client's own key, or by
 * the name of a server in the settings.
 *
 * A connection belongs to one run and is closed with it. What the client sent to open it is used for that server
 * alone; it is not a template, and no variable of this process is put into it.
 */

import type { Clock } from "../../base/clock.ts";
import { Failure, toFailure } from "../../base/failure.ts";
import { isJsonObject } from "../../base/json.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { clip } from "../../base/text.ts";
import type { McpListTools, McpTool } from "../../protocol/hosted-kinds/mcp.ts";
import type { GuardedNetwork } from "../../tools/mcp/guarded-fetch.ts";
import type { KeptMap } from "../../tools/mcp/kept-map.ts";
import type { Listing } from "../../tools/mcp/listing.ts";
import type { Pins } from "../../tools/mcp/pins.ts";
import type { McpServer } from "../../tools/mcp/server.ts";
import type { McpConnection } from "../../tools/mcp/session/connection.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";
import type { ConnectedServer, ListedTool, McpKindParts } from "./mcp.ts";
import type { KindRequest } from "./tool-kind.ts";

export interface RequestMcpParts {
  readonly clock: Clock;
  readonly version: string;
  readonly network: GuardedNetwork;
  readonly log?: Log | undefined;
  /** The longest time until a server has greeted. */
  readonly connectMs?: number | undefined;
  /** The longest time until its tools are known, the greeting included. */
  readonly listMs?: number | undefined;
  /** The longest time of one call. */
  readonly callMs?: number | undefined;
}

/** A client waits for the answer, and has named the server itself. */
const CONNECT_MS = 10_000;
const LIST_MS = 20_000;
const CALL_MS = 60_000;

/**
 * Undefined for a connector that is not in the settings. Rejects with one line if it cannot be used.
 */
export function createRequestMcp(parts: RequestMcpParts): McpKindParts["connect"] {
  return async (tool, request, known) => {
    if (tool.server_url) {
      const server = toServer(parts, tool, tool.server_url);
      return await connect(parts, { server, request, known });
    }
    const found = findConfigured(tool, request.catalogue);
    if (found.length > 0) return { tools: found, close: async () => {} };
    checkConnector(tool);
    if (tool.connector_id || tool.tunnel_id) return undefined;
    const message = `The MCP server \`${clip(tool.server_label, 64)}\` has no \`server_url\`, and this server knows no MCP server of that name.`;
    throw new Failure("invalid_request", message, { param: "tools" });
  };
}

/** Connectors of the API, which only its vendor can reach. */
const CONNECTORS: ReadonlySet<string> = new Set([
  "connector_dropbox",
  "connector_gmail",
  "connector_googlecalendar",
  "connector_googledrive",
  "connector_microsoftteams",
  "connector_outlookcalendar",
  "connector_outlookemail",
  "connector_sharepoint",
]);

/** A connector of the API is left out and reported; an unknown one is an error. */
function checkConnector({ connector_id }: McpTool): void {
  if (!connector_id || CONNECTORS.has(connector_id)) return;
  const message = `Unknown \`connector_id\` \`${clip(connector_id, 64)}\`. It must be a connector of the API, or the name of an MCP server of this server's settings.`;
  throw new Failure("invalid_request", message, { param: "tools" });
}

/** A server of the settings, if the client's key may use it. */
function findConfigured(
  { connector_id, tunnel_id, server_label }: McpTool,
  catalogue: readonly GateTool[],
): ListedTool[] {
  const prefix = `mcp__${connector_id || tunnel_id || server_label}__`;
  return catalogue.flatMap((tool) => {
    const { name } = tool.spec;
    if (!name.startsWith(prefix)) return [];
    const spec = { ...tool.spec, name: name.slice(prefix.length) };
    return [{ tool: { ...tool, spec, judgedAs: name }, isReadOnly: tool.readOnly }];
  });
}

function toServer({ callMs = CALL_MS }: RequestMcpParts, tool: McpTool, url: string): McpServer {
  const { authorization, headers, server_label: name } = tool;
  const key = authorization ? { Authorization: toBearer(authorization) } : {};
  const given = Object.entries({ ...headers, ...key });
  const [odd] = given.find(([header, value]) => !isHeader(header, value)) ?? [];
  if (odd !== undefined) {
    const message = `The MCP server \`${name}\` is given \`${odd}\`, which is not a header.`;
    throw new Failure("invalid_request", message, { param: "tools" });
  }
  const oauth = { enabled: false, clientId: undefined, clientSecret: undefined };
  return {
    name,
    reach: {
      kind: "http",
      url,
      headers: Object.fromEntries(given.map(([header, value]) => [header, literally(value)])),
      oauth: { ...oauth, scope: undefined, port: undefined },
    },
    tools: ["*"],
    timeoutMs: callMs,
    enabled: true,
  };
}

function toBearer(authorization: string): string {
  return /^(bearer|basic)\s/i.test(authorization) ? authorization : `Bearer ${authorization}`;
}

function isHeader(name: string, value: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !/[\r\n\0]/.test(value);
}

/** Headers of the settings may name variables of this process; a client's never may. */
function literally(value: string): string {
  return value.replaceAll("$", "$$$$");
}

interface Asked {
  readonly server: McpServer;
  readonly request: KindRequest;
  /** The server's list of tools in the conversation. */
  readonly known: McpListTools | undefined;
}

async function connect(
  parts: RequestMcpParts,
  { server, request, known }: Asked,
): Promise<ConnectedServer> {
  const { clock, version, network, log = silentLog } = parts;
  const { connectMs = CONNECT_MS, listMs = LIST_MS } = parts;
  const { openGuardedFetch } = await import("../../tools/mcp/guarded-fetch.ts");
  const { checkUrl } = await import("../../tools/web/network/url-guard.ts");
  const { createConnection } = await import("../../tools/mcp/session/connection.ts");
  checkUrl(server.reach.kind === "http" ? server.reach.url : "");
  const listing = known && (await readKnown(known, server));
  const opened = openGuardedFetch(network, { connectMs, answerMs: server.timeoutMs });
  const reaching = {
    clock,
    version,
    log,
    connectMs,
    env: {},
    logins: NO_LOGINS,
    // A foreign server must not learn the names of this machine's folders.
    root: "/",
    openFetch: async () => opened.fetch,
  };
  const connection = createConnection(server, reaching, listing);
  const close = async (): Promise<void> => {
    await connection.close();
    await opened.close();
  };
  try {
    const list = async (signal: AbortSignal): Promise<ListedTool[]> =>
      toTools(connection, listing ?? (await connection.list(signal)));
    return {
      tools: await within(list, { server, limitMs: listMs, signal: request.signal }),
      close,
    };
  } catch (thrown) {
    await close();
    throw toRefusal(server, toFailure(thrown));
  }
}

/** The client, with a key of its own, is the one who can log in. */
function toRefusal({ name }: McpServer, failure: Failure): Failure {
  if (failure.code !== "key_missing") return failure;
  const message = `The MCP server \`${name}\` does not accept the request's \`authorization\` (401).`;
  return new Failure("tool_failed", message, { cause: failure });
}

/** The list as the server itself would send it: an item names the fields differently. */
async function readKnown({ tools }: McpListTools, server: McpServer): Promise<Listing> {
  const { toListing } = await import("../../tools/mcp/listing.ts");
  const rows = tools.map(({ name, description, input_schema, annotations }) => ({
    name,
    description,
    inputSchema: input_schema ?? { type: "object" },
    annotations: { readOnlyHint: isJsonObject(annotations) && annotations["read_only"] === true },
  }));
  return toListing(rows, server);
}

async function toTools(connection: McpConnection, listing: Listing): Promise<ListedTool[]> {
  const { toServerTools } = await import("../../tools/mcp/server-tools.ts");
  const { createCompile } = await import("../../tools/mcp/schema-check.ts");
  const parts = { connection, pins: NO_PINS, compile: await createCompile() };
  return toServerTools(listing, parts).tools.flatMap(({ tool, offered }) => {
    const { name } = offered.definition;
    // A client that uses `mcp` does not want resources and prompts.
    if (!listing.tools.has(name)) return [];
    // The client approves each call itself; no approval is stored here.
    const { pin: _, ...plain } = tool;
    return [
      {
        tool: { ...plain, spec: { ...tool.spec, name } },
        isReadOnly: offered.hints.includes("read-only"),
      },
    ];
  });
}

interface Within {
  readonly server: McpServer;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

async function within<Out>(
  work: (signal: AbortSignal) => Promise<Out>,
  { server, limitMs, signal }: Within,
): Promise<Out> {
  const late = new AbortController();
  const message = `The MCP server \`${server.name}\` did not list its tools within ${limitMs / 1000} s.`;
  const timer = setTimeout(() => late.abort(new Failure("tool_failed", message)), limitMs);
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}

const NO_LOGINS: KeptMap = { get: async () => undefined, update: async () => {} };

const NO_PINS: Pins = {
  read: async () => new Map(),
  set: async () => {},
  replace: async () => {},
  forget: async () => {},
};
