/**
 * All tools of one server: its own, and four of ours for the resources and prompts of a server that has
 * them.
 */

import { createHash } from "node:crypto";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Tool, ToolOutput } from "../tool.ts";
import { toClean } from "./clean-text.ts";
import { toDepthMeta } from "./depth.ts";
import { isWanted, type Listing, type Offered } from "./listing.ts";
import { hashOf } from "./pins.ts";
import { type CallRemote, type Remote, type RemoteParts, toTool } from "./remote-tool.ts";
import { toPromptResult, toResourceResult, toToolResult } from "./result.ts";
import type { McpConnection } from "./session/connection.ts";

export interface ServerTools {
  readonly tools: readonly ServerTool[];
  /** Tools that were left out and why, one line each. */
  readonly problems: readonly string[];
}

export interface ServerTool {
  readonly tool: Tool;
  readonly offered: Offered;
}

export function toServerTools(listing: Listing, parts: RemoteParts): ServerTools {
  const { connection } = parts;
  const own = OWN_TOOLS.filter(({ offered, isThere }) => {
    const { name } = offered.definition;
    return isThere(listing) && !listing.tools.has(name) && isWanted(connection.server, name);
  });
  const names = toToolNames(connection.server.name, [
    ...listing.tools.keys(),
    ...own.map(({ offered }) => offered.definition.name),
  ]);
  const nameOf = ({ definition }: Offered): string => names.get(definition.name) ?? definition.name;
  const remotes = [
    ...[...listing.tools.values()].map((offered) => toRemote(offered, nameOf(offered), connection)),
    ...own.map((tool) => toOwnRemote(tool, nameOf(tool.offered), connection)),
  ];
  const problems = [...listing.problems];
  const tools = remotes.flatMap((remote) => {
    try {
      return [{ tool: toTool(remote, parts), offered: remote.offered }];
    } catch (thrown) {
      const why = toClean(thrown instanceof Error ? thrown.message : String(thrown), 200);
      const name = toClean(remote.offered.definition.name, 60);
      problems.push(`The tool \`${name}\` is left out: its schema is invalid (${why}).`);
      return [];
    }
  });
  return { tools, problems };
}

/** `result.ts` reads whatever the server answers. */
const Anything = z.looseObject({});

function toRemote(offered: Offered, name: string, connection: McpConnection): Remote {
  const remote = offered.definition.name;
  return {
    name,
    offered,
    current: async (signal) => (await connection.list(signal)).tools.get(remote),
    async call(input, { signal, depth, check }) {
      const result = await connection.request({
        signal,
        check: (listing) => check(listing.tools.get(remote)),
        send: (client, options) => {
          const params = { name: remote, arguments: input, ...toDepthMeta(depth) };
          return client.request({ method: "tools/call", params }, Anything, options);
        },
      });
      return toToolResult(result as JsonObject);
    },
  };
}

type Send = Parameters<McpConnection["request"]>[0]["send"];
type SendOptions = Parameters<Send>[1];

interface OwnTool {
  readonly offered: Offered;
  isThere(listing: Listing): boolean;
  send(client: Client, input: JsonObject, options: SendOptions): Promise<Json | ToolOutput>;
}

function toOwnRemote(own: OwnTool, name: string, connection: McpConnection): Remote {
  const call: CallRemote = (input, { signal, check }) =>
    connection.request({
      signal,
      check: (listing) => check(own.isThere(listing) ? own.offered : undefined),
      send: (client, options) => own.send(client, input, options),
    });
  return {
    name,
    offered: own.offered,
    current: async (signal) =>
      own.isThere(await connection.list(signal)) ? own.offered : undefined,
    call,
  };
}

const hasResources = (listing: Listing): boolean => listing.hasResources;
const hasPrompts = (listing: Listing): boolean => listing.hasPrompts;

