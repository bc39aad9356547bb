/** The MCP SDK's own client, which runs `offshoot mcp serve` over a scripted model. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type CallToolResult, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Fault, Script, Upstream } from "../../src/testing/index.ts";
import { PATIENCE_MS } from "../patience.ts";
import { CLI, createPlace, type Place } from "./command.ts";
import { CHAT } from "./wires.ts";

export interface Connected extends AsyncDisposable {
  readonly client: Client;
  readonly place: Place;
  readonly upstream: Upstream;
  readonly transport: StdioClientTransport;
  call(name: string, given: Record<string, unknown>): Promise<CallToolResult>;
}

interface Connecting {
  readonly engine: Script;
  readonly faults?: Fault;
  readonly args?: readonly string[];
  readonly elicit?: "once" | "no";
  readonly place?: Place;
  readonly env?: Readonly<Record<string, string>>;
}

export async function connect({
  args = [],
  elicit,
  env = {},
  place: given,
  ...setup
}: Connecting): Promise<Connected> {
  const place = given ?? (await createPlace());
  const upstream = await CHAT.start(setup);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, "mcp", "serve", ...args],
    cwd: place.cwd,
    env: { ...toEnv(place, upstream), ...env },
  });
  const capabilities = elicit === undefined ? {} : { elicitation: {} };
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  if (elicit !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: "accept",
      content: { decision: elicit },
    }));
  }
  await client.connect(transport);
  return {
    ...{ client, place, upstream, transport },
    call: async (name, input) =>
      (await client.callTool({ name, arguments: input }, undefined, {
        timeout: PATIENCE_MS,
      })) as CallToolResult,
    async [Symbol.asyncDispose]() {
      await client.close();
      await upstream.close();
      if (!given) await place[Symbol.asyncDispose]();
    },
  };
}

function toEnv({ home }: Place, { url }: Upstream): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    OFFSHOOT_PROBE_LOCAL: "false",
    OFFSHOOT_MODEL: "custom/test-model",
    OFFSHOOT_URL: url,
  };
}

export function structured(result: CallToolResult): Record<string, unknown> {
  return result.structuredContent ?? {};
}

export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
