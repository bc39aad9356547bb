/**
 * Differences of vendors from the API that they offer, if several vendors share them or if they need more
 * than a word.
 */

import type { Quirks } from "../../wire.ts";

// These servers accept Responses requests and store nothing, so the whole conversation is sent each time.
const STATELESS: Quirks = { continuation: "replay", store: false };

/** Reasoning models refuse `max_tokens`; every model accepts its successor. */
export const OPENAI: Quirks = {
  // Of its two APIs, chat completions takes 64 characters only, and says so itself.
  limits: { stops: 4, toolNameChars: 128 },
  maxTokensField: "max_completion_tokens",
  effortNone: true,
  cacheMarks: "prompt_cache_breakpoint",
};

/** Parameters of OpenAI's own API that compatible servers seldom support. */
const OPENAI_ALONE: readonly string[] = [
  "text.verbosity",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "moderation",
];

/** Quirks of servers that accept only the fields of the API's oldest form. */
export const COMPATIBLE: Quirks = { refuses: [...OPENAI_ALONE, "service_tier"] };

export const STATELESS_COMPATIBLE: Quirks = { ...STATELESS, ...COMPATIBLE };

/** OpenRouter passes `verbosity` and the service tier on to vendors that support them. */
export const OPENROUTER: Quirks = {
  ...STATELESS,
  reasoningField: "reasoning",
  reasoningDetails: true,
  cacheMarks: "cache_control",
  tellsCost: true,
  // A model that cannot stop thinking refuses this, and is asked again without it.
  thinkingOff: { reasoning: { effort: "none" } },
  refuses: ["safety_identifier", "prompt_cache_options", "moderation"],
};

/** Groq has tiers of its own under the same name, and answers 400 to a request for probabilities. */
export const GROQ: Quirks = {
  limits: { stops: 4 },
  ...STATELESS,
  reasoningField: "reasoning",
  maxTokensField: "max_completion_tokens",
  effortNone: true,
  slips: true,
  refuses: [...OPENAI_ALONE, "top_logprobs"],
};

/** Cerebras answers 400 to the other name of the reasoning field. */
export const CEREBRAS: Quirks = {
  limits: { stops: 4 },
  reasoningField: "reasoning",
  maxTokensField: "max_completion_tokens",
  refuses: OPENAI_ALONE,
};

/** Unknown fields are a 422 there. Usage comes with the last chunk without being requested. */
export const MISTRAL: Quirks = {
  reasoningField: "reasoning_content",
  mistralParts: true,
  refuses: [
    // This vendor caches prompts by the same key, for a time that it chooses itself.
    ...OPENAI_ALONE.filter((name) => name !== "prompt_cache_key"),
    ...["service_tier", "stream_options", "top_logprobs", "user"],
  ],
};

/** Their models think unless the request turns it off, and want their reasoning back between calls. */
export const MOONSHOT: Quirks = {
  ...COMPATIBLE,
  reasoningField: "reasoning_content",
  thinkingOff: { thinking: { type: "disabled" } },
};

/** MiniMax sends its reasoning as a list, and wants that back. */
export const MINIMAX: Quirks = {
  ...COMPATIBLE,
  reasoningDetails: true,
  maxTokensField: "max_completion_tokens",
  thinkingOff: { thinking: { type: "disabled" } },
};

export const ZAI: Quirks = { ...MOONSHOT, jsonSchema: false };

export const DEEPSEEK: Quirks = {
  ...STATELESS,
  ...ZAI,
  limits: { stops: 16, toolNameChars: 64 },
};

export const ALIBABA: Quirks = {
  ...MOONSHOT,
  thinkingOff: { enable_thinking: false },
  limits: { toolNameChars: 64 },
};

/** vLLM: its models want their reasoning back between calls. A variable of their template turns thinking off. */
export const VLLM: Quirks = {
  ...STATELESS_COMPATIBLE,
  reasoningField: "reasoning",
  thinkingOff: { chat_template_kwargs: { enable_thinking: false, thinking: false } },
};

/** xAI: its Responses API answers 400 to `instructions`, so they are the first message. */
export const XAI: Quirks = {
  limits: { stops: 4 },
  ...STATELESS_COMPATIBLE,
  maxTokensField: "max_completion_tokens",
  instructionsAsMessage: true,
  effortNone: false,
  tellsCost: true,
};
