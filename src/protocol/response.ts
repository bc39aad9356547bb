/**
 * The answer to `POST /v1/responses`, as any server of the API may write it. Servers leave out what
 * does not concern them, so little is required here; `emitted.ts` says what ours always sends.
 */

import { z } from "zod";
import { InputItem, Item } from "./items.ts";
import { JsonObject, JsonValue, open, openEnum, textOr } from "./open.ts";
import { parseAs } from "./parse.ts";
import { Prompt, ServiceTier } from "./request.ts";
import { Tool, ToolChoice } from "./tools.ts";

export const ResponseStatus = z.enum([
  "queued",
  "in_progress",
  "completed",
  "incomplete",
  "cancelled",
  "failed",
]);
export type ResponseStatus = z.infer<typeof ResponseStatus>;

export const ResponseError = open({
  code: openEnum([
    "server_error",
    "rate_limit_exceeded",
    "invalid_prompt",
    "data_residency_mismatch",
    "bio_policy",
    "vector_store_timeout",
    "invalid_image",
    "invalid_image_format",
    "invalid_base64_image",
    "invalid_image_url",
    "image_too_large",
    "image_too_small",
    "image_parse_error",
    "image_content_policy_violation",
    "invalid_image_mode",
    "image_file_too_large",
    "unsupported_image_media_type",
    "empty_image_file",
    "failed_to_download_image",
    "image_file_not_found",
  ])
    .nullable()
    .optional(),
  message: z.string(),
});
export type ResponseError = z.infer<typeof ResponseError>;

export const IncompleteDetails = open({
  reason: openEnum(["max_output_tokens", "content_filter"]).nullable().optional(),
});
export type IncompleteDetails = z.infer<typeof IncompleteDetails>;

/** Token counts; some servers give the totals alone. */
export const ResponseUsage = open({
  input_tokens: z.number(),
  input_tokens_details: open({
    cached_tokens: z.number().nullable().optional(),
    cache_write_tokens: z.number().nullable().optional(),
  })
    .nullable()
    .optional(),
  output_tokens: z.number(),
  output_tokens_details: open({ reasoning_tokens: z.number().nullable().optional() })
    .nullable()
    .optional(),
  total_tokens: z.number().optional(),
});
export type ResponseUsage = z.infer<typeof ResponseUsage>;

/** The request's parameters as the server understood them. */
const echoed = {
  model: z.string(),
  instructions: textOr(z.array(InputItem)).nullable().optional(),
  prompt: Prompt.nullable().optional(),
  previous_response_id: z.string().nullable().optional(),
  conversation: open({ id: z.string() }).nullable().optional(),
  tools: z.array(Tool).nullable().optional(),
  tool_choice: ToolChoice.nullable().optional(),
  parallel_tool_calls: z.boolean().nullable().optional(),
  reasoning: JsonObject.nullable().optional(),
  reasoning_effort: z.string().nullable().optional(),
  text: JsonObject.nullable().optional(),
  truncation: openEnum(["auto", "disabled"]).nullable().optional(),
  temperature: z.number().nullable().optional(),
  top_p: z.number().nullable().optional(),
  top_logprobs: z.number().nullable().optional(),
  frequency_penalty: z.number().nullable().optional(),
  presence_penalty: z.number().nullable().optional(),
  max_output_tokens: z.number().nullable().optional(),
  max_tool_calls: z.number().nullable().optional(),
  store: z.boolean().nullable().optional(),
  background: z.boolean().nullable().optional(),
  service_tier: ServiceTier.nullable().optional(),
  safety_identifier: z.string().nullable().optional(),
  prompt_cache_key: z.string().nullable().optional(),
  prompt_cache_retention: openEnum(["in_memory", "24h"]).nullable().optional(),
  prompt_cache_options: JsonObject.nullable().optional(),
  moderation: JsonObject.nullable().optional(),
  user: z.string().nullable().optional(),
};

export const Response = open({
  id: z.string(),
  object: z.literal("response"),
  /** Seconds. */
  created_at: z.number(),
  completed_at: z.number().nullable().optional(),
  status: ResponseStatus.optional(),
  error: ResponseError.nullable().optional(),
  incomplete_details: IncompleteDetails.nullable().optional(),
  output: z.array(Item),
  /** The text of all messages, joined. */
  output_text: z.string().nullable().optional(),
  /** Null until the response has ended. */
  usage: ResponseUsage.nullable().optional(),
  metadata: z.record(z.string(), JsonValue).nullable().optional(),
  ...echoed,
});
export type Response = z.infer<typeof Response>;

export function parseResponse(value: unknown): Response {
  return parseAs(Response, value, "response");
}
