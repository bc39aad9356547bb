/** `mcp`: the tools of an MCP server. */

import { z } from "zod";
import { event, place } from "../event-fields.ts";
import { itemFields } from "../item-fields.ts";
import { choose, JsonObject, JsonValue, open, openEnum, textOr } from "../open.ts";
import { allowedCallers } from "../tool-fields.ts";
import { type HostedKind, toEnds, toWriting } from "./hosted-kind.ts";

const mcpFilter = open({
  tool_names: z.array(z.string()).optional(),
  read_only: z.boolean().optional(),
});

const names = z.array(z.string());

/** Tools of an MCP server, reached by URL, by a vendor's connector or through a tunnel. */
export const McpTool = open({
  type: z.literal("mcp"),
  server_label: z.string(),
  server_url: z.string().nullable().optional(),
  connector_id: z.string().nullable().optional(),
  tunnel_id: z.string().nullable().optional(),
  server_description: z.string().nullable().optional(),
  /** A secret, as the headers may be: never logged, stored or sent back. */
  authorization: z.string().nullable().optional(),
  headers: z.record(z.string(), z.string()).nullable().optional(),
  allowed_tools: choose<string[] | z.infer<typeof mcpFilter>>(
    (value) => (Array.isArray(value) ? names : mcpFilter),
    { among: [names, mcpFilter] },
  )
    .nullable()
    .optional(),
  allowed_callers: allowedCallers,
  /** "always", "never", or which tools fall under each. */
  require_approval: textOr(open({ always: mcpFilter.optional(), never: mcpFilter.optional() }))
    .nullable()
    .optional(),
  defer_loading: z.boolean().optional(),
});
export type McpTool = z.infer<typeof McpTool>;

export const McpCall = open({
  type: z.literal("mcp_call"),
  ...itemFields,
  server_label: z.string(),
  name: z.string(),
  arguments: z.string(),
  output: z.string().nullable().optional(),
  /** Text in older answers, an object with a `type` in newer ones. */
  error: textOr(JsonObject).nullable().optional(),
  approval_request_id: z.string().nullable().optional(),
  status: openEnum(["in_progress", "calling", "completed", "incomplete", "failed"])
    .nullable()
    .optional(),
});
export type McpCall = z.infer<typeof McpCall>;

export const McpListTools = open({
  type: z.literal("mcp_list_tools"),
  ...itemFields,
  server_label: z.string(),
  tools: z.array(
    open({
      name: z.string(),
      description: z.string().nullable().optional(),
      input_schema: JsonValue.optional(),
      annotations: JsonValue.optional(),
    }),
  ),
  error: textOr(JsonObject).nullable().optional(),
});
export type McpListTools = z.infer<typeof McpListTools>;

export const McpApprovalRequest = open({
  type: z.literal("mcp_approval_request"),
  ...itemFields,
  server_label: z.string(),
  name: z.string(),
  /** JSON text in the published API; some servers send the object. */
  arguments: textOr(JsonObject),
});
export type McpApprovalRequest = z.infer<typeof McpApprovalRequest>;

export const McpApprovalResponse = open({
  type: z.literal("mcp_approval_response"),
  ...itemFields,
  approval_request_id: z.string(),
  approve: z.boolean(),
  reason: z.string().nullable().optional(),
});
export type McpApprovalResponse = z.infer<typeof McpApprovalResponse>;

export const McpCallArgumentsDone = event(["response.mcp_call_arguments.done"], {
  ...place,
  arguments: z.string(),
});
export type McpCallArgumentsDone = z.infer<typeof McpCallArgumentsDone>;

export const MCP = {
  name: "mcp",
  tools: [McpTool],
  spellings: undefined,
  // Tools of this server itself are restricted one by one.
  runs: (tool: McpTool): boolean => Boolean(tool.server_url || tool.connector_id),
  // A choice names the server.
  choices: [],
  items: {
    mcp_call: {
      idPrefix: "mcp",
      cut: "incomplete",
      always: { status: "completed" },
      answeredBy: undefined,
      optional: {},
      progress: toEnds("mcp_call"),
      writes: toWriting("mcp_call_arguments", "arguments"),
    },
    mcp_list_tools: {
      idPrefix: "mcpl",
      cut: "incomplete",
      always: {},
      answeredBy: undefined,
      optional: {},
      progress: toEnds("mcp_list_tools"),
      writes: undefined,
    },
    mcp_approval_request: {
      idPrefix: "mcpr",
      cut: "incomplete",
      always: {},
      answeredBy: "mcp_approval_response",
      optional: {},
      progress: undefined,
      writes: undefined,
    },
    mcp_approval_response: {
      idPrefix: "item",
      cut: "incomplete",
      always: {},
      answeredBy: undefined,
      optional: {},
      progress: undefined,
      writes: undefined,
    },
  },
  itemSchemas: [McpCall, McpListTools, McpApprovalRequest, McpApprovalResponse],
  events: [McpCallArgumentsDone],
} as const satisfies HostedKind;
