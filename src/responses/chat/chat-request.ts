/**
 * The schema of the body of `POST /v1/chat/completions`: every parameter of the published API. A parameter with the
 * same name in the Responses API has the same schema; unknown parameters pass.
 */

import { z } from "zod";
import { JsonObject, open, openEnum, openUnion } from "../../protocol/open.ts";
import { parseAs } from "../../protocol/parse.ts";
import { CreateResponse, ReasoningConfig, TextConfig } from "../../protocol/request.ts";
import { ChatMessage } from "./chat-message.ts";
import {
  ChatFunction,
  ChatTool,
  ChatToolChoice,
  FunctionChoice,
  WebSearchOptions,
} from "./chat-tools.ts";

/** The most choices that the published API allows. */
const MAX_CHOICES = 128;

/**
 * Parameters that both APIs name alike. The last four are not chat's own, but clients of servers that have both APIs
 * send them here too, and they do no harm.
 */
const shared = CreateResponse.pick({
  model: true,
  temperature: true,
  top_p: true,
  top_logprobs: true,
  frequency_penalty: true,
  presence_penalty: true,
  stop: true,
  parallel_tool_calls: true,
  metadata: true,
  user: true,
  safety_identifier: true,
  prompt_cache_key: true,
  prompt_cache_retention: true,
  prompt_cache_options: true,
  moderation: true,
  service_tier: true,
  stream: true,
  reasoning: true,
  truncation: true,
  max_tool_calls: true,
  options: true,
}).shape;

const ResponseFormat = openUnion([
  open({ type: z.literal("text") }),
  open({ type: z.literal("json_object") }),
  open({
    type: z.literal("json_schema"),
    json_schema: open({
      name: z.string(),
      description: z.string().nullable().optional(),
      schema: JsonObject.nullable().optional(),
      strict: z.boolean().nullable().optional(),
    }),
  }),
]);
export type ResponseFormat = z.infer<typeof ResponseFormat>;

const maxTokens = CreateResponse.shape.max_output_tokens;

/** Parameters that only chat has, or that chat spells differently. */
const own = {
  messages: z.array(ChatMessage).refine((messages) => messages.length > 0, {
    error: "is empty; give at least one message",
  }),
  max_tokens: maxTokens,
  max_completion_tokens: maxTokens,
  reasoning_effort: ReasoningConfig.shape.effort,
  verbosity: TextConfig.shape.verbosity,
  response_format: ResponseFormat.nullable().optional(),
  tools: z.array(ChatTool).nullable().optional(),
  tool_choice: ChatToolChoice.nullable().optional(),
  functions: z.array(ChatFunction).nullable().optional(),
  function_call: FunctionChoice.nullable().optional(),
  web_search_options: WebSearchOptions.nullable().optional(),
  logprobs: z.boolean().nullable().optional(),
  n: z.int().min(1).max(MAX_CHOICES).nullable().optional(),
  stream_options: open({
    include_usage: z.boolean().nullable().optional(),
    include_obfuscation: z.boolean().nullable().optional(),
  })
    .nullable()
    .optional(),
  store: z.boolean().nullable().optional(),
  seed: z.number().nullable().optional(),
  logit_bias: z.record(z.string(), z.number()).nullable().optional(),
  prediction: JsonObject.nullable().optional(),
  modalities: z
    .array(openEnum(["text", "audio"]))
    .nullable()
    .optional(),
  audio: JsonObject.nullable().optional(),
};

export const ChatRequest = open({ ...shared, ...own });
export type ChatRequest = z.infer<typeof ChatRequest>;

export const SHARED_PARAMETERS: ReadonlySet<string> = new Set(Object.keys(shared));
export const OWN_PARAMETERS: ReadonlySet<string> = new Set(Object.keys(own));

/** True if a parameter is chat's own or shared with it. Unknown kinds of tools are not. */
export function isChatParameter(name: string): boolean {
  return name !== "tools" && (SHARED_PARAMETERS.has(name) || OWN_PARAMETERS.has(name));
}

export function parseChatRequest(value: unknown): ChatRequest {
  return parseAs(ChatRequest, value, "request");
}
