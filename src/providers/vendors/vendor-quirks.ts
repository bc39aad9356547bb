/** How vendors differ from the API they speak, where several do or where it takes more than a word. */

import type { Quirks } from "../wire.ts";

// These servers take Responses requests and keep nothing, so the whole conversation goes each time.
const STATELESS: Quirks = { continuation: "replay", store: false };

/** `max_tokens` is refused by reasoning models, its successor by none. */
export const OPENAI: Quirks = {
  maxTokensField: "max_completion_tokens",
  effortNone: true,
  cacheMarks: "prompt_cache_breakpoint",
};

/** What OpenAI's own API has words for, and compatible servers seldom do. */
const OPENAI_ALONE: readonly string[] = [
  "text.verbosity",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "moderation",
];

/** Servers that take no fields but those of the API's oldest form. */
export const COMPATIBLE: Quirks = { refuses: [...OPENAI_ALONE, "service_tier"] };

export const STATELESS_COMPATIBLE: Quirks = { ...STATELESS, ...COMPATIBLE };

/** It passes the level of detail and the tier on to those who know them. */
export const OPENROUTER: Quirks = {
  ...STATELESS,
  reasoningField: "reasoning",
  reasoningDetails: true,
  cacheMarks: "cache_control",
  tellsCost: true,
  // A model that cannot stop thinking is refused then, and asked without the wish.
  thinkingOff: { reasoning: { effort: "none" } },
  refuses: ["safety_identifier", "prompt_cache_options", "moderation"],
};

/** It has tiers of its own under the same name, and answers 400 to a wish for likelihoods. */
export const GROQ: Quirks = {
  ...STATELESS,
  reasoningField: "reasoning",
  maxTokensField: "max_completion_tokens",
  effortNone: true,
  slips: true,
  refuses: [...OPENAI_ALONE, "top_logprobs"],
};

/** It refuses the other name of the field for thoughts with a 400. */
export const CEREBRAS: Quirks = {
  reasoningField: "reasoning",
  maxTokensField: "max_completion_tokens",
  refuses: OPENAI_ALONE,
};

/** Unknown fields are a 422 there; usage comes with the last chunk unasked. */
export const MISTRAL: Quirks = {
  reasoningField: "reasoning_content",
  mistralParts: true,
  refuses: [
    // It keeps prompts by the same key, and for as long as it likes.
    ...OPENAI_ALONE.filter((name) => name !== "prompt_cache_key"),
    ...["service_tier", "stream_options", "top_logprobs", "user"],
  ],
};

/** Their models think unless they are told not to, and want their thoughts back between calls. */
export const MOONSHOT: Quirks = {
  ...COMPATIBLE,
  reasoningField: "reasoning_content",
  thinkingOff: { thinking: { type: "disabled" } },
};

/** It tells its thoughts as a list, and wants that back. */
export const MINIMAX: Quirks = {
  ...COMPATIBLE,
  reasoningDetails: true,
  maxTokensField: "max_completion_tokens",
  thinkingOff: { thinking: { type: "disabled" } },
};

export const ZAI: Quirks = { ...MOONSHOT, jsonSchema: false };

export const DEEPSEEK: Quirks = { ...STATELESS, ...ZAI };

export const ALIBABA: Quirks = { ...MOONSHOT, thinkingOff: { enable_thinking: false } };

/** Models behind it want their thoughts back between calls, and are told not to think in their template. */
export const VLLM: Quirks = {
  ...STATELESS_COMPATIBLE,
  reasoningField: "reasoning",
  thinkingOff: { chat_template_kwargs: { enable_thinking: false, thinking: false } },
};

/** Its Responses API answers 400 to `instructions`: they are the first message. */
export const XAI: Quirks = {
  ...STATELESS_COMPATIBLE,
  maxTokensField: "max_completion_tokens",
  instructionsAsMessage: true,
  effortNone: false,
  tellsCost: true,
};
