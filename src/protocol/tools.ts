/**
 * The tools that a request may offer to the model. The client runs `function`, `custom` and `namespace`. The kinds
 * of `hosted-kinds/` name something that the server runs, or that a client of a certain vendor runs.
 */

import { z } from "zod";
import { type AnyHostedKind, HOSTED_KINDS } from "./hosted-kinds/hosted-kinds.ts";
import { choose, JsonObject, open, openEnum, openUnion, typesOf } from "./open.ts";
import { allowedCallers } from "./tool-fields.ts";

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

/** Tools under a common name; a call to one carries the name as `namespace`. */
export const NamespaceTool = open({
  type: z.literal("namespace"),
  name: z.string(),
  description: z.string().nullable().optional(),
  tools: z.array(openUnion([FunctionTool, CustomTool])),
});
export type NamespaceTool = z.infer<typeof NamespaceTool>;

type HostedTool = AnyHostedKind["tools"][number];

const TOOL_KINDS = [
  FunctionTool,
  CustomTool,
  NamespaceTool,
  ...HOSTED_KINDS.flatMap(({ tools }): readonly HostedTool[] => tools),
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

type HostedChoice = AnyHostedKind["choices"][number];

/** Forces a tool that needs no name. */
export const HostedToolChoice = open({
  type: z.literal(HOSTED_KINDS.flatMap(({ choices }): readonly HostedChoice[] => choices)),
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
