/**
 * What a request may offer the model to call. Only `function` and `custom` are run by whoever asks;
 * the other kinds name something the server runs, or that a client of a certain vendor runs.
 */

import { z } from "zod";
import { choose, JsonObject, open, openEnum, openUnion, textOr, typesOf } from "./open.ts";

const allowedCallers = z
  .array(openEnum(["direct", "programmatic"]))
  .nullable()
  .optional();

export const FunctionTool = open({
  type: z.literal("function"),
  name: z.string(),
  description: z.string().nullable().optional(),
  /** JSON Schema of the arguments. */
  parameters: JsonObject.nullable().optional(),
  strict: z.boolean().nullable().optional(),
  output_schema: JsonObject.nullable().optional(),
  /** Left out of the prompt until the model finds it with `tool_search`. */
  defer_loading: z.boolean().optional(),
  allowed_callers: allowedCallers,
});
export type FunctionTool = z.infer<typeof FunctionTool>;

/** A tool that takes free text, or text of a grammar, instead of JSON. */
export const CustomTool = open({
  type: z.literal("custom"),
  name: z.string(),
  description: z.string().nullable().optional(),
  format: open({
    type: openEnum(["text", "grammar"]),
    syntax: openEnum(["lark", "regex"]).optional(),
    definition: z.string().optional(),
  })
    .nullable()
    .optional(),
  defer_loading: z.boolean().optional(),
  allowed_callers: allowedCallers,
});
export type CustomTool = z.infer<typeof CustomTool>;

export const FileSearchTool = open({
  type: z.literal("file_search"),
  vector_store_ids: z.array(z.string()),
  max_num_results: z.number().nullable().optional(),
  ranking_options: open({
    ranker: openEnum(["auto", "default-2024-11-15", "default_2024_08_21"]).optional(),
    score_threshold: z.number().optional(),
    hybrid_search: open({ embedding_weight: z.number(), text_weight: z.number() })
      .nullable()
      .optional(),
  })
    .nullable()
    .optional(),
  /** Comparisons (`eq`, `lt`, `in`) and their `and` and `or`, as deep as one likes. */
  filters: JsonObject.nullable().optional(),
});
export type FileSearchTool = z.infer<typeof FileSearchTool>;

export const ComputerTool = open({ type: z.literal("computer") });
export type ComputerTool = z.infer<typeof ComputerTool>;

export const ComputerUsePreviewTool = open({
  type: z.literal("computer_use_preview"),
  display_width: z.number(),
  display_height: z.number(),
  environment: openEnum(["browser", "mac", "windows", "linux", "ubuntu"]),
});
export type ComputerUsePreviewTool = z.infer<typeof ComputerUsePreviewTool>;

const search = {
  search_context_size: openEnum(["low", "medium", "high"]).nullable().optional(),
  user_location: open({
    type: openEnum(["approximate"]).optional(),
    city: z.string().nullable().optional(),
    region: z.string().nullable().optional(),
    country: z.string().nullable().optional(),
    timezone: z.string().nullable().optional(),
  })
    .nullable()
    .optional(),
};

export const WebSearchTool = open({
  type: z.literal(["web_search", "web_search_2025_08_26"]),
  external_web_access: z.boolean().nullable().optional(),
  filters: open({ allowed_domains: z.array(z.string()).nullable().optional() })
    .nullable()
    .optional(),
  ...search,
});
export type WebSearchTool = z.infer<typeof WebSearchTool>;

export const WebSearchPreviewTool = open({
  type: z.literal(["web_search_preview", "web_search_preview_2025_03_11"]),
  search_content_types: z.array(openEnum(["text", "image"])).optional(),
  ...search,
});
export type WebSearchPreviewTool = z.infer<typeof WebSearchPreviewTool>;

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
  /** A secret, as the headers may be: never logged, stored or given back. */
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

const container = {
  file_ids: z.array(z.string()).optional(),
  memory_limit: openEnum(["1g", "4g", "16g", "64g"]).nullable().optional(),
  network_policy: JsonObject.nullable().optional(),
};

export const CodeInterpreterTool = open({
  type: z.literal("code_interpreter"),
  /** The id of a container, or how to make one. */
  container: textOr(open({ type: openEnum(["auto"]), ...container })).optional(),
  allowed_callers: allowedCallers,
});
export type CodeInterpreterTool = z.infer<typeof CodeInterpreterTool>;

/** Lets the model write a program that calls the other tools. */
export const ProgrammaticToolCalling = open({ type: z.literal("programmatic_tool_calling") });
export type ProgrammaticToolCalling = z.infer<typeof ProgrammaticToolCalling>;

