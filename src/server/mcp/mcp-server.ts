/**
 * Our agents as an MCP server: tools that start and control runs, runs as resources, and stored prompts. Each
 * connection has a server object of its own. The desk that it uses says which agents and runs the caller has.
 */

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { VERSION } from "../../version.ts";
import { toTools } from "./agent-tools.ts";
import { answerCall, type CallParts } from "./call-tools.ts";
import type { Desk } from "./desk.ts";
import { withPlainErrors } from "./plain-errors.ts";
import { inProtocol, listRuns, RUN_TEMPLATES, readRun } from "./run-resources.ts";

export type McpServerParts = CallParts;

const INSTRUCTIONS =
  "Each agent_… tool runs an agent and returns its answer with a run_id. Keep the run_id: run_continue continues the same conversation, run_result waits for a run that is still running.";

export function createMcpServer(parts: McpServerParts): Server {
  const { desk } = parts;
  const server = new PlainServer(
    { name: "offshoot", version: VERSION },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: toTools(desk.agents) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
    answerCall(parts, { name: params.name, given: params.arguments ?? {}, extra }),
  );
  server.setRequestHandler(ListResourcesRequestSchema, () => listRuns(desk));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: RUN_TEMPLATES,
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => readRun(desk, params.uri));
  servePrompts(server, desk);
  return server;
}

class PlainServer extends Server {
  override async connect(transport: Transport): Promise<void> {
    await super.connect(withPlainErrors(transport));
  }
}

function servePrompts(server: Server, { prompts }: Desk): void {
  server.setRequestHandler(ListPromptsRequestSchema, async () => {
    const found = await inProtocol(() => prompts.list());
    return {
      prompts: found.map(({ name, description, arguments: taken }) => ({
        name,
        description,
        arguments: taken.map((one) => ({ ...one })),
      })),
    };
  });
  server.setRequestHandler(GetPromptRequestSchema, async ({ params }) => {
    const text = await inProtocol(() => prompts.fill(params.name, params.arguments ?? {}));
    return { messages: [{ role: "user", content: { type: "text", text } }] };
  });
}