const OWN_TOOLS: readonly OwnTool[] = [
  {
    offered: define("list_resources", "List the resources of this MCP server.", {}),
    isThere: hasResources,
    async send(client, _, options) {
      const resources = await readPages(client, "resources/list", "resources", options);
      // Templates are newer than resources; not every server supports the request.
      const templates = await readPages(
        client,
        "resources/templates/list",
        "resourceTemplates",
        options,
      ).catch(() => []);
      return {
        resources: resources.map(toRow),
        ...(templates.length > 0 ? { templates: templates.map(toRow) } : {}),
      };
    },
  },
  {
    offered: define("read_resource", "Read a resource of this MCP server by its URI.", {
      uri: { type: "string", description: "As `list_resources` shows it" },
    }),
    isThere: hasResources,
    async send(client, { uri }, options) {
      const request = { method: "resources/read", params: { uri } };
      return toResourceResult((await client.request(request, Anything, options)) as JsonObject);
    },
  },
  {
    offered: define(
      "list_prompts",
      "List the prompts of this MCP server with their arguments.",
      {},
    ),
    isThere: hasPrompts,
    send: async (client, _, options) => ({
      prompts: (await readPages(client, "prompts/list", "prompts", options)).map(toRow),
    }),
  },
  {
    offered: define(
      "get_prompt",
      "Get a prompt of this MCP server, filled in with arguments.",
      {
        name: { type: "string", description: "As `list_prompts` shows it" },
        arguments: { type: "object", additionalProperties: { type: "string" } },
      },
      ["name"],
    ),
    isThere: hasPrompts,
    async send(client, { name, arguments: given = {} }, options) {
      const request = { method: "prompts/get", params: { name, arguments: given } };
      return toPromptResult((await client.request(request, Anything, options)) as JsonObject);
    },
  },
];

function define(
  name: string,
  description: string,
  properties: JsonObject,
  required: readonly string[] = Object.keys(properties),
): Offered {
  const schema = { type: "object", properties, required, additionalProperties: false };
  const definition = { name, description, schema };
  return { definition, hash: hashOf(definition), hints: ["read-only"] };
}

const MAX_PAGES = 20;
const MAX_ROWS = 500;

async function readPages(
  client: Client,
  method: "resources/list" | "resources/templates/list" | "prompts/list",
  field: string,
  options: SendOptions,
): Promise<JsonObject[]> {
  const rows: JsonObject[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && rows.length < MAX_ROWS; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = (await client.request({ method, params }, Anything, options)) as JsonObject;
    const found = answer[field];
    rows.push(...(Array.isArray(found) ? (found as Json[]).filter(isJsonObject) : []));
    const next = answer["nextCursor"];
    if (typeof next !== "string" || next === cursor) break;
    cursor = next;
  }
  return rows.slice(0, MAX_ROWS);
}

/** The fields that a model needs to choose. Icons and annotations are for screens. */
function toRow({
  uri,
  uriTemplate,
  name,
  description,
  mimeType,
  arguments: taken,
}: JsonObject): JsonObject {
  return { uri, uriTemplate, name, description, mimeType, arguments: taken };
}

/** The shortest limit among the vendors. */
const MAX_CHARS = 64;
const HASH_CHARS = 8;

/**
 * The names of a server's tools here: `mcp__SERVER__TOOL`, with the characters and the length that every vendor
 * accepts. They depend only on the server's own list, so they are the same in every run. `remote` are the server's own names, each
 * once.
 */
export function toToolNames(server: string, remote: readonly string[]): Map<string, string> {
  const plain = remote.map((name) => clean(`mcp__${server}__${name}`));
  const taken = new Map<string, number>();
  for (const name of plain) taken.set(name, (taken.get(name) ?? 0) + 1);
  const entries = remote.map((name, index): [string, string] => {
    const short = plain[index] ?? "";
    const isOwn = short === `mcp__${server}__${name}`;
    // If two names become equal when they are cleaned, the one that was clean keeps its name.
    const clashes = (taken.get(short) ?? 0) > 1 && !isOwn;
    return [name, clashes || short.length > MAX_CHARS ? withHash(short, server, name) : short];
  });
  return new Map(entries);
}

function clean(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_");
}

function withHash(short: string, server: string, name: string): string {
  const hash = createHash("sha256").update(`${server}\0${name}`).digest("hex");
  return `${short.slice(0, MAX_CHARS - HASH_CHARS - 1)}_${hash.slice(0, HASH_CHARS)}`;
}