export const ImageGenerationTool = open({
  type: z.literal("image_generation"),
  model: z.string().nullable().optional(),
  background: openEnum(["transparent", "opaque", "auto"]).optional(),
  input_fidelity: openEnum(["high", "low"]).nullable().optional(),
  input_image_mask: open({ image_url: z.string().optional(), file_id: z.string().optional() })
    .nullable()
    .optional(),
  moderation: openEnum(["auto", "low"]).optional(),
  /** Percent. */
  output_compression: z.number().min(0).max(100).optional(),
  output_format: openEnum(["png", "jpeg", "webp"]).optional(),
  partial_images: z.number().min(0).max(3).optional(),
  quality: openEnum(["low", "medium", "high", "auto"]).optional(),
  size: openEnum(["1024x1024", "1536x1024", "1024x1536", "auto"]).optional(),
  action: openEnum(["generate", "edit", "auto"]).optional(),
});
export type ImageGenerationTool = z.infer<typeof ImageGenerationTool>;

export const LocalShellTool = open({ type: z.literal("local_shell") });
export type LocalShellTool = z.infer<typeof LocalShellTool>;

export const ShellTool = open({
  type: z.literal("shell"),
  environment: open({
    type: openEnum(["local", "container_auto", "container_reference"]),
    container_id: z.string().optional(),
    skills: z.array(JsonObject).optional(),
    ...container,
  })
    .nullable()
    .optional(),
  allowed_callers: allowedCallers,
});
export type ShellTool = z.infer<typeof ShellTool>;

/** Tools under a common name; a call to one carries the name as `namespace`. */
export const NamespaceTool = open({
  type: z.literal("namespace"),
  name: z.string(),
  description: z.string().nullable().optional(),
  tools: z.array(openUnion([FunctionTool, CustomTool])),
});
export type NamespaceTool = z.infer<typeof NamespaceTool>;

/** Lets the model look for tools that were offered with `defer_loading`. */
export const ToolSearchTool = open({
  type: z.literal("tool_search"),
  execution: openEnum(["server", "client"]).optional(),
  description: z.string().nullable().optional(),
  parameters: JsonObject.nullable().optional(),
});
export type ToolSearchTool = z.infer<typeof ToolSearchTool>;

export const ApplyPatchTool = open({
  type: z.literal("apply_patch"),
  allowed_callers: allowedCallers,
});
export type ApplyPatchTool = z.infer<typeof ApplyPatchTool>;

const TOOL_KINDS = [
  FunctionTool,
  CustomTool,
  FileSearchTool,
  ComputerTool,
  ComputerUsePreviewTool,
  WebSearchTool,
  WebSearchPreviewTool,
  McpTool,
  CodeInterpreterTool,
  ProgrammaticToolCalling,
  ImageGenerationTool,
  LocalShellTool,
  ShellTool,
  NamespaceTool,
  ToolSearchTool,
  ApplyPatchTool,
] as const;

/** Every `type` that a `Tool` names; a tool of another type is kept and passed on. */
export const TOOL_TYPES: readonly string[] = typesOf(TOOL_KINDS);

export const Tool = openUnion(TOOL_KINDS);
export type Tool = z.infer<typeof Tool>;

/** Restricts the model to some of the tools it was offered. */
export const AllowedTools = open({
  type: z.literal("allowed_tools"),
  mode: openEnum(["auto", "required"]),
  /** Each names a tool as a choice would: `{"type": "function", "name": "get_weather"}`. */
  tools: z.array(JsonObject),
});
export type AllowedTools = z.infer<typeof AllowedTools>;

export const NamedToolChoice = open({
  type: z.literal(["function", "custom"]),
  name: z.string(),
});
export type NamedToolChoice = z.infer<typeof NamedToolChoice>;

export const McpToolChoice = open({
  type: z.literal("mcp"),
  server_label: z.string(),
  name: z.string().nullable().optional(),
});
export type McpToolChoice = z.infer<typeof McpToolChoice>;

/** Forces a tool that needs no name. */
export const HostedToolChoice = open({
  type: z.literal([
    "file_search",
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
    "computer",
    "computer_use",
    "computer_use_preview",
    "image_generation",
    "code_interpreter",
    "programmatic_tool_calling",
    "apply_patch",
    "shell",
    "local_shell",
    "tool_search",
  ]),
});
export type HostedToolChoice = z.infer<typeof HostedToolChoice>;

const ToolChoiceMode = z.enum(["auto", "required", "none"]);
const ToolChoiceObject = openUnion([
  AllowedTools,
  NamedToolChoice,
  McpToolChoice,
  HostedToolChoice,
]);

export const ToolChoice = choose<z.infer<typeof ToolChoiceMode> | z.infer<typeof ToolChoiceObject>>(
  (value) => (typeof value === "string" ? ToolChoiceMode : ToolChoiceObject),
  { among: [ToolChoiceMode, ToolChoiceObject] },
);
export type ToolChoice = z.infer<typeof ToolChoice>;
