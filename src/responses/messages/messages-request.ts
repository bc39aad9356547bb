/**
 * The schema of the body of `POST /v1/messages`: blocks, tools and parameters of the published API and of its betas.
 * Known ones are checked; unknown fields, blocks and kinds of tools pass, because clients send new ones every month
 * and a refusal ends their session.
 */

import { z } from "zod";
import { JsonObject, JsonValue, open, openEnum, openUnion, textOr } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";

const cache_control = JsonObject.nullable().optional();

const TextParam = open({
  type: z.literal("text"),
  text: z.string(),
  citations: z.array(JsonObject).nullable().optional(),
  cache_control,
});
export type TextParam = z.infer<typeof TextParam>;

const MessagesSource = openUnion([
  open({ type: z.literal("base64"), media_type: z.string(), data: z.string() }),
  open({ type: z.literal("url"), url: z.string() }),
  open({ type: z.literal("file"), file_id: z.string() }),
  open({ type: z.literal("text"), data: z.string() }),
  open({ type: z.literal("content"), content: textOr(z.array(JsonObject)) }),
]);
export type MessagesSource = z.infer<typeof MessagesSource>;

const ImageParam = open({ type: z.literal("image"), source: MessagesSource, cache_control });

const DocumentParam = open({
  type: z.literal("document"),
  source: MessagesSource,
  title: z.string().nullable().optional(),
  context: z.string().nullable().optional(),
  citations: JsonObject.nullable().optional(),
  cache_control,
});
export type DocumentParam = z.infer<typeof DocumentParam>;

const SearchResultParam = open({
  type: z.literal("search_result"),
  source: z.string(),
  title: z.string(),
  content: z.array(TextParam),
  cache_control,
});
export type SearchResultParam = z.infer<typeof SearchResultParam>;

const ToolReference = open({ type: z.literal("tool_reference"), tool_name: z.string() });

const ToolResultParam = open({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: textOr(
    z.array(openUnion([TextParam, ImageParam, DocumentParam, SearchResultParam, ToolReference])),
  )
    .nullable()
    .optional(),
  is_error: z.boolean().nullable().optional(),
  cache_control,
});
export type ToolResultParam = z.infer<typeof ToolResultParam>;

const BLOCK_KINDS = [
  TextParam,
  ImageParam,
  DocumentParam,
  SearchResultParam,
  ToolResultParam,
  open({
    type: z.literal("thinking"),
    thinking: z.string(),
    signature: z.string().nullable().optional(),
  }),
  open({ type: z.literal("redacted_thinking"), data: z.string() }),
  open({ type: z.literal("tool_use"), id: z.string(), name: z.string(), input: JsonValue }),
  open({ type: z.literal("server_tool_use"), id: z.string(), name: z.string(), input: JsonValue }),
] as const;

const BlockParam = openUnion(BLOCK_KINDS);
/** At run time it may be of a kind that is not named here. */
export type BlockParam = z.infer<typeof BlockParam>;

const MessageParam = open({
  role: z.enum(["user", "assistant", "system"]),
  content: textOr(z.array(BlockParam)),
});
export type MessageParam = z.infer<typeof MessageParam>;

const ToolParam = open({
  /** `custom` when left out; else one of the vendor's own kinds, with its version. */
  type: z.string().nullable().optional(),
  name: z.string().nullable().optional(),
  description: z.string().nullable().optional(),
  input_schema: JsonObject.nullable().optional(),
  strict: z.boolean().nullable().optional(),
  defer_loading: z.boolean().nullable().optional(),
});
export type ToolParam = z.infer<typeof ToolParam>;

const ToolChoiceParam = open({
  type: openEnum(["auto", "any", "tool", "none"]),
  name: z.string().nullable().optional(),
  disable_parallel_tool_use: z.boolean().nullable().optional(),
});
export type ToolChoiceParam = z.infer<typeof ToolChoiceParam>;

const ThinkingParam = open({
  type: openEnum(["enabled", "adaptive", "disabled"]),
  budget_tokens: z.number().nullable().optional(),
  display: openEnum(["summarized", "omitted"]).nullable().optional(),
});

const OutputFormat = open({ type: z.string(), schema: JsonObject.optional() });

export const ContextEdit = open({ type: z.string() });
export type ContextEdit = z.infer<typeof ContextEdit>;

const McpServerParam = open({
  name: z.string(),
  url: z.string(),
  authorization_token: z.string().nullable().optional(),
  tool_configuration: JsonObject.nullable().optional(),
});
export type McpServerParam = z.infer<typeof McpServerParam>;

export const MessagesRequest = open({
  /**
   * The published API requires both. A server may have a default model, and each model has a limit.
   */
  model: z.string().nullable().optional(),
  max_tokens: z.int().min(1).nullable().optional(),
  messages: z.array(MessageParam).refine((messages) => messages.length > 0, {
    error: "is empty; give at least one message",
  }),
  system: textOr(z.array(openUnion([TextParam])))
    .nullable()
    .optional(),
  stream: z.boolean().nullable().optional(),
  /** Marks the end of the conversation for the cache. */
  cache_control,
  temperature: z.number().min(0).max(1).nullable().optional(),
  top_p: z.number().min(0).max(1).nullable().optional(),
  top_k: z.number().nullable().optional(),
  stop_sequences: z.array(z.string()).nullable().optional(),
  tools: z.array(ToolParam).nullable().optional(),
  tool_choice: ToolChoiceParam.nullable().optional(),
  thinking: ThinkingParam.nullable().optional(),
  output_config: open({
    effort: openEnum(["low", "medium", "high", "xhigh", "max"]).nullable().optional(),
    format: OutputFormat.nullable().optional(),
  })
    .nullable()
    .optional(),
  output_format: OutputFormat.nullable().optional(),
  context_management: open({ edits: z.array(ContextEdit).nullable().optional() })
    .nullable()
    .optional(),
  mcp_servers: z.array(McpServerParam).nullable().optional(),
  metadata: open({ user_id: z.string().nullable().optional() }).nullable().optional(),
  service_tier: z.string().nullable().optional(),
  /** A field of this server: stores the response, so that it is in the record of runs. */
  store: z.boolean().nullable().optional(),
});
export type MessagesRequest = z.infer<typeof MessagesRequest>;

export function parseMessagesRequest(value: unknown): MessagesRequest {
  return parseAs(MessagesRequest, value, "request");
}
