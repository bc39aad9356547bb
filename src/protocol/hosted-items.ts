/**
 * What the vendors' own tools, and the tools only certain clients run, leave in a conversation. Most
 * runs never look inside: the items are kept so that the next request can give them back whole.
 */

import { z } from "zod";
import { ComputerScreenshot } from "./content.ts";
import { callFields, itemFields, itemStatus } from "./item-fields.ts";
import { JsonObject, JsonValue, open, openEnum, textOr } from "./open.ts";
import { Tool } from "./tools.ts";

export const FileSearchCall = open({
  type: z.literal("file_search_call"),
  ...itemFields,
  status: openEnum(["in_progress", "searching", "completed", "incomplete", "failed"]).optional(),
  queries: z.array(z.string()),
  results: z
    .array(
      open({
        file_id: z.string().optional(),
        filename: z.string().optional(),
        score: z.number().optional(),
        text: z.string().optional(),
        attributes: JsonObject.nullable().optional(),
      }),
    )
    .nullable()
    .optional(),
});
export type FileSearchCall = z.infer<typeof FileSearchCall>;

export const WebSearchCall = open({
  type: z.literal("web_search_call"),
  ...itemFields,
  status: openEnum(["in_progress", "searching", "completed", "failed"]).optional(),
  /** `search`, `open_page` or `find_in_page`, with its own fields. */
  action: open({
    type: openEnum(["search", "open_page", "find_in_page"]),
    query: z.string().nullable().optional(),
    queries: z.array(z.string()).nullable().optional(),
    sources: z.array(JsonObject).nullable().optional(),
    url: z.string().nullable().optional(),
    pattern: z.string().nullable().optional(),
  })
    .nullable()
    .optional(),
});
export type WebSearchCall = z.infer<typeof WebSearchCall>;

/** `click` with its place, `type` with its text, and so on. */
const computerAction = open({
  type: openEnum([
    "click",
    "double_click",
    "drag",
    "keypress",
    "move",
    "screenshot",
    "scroll",
    "type",
    "wait",
  ]),
  x: z.number().optional(),
  y: z.number().optional(),
  scroll_x: z.number().optional(),
  scroll_y: z.number().optional(),
  button: openEnum(["left", "right", "wheel", "back", "forward"]).optional(),
  keys: z.array(z.string()).nullable().optional(),
  path: z.array(open({ x: z.number(), y: z.number() })).optional(),
  text: z.string().optional(),
});

const safetyCheck = open({
  id: z.string(),
  code: z.string().nullable().optional(),
  message: z.string().nullable().optional(),
});

export const ComputerCall = open({
  type: z.literal("computer_call"),
  ...callFields,
  action: computerAction.nullable().optional(),
  actions: z.array(computerAction).nullable().optional(),
  pending_safety_checks: z.array(safetyCheck).optional(),
  status: itemStatus,
});
export type ComputerCall = z.infer<typeof ComputerCall>;

export const ComputerCallOutput = open({
  type: z.literal("computer_call_output"),
  ...callFields,
  output: ComputerScreenshot,
  acknowledged_safety_checks: z.array(safetyCheck).nullable().optional(),
  status: openEnum(["in_progress", "completed", "incomplete", "failed"]).nullable().optional(),
});
export type ComputerCallOutput = z.infer<typeof ComputerCallOutput>;

export const CodeInterpreterCall = open({
  type: z.literal("code_interpreter_call"),
  ...itemFields,
  code: z.string().nullable().optional(),
  container_id: z.string().optional(),
  outputs: z
    .array(
      open({
        type: openEnum(["logs", "image", "file"]),
        logs: z.string().optional(),
        url: z.string().optional(),
        image_url: z.string().optional(),
        file_id: z.string().optional(),
      }),
    )
    .nullable()
    .optional(),
  status: openEnum(["in_progress", "interpreting", "completed", "incomplete", "failed"]).optional(),
});
export type CodeInterpreterCall = z.infer<typeof CodeInterpreterCall>;

export const ImageGenerationCall = open({
  type: z.literal("image_generation_call"),
  ...itemFields,
  /** Base64. */
  result: z.string().nullable().optional(),
  status: openEnum(["in_progress", "generating", "completed", "failed"]).optional(),
  revised_prompt: z.string().nullable().optional(),
});
export type ImageGenerationCall = z.infer<typeof ImageGenerationCall>;

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

