/** The MCP SDK's own client at the door of a server, with or without forms and progress. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type CallToolResult,
  ElicitRequestSchema,
  type ElicitResult,
} from "@modelcontextprotocol/sdk/types.js";
import type { Upstream } from "../../src/testing/index.ts";
import { PATIENCE_MS } from "../patience.ts";

export interface McpClient extends AsyncDisposable {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  /** The forms that it was shown. */
  readonly forms: string[];
  call(name: string, given: Record<string, unknown>, signal?: AbortSignal): Promise<CallToolResult>;
}

export interface McpClientSetup {
  readonly token?: string | undefined;
  readonly query?: string | undefined;
  /** The person's choice; a client that shows no forms when left out. */
  readonly elicit?: ((message: string) => ElicitResult | Promise<ElicitResult>) | undefined;
  /** What it says that it can show; forms when left out. */
  readonly elicitation?: Record<string, object> | undefined;
  readonly fetch?: typeof fetch | undefined;
}

export async function connectMcp(
  url: string,
  { token, query = "", elicit, elicitation = {}, fetch: send }: McpClientSetup = {},
): Promise<McpClient> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), {
    requestInit: { headers },
    ...(send ? { fetch: send } : {}),
  });
  const capabilities = elicit ? { elicitation } : {};
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  const forms: string[] = [];
  if (elicit) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      forms.push(params.message);
      return await elicit(params.message);
    });
  }
  await client.connect(transport as Transport);
  return {
    client,
    transport,
    forms,
    call: async (name, given, signal) =>
      (await client.callTool({ name, arguments: given }, undefined, {
        timeout: PATIENCE_MS,
        ...(signal ? { signal } : {}),
      })) as CallToolResult,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

export function structuredOf(result: CallToolResult): Record<string, unknown> {
  return result.structuredContent ?? {};
}

export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** The names of the tools that a model was offered with its last request. */
export function offeredTools({ requests }: Pick<Upstream, "requests">): string[] {
  const body = requests.at(-1)?.body as { tools?: { function: { name: string } }[] } | undefined;
  return (body?.tools ?? []).map((tool) => tool.function.name);
}
