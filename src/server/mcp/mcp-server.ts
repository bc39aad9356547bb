/**
 * Our agents as an MCP server: tools that start and look after runs, runs as resources, and the prompts that somebody
 * keeps. One server object for each connection; the desk behind it says which agents and runs are the caller's.
 */

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
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
import { inProtocol, listRuns, RUN_TEMPLATES, readRun } from "./run-resources.ts";

export type McpServerParts = CallParts;

const INSTRUCTIONS =
  "Each agent_… tool runs an agent and gives its answer with a run_id. Keep the run_id: run_continue goes on with the same conversation, run_result waits for a run that is still running.";

export function createMcpServer(parts: McpServerParts): Server {
  const { desk } = parts;
  const server = new Server(
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