export const LocalShellCall = open({
  type: z.literal("local_shell_call"),
  ...callFields,
  action: open({
    type: openEnum(["exec"]),
    command: z.array(z.string()),
    env: z.record(z.string(), z.string()).nullable().optional(),
    timeout_ms: z.number().nullable().optional(),
    user: z.string().nullable().optional(),
    working_directory: z.string().nullable().optional(),
  }),
  status: itemStatus,
});
export type LocalShellCall = z.infer<typeof LocalShellCall>;

/** Paired with its call by `id` in the published API, by `call_id` elsewhere. */
export const LocalShellCallOutput = open({
  type: z.literal("local_shell_call_output"),
  ...itemFields,
  call_id: z.string().nullable().optional(),
  output: z.string(),
  status: itemStatus,
});
export type LocalShellCallOutput = z.infer<typeof LocalShellCallOutput>;

export const ShellCall = open({
  type: z.literal("shell_call"),
  ...callFields,
  action: open({
    commands: z.array(z.string()),
    timeout_ms: z.number().nullable().optional(),
    max_output_length: z.number().nullable().optional(),
  }),
  environment: JsonObject.nullable().optional(),
  status: itemStatus,
});
export type ShellCall = z.infer<typeof ShellCall>;

/** What one command wrote, and how it ended. */
export const ShellOutput = open({
  stdout: z.string(),
  stderr: z.string(),
  outcome: open({ type: openEnum(["exit", "timeout"]), exit_code: z.number().optional() }),
});
export type ShellOutput = z.infer<typeof ShellOutput>;

export const ShellCallOutput = open({
  type: z.literal("shell_call_output"),
  ...callFields,
  output: z.array(ShellOutput),
  max_output_length: z.number().nullable().optional(),
  status: itemStatus,
});
export type ShellCallOutput = z.infer<typeof ShellCallOutput>;

export const ApplyPatchCall = open({
  type: z.literal("apply_patch_call"),
  ...callFields,
  operation: open({
    type: openEnum(["create_file", "update_file", "delete_file"]),
    path: z.string(),
    /** Absent when a file is deleted. */
    diff: z.string().optional(),
  }),
  status: openEnum(["in_progress", "completed"]).optional(),
});
export type ApplyPatchCall = z.infer<typeof ApplyPatchCall>;

export const ApplyPatchCallOutput = open({
  type: z.literal("apply_patch_call_output"),
  ...callFields,
  output: z.string().nullable().optional(),
  status: openEnum(["completed", "failed"]).optional(),
});
export type ApplyPatchCallOutput = z.infer<typeof ApplyPatchCallOutput>;

const toolSearchFields = {
  ...itemFields,
  /** Null where the server searches itself. */
  call_id: z.string().nullable().optional(),
  execution: openEnum(["server", "client"]).optional(),
  status: itemStatus,
};

export const ToolSearchCall = open({
  type: z.literal("tool_search_call"),
  ...toolSearchFields,
  arguments: JsonValue,
});
export type ToolSearchCall = z.infer<typeof ToolSearchCall>;

export const ToolSearchCallOutput = open({
  type: z.literal("tool_search_output"),
  ...toolSearchFields,
  tools: z.array(Tool),
});
export type ToolSearchCallOutput = z.infer<typeof ToolSearchCallOutput>;

/** A program the model wrote to call tools; its calls name it as their `caller`. */
export const Program = open({
  type: z.literal("program"),
  ...itemFields,
  call_id: z.string(),
  code: z.string(),
  fingerprint: z.string().optional(),
});
export type Program = z.infer<typeof Program>;

export const ProgramOutput = open({
  type: z.literal("program_output"),
  ...itemFields,
  call_id: z.string(),
  result: z.string(),
  status: openEnum(["completed", "incomplete"]).optional(),
});
export type ProgramOutput = z.infer<typeof ProgramOutput>;

export const HOSTED_ITEM_KINDS = [
  FileSearchCall,
  WebSearchCall,
  ComputerCall,
  ComputerCallOutput,
  CodeInterpreterCall,
  ImageGenerationCall,
  McpCall,
  McpListTools,
  McpApprovalRequest,
  McpApprovalResponse,
  LocalShellCall,
  LocalShellCallOutput,
  ShellCall,
  ShellCallOutput,
  ApplyPatchCall,
  ApplyPatchCallOutput,
  ToolSearchCall,
  ToolSearchCallOutput,
  Program,
  ProgramOutput,
] as const;
