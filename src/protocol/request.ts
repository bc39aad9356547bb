/**
 * The body of `POST /v1/responses`: every parameter of the published API, and those that compatible
 * servers add. A wrong value of a known parameter is refused by name; unknown ones pass. Rules over
 * several parameters (`conversation` with `previous_response_id`) are the server's: they depend on
 * its defaults.
 */

import { z } from "zod";
import { HOSTED_INCLUDES } from "./hosted-kinds/includes.ts";
import { InputItem } from "./items.ts";
import { JsonObject, JsonValue, open, openEnum, openUnion, textOr } from "./open.ts";
import { parseAs } from "./parse.ts";
import { isPlainRequest } from "./plain-request.ts";
import { Tool, ToolChoice } from "./tools.ts";

const MAX_METADATA_PAIRS = 16;
const MAX_METADATA_KEY_CHARS = 64;
const MAX_METADATA_VALUE_CHARS = 512;
/** Longest `safety_identifier` and `prompt_cache_key`. */
const MAX_KEY_CHARS = 64;
const MIN_COMPACT_THRESHOLD_TOKENS = 1000;

export const Metadata = z.record(z.string(), z.string()).superRefine((pairs, context) => {
  const keys = Object.keys(pairs);
  if (keys.length > MAX_METADATA_PAIRS) {
    const message = `has ${keys.length} pairs; at most ${MAX_METADATA_PAIRS} are allowed`;
    context.addIssue({ code: "custom", message });
  }
  for (const key of keys) {
    if (key.length <= MAX_METADATA_KEY_CHARS) continue;
    const message = `has a key of ${key.length} characters; at most ${MAX_METADATA_KEY_CHARS} are allowed`;
    context.addIssue({ code: "custom", message });
  }
  for (const [key, value] of Object.entries(pairs)) {
    if (value.length <= MAX_METADATA_VALUE_CHARS) continue;
    const message = `has ${value.length} characters; at most ${MAX_METADATA_VALUE_CHARS} are allowed`;
    context.addIssue({ code: "custom", message, path: [key] });
  }
});
export type Metadata = z.infer<typeof Metadata>;

export const TextFormat = openUnion([
  open({ type: z.literal("text") }),
  open({ type: z.literal("json_object") }),
  open({
    type: z.literal("json_schema"),
    name: z.string(),
    description: z.string().nullable().optional(),
    schema: JsonObject,
    strict: z.boolean().nullable().optional(),
  }),
]);
export type TextFormat = z.infer<typeof TextFormat>;

export const TextConfig = open({
  format: TextFormat.nullable().optional(),
  verbosity: z.enum(["low", "medium", "high"]).nullable().optional(),
});
export type TextConfig = z.infer<typeof TextConfig>;

export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

const summary = z.enum(["auto", "concise", "detailed"]).nullable().optional();

export const ReasoningConfig = open({
  effort: z.enum(EFFORTS).nullable().optional(),
  summary,
  /** The older name of `summary`. */
  generate_summary: summary,
  /** Of the Messages API: the text of thoughts is left out. */
  display: openEnum(["omitted"]).nullable().optional(),
  /** Which turns' reasoning the model is shown again. */
  context: openEnum(["auto", "current_turn", "all_turns"]).nullable().optional(),
  mode: openEnum(["standard", "pro"]).nullable().optional(),
});
export type ReasoningConfig = z.infer<typeof ReasoningConfig>;

/** Output that is left out by default and that a client may ask for. */
export const INCLUDES = [
  ...HOSTED_INCLUDES,
  "message.input_image.image_url",
  "message.output_text.logprobs",
  "reasoning.encrypted_content",
] as const;
/** Other words pass, and are reported as ignored. */
export const Include = openEnum(INCLUDES);
export type Include = z.infer<typeof Include>;

export const ServiceTier = openEnum([
  "auto",
  "default",
  "flex",
  "scale",
  "priority",
  "fast",
  "ultrafast",
]);
export type ServiceTier = z.infer<typeof ServiceTier>;

/** A prompt that the server stores, with values for its variables. */
export const Prompt = open({
  id: z.string(),
  version: z.string().nullable().optional(),
  variables: z.record(z.string(), JsonValue).nullable().optional(),
});
export type Prompt = z.infer<typeof Prompt>;

export const ContextManagement = open({
  type: openEnum(["compaction"]),
  compact_threshold: z.int().min(MIN_COMPACT_THRESHOLD_TOKENS).nullable().optional(),
});
export type ContextManagement = z.infer<typeof ContextManagement>;

const sampling = {
  temperature: z.number().min(0).max(2).nullable().optional(),
  top_p: z.number().min(0).max(1).nullable().optional(),
  top_logprobs: z.int().min(0).max(20).nullable().optional(),
  frequency_penalty: z.number().min(-2).max(2).nullable().optional(),
  presence_penalty: z.number().min(-2).max(2).nullable().optional(),
  stop: textOr(z.array(z.string())).nullable().optional(),
  max_output_tokens: z.int().min(1).nullable().optional(),
  max_tool_calls: z.int().min(0).nullable().optional(),
};

const tooling = {
  tools: z.array(Tool).nullable().optional(),
  tool_choice: ToolChoice.nullable().optional(),
  parallel_tool_calls: z.boolean().nullable().optional(),
  multi_agent: open({
    enabled: z.boolean(),
    max_concurrent_subagents: z.int().min(1).nullable().optional(),
  })
    .nullable()
    .optional(),
};

const state = {
  previous_response_id: z.string().nullable().optional(),
  conversation: textOr(open({ id: z.string() }))
    .nullable()
    .optional(),
  store: z.boolean().nullable().optional(),
  background: z.boolean().nullable().optional(),
  truncation: z.enum(["auto", "disabled"]).nullable().optional(),
  context_management: z.array(ContextManagement).nullable().optional(),
};

const service = {
  service_tier: ServiceTier.nullable().optional(),
  metadata: Metadata.nullable().optional(),
  user: z.string().nullable().optional(),
  safety_identifier: z.string().max(MAX_KEY_CHARS).nullable().optional(),
  prompt_cache_key: z.string().max(MAX_KEY_CHARS).nullable().optional(),
  prompt_cache_retention: openEnum(["in_memory", "24h"]).nullable().optional(),
  prompt_cache_options: open({
    ttl: openEnum(["30m"]).optional(),
    mode: openEnum(["implicit", "explicit"]).optional(),
  })
    .nullable()
    .optional(),
  moderation: JsonObject.nullable().optional(),
  /** A field of this server: options of the model's vendor, as its API spells them. */
  options: JsonObject.nullable().optional(),
};

export const CreateResponse = open({
  /**
   * Both may be missing: a server may have a default model, and a chain or a prompt may supply the input.
   */
  model: z.string().nullable().optional(),
  input: textOr(z.array(InputItem)).nullable().optional(),
  instructions: z.string().nullable().optional(),
  prompt: Prompt.nullable().optional(),
  reasoning: ReasoningConfig.nullable().optional(),
  text: TextConfig.nullable().optional(),
  include: z.array(Include).nullable().optional(),
  stream: z.boolean().nullable().optional(),
  stream_options: open({ include_obfuscation: z.boolean().nullable().optional() })
    .nullable()
    .optional(),
  ...sampling,
  ...tooling,
  ...state,
  ...service,
});
export type CreateResponse = z.infer<typeof CreateResponse>;

export function parseCreateResponse(value: unknown): CreateResponse {
  if (isPlainRequest(value)) return value as CreateResponse;
  return parseAs(CreateResponse, value, "request");
}
