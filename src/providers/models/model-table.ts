/**
 * The known models, one row each; those of the largest families are in files of their own. Sizes and prices
 * are those that the vendors publish. A price that is temporary, by the hour or of an alias that moves is
 * left out, since unknown is better than wrong.
 *
 * Rows that end in `*` match the next model of a family: it probably refuses the same parameters, but its
 * size and price may differ.
 */

import { BEDROCK } from "./bedrock-models.ts";
import { ANTHROPIC, VERTEXAI } from "./claude-models.ts";
import { COHERE } from "./cohere-models.ts";
import {
  type Model,
  type ModelRow,
  NO_SAMPLING,
  type Price,
  price,
  type RefusedParameter,
  type Rows,
  TALKS,
  THINKS,
} from "./facts.ts";
import { GEMINI } from "./gemini-models.ts";

const FREE: Price = { input: 0, cached: 0, output: 0 };

// From 5.1 on, OpenAI's models accept `temperature` only if the request turns thinking off.
const WHILE_THINKING = "sampling_while_reasoning";
const NO_NONE: readonly RefusedParameter[] = ["effort:none", "effort:minimal"];

const GPT_6: ModelRow = { ...THINKS, contextTokens: 1_050_000, maxOutputTokens: 128_000 };
const GPT_5: ModelRow = { ...THINKS, contextTokens: 400_000, maxOutputTokens: 128_000 };
const CHAT_LATEST: ModelRow = { ...THINKS, contextTokens: 128_000, maxOutputTokens: 16_384 };
/** Parameters that OpenAI's and xAI's thinking models never accept, whatever the effort. */
const NO_STEERING: readonly RefusedParameter[] = ["stop", "frequency_penalty", "presence_penalty"];
const NEVER_SAMPLED: readonly RefusedParameter[] = [...NO_SAMPLING, "top_logprobs", ...NO_STEERING];
/** Older models accept only one value of it. */
const NO_VERBOSITY: readonly RefusedParameter[] = ["text.verbosity"];
const O_SERIES: ModelRow = { ...THINKS, contextTokens: 200_000, maxOutputTokens: 100_000 };
const OLD_TALKS: ModelRow = { ...TALKS, refuses: [...TALKS.refuses, ...NO_VERBOSITY] };
const GPT_41: ModelRow = { ...OLD_TALKS, contextTokens: 1_047_576, maxOutputTokens: 32_768 };
const GPT_4O: ModelRow = { ...OLD_TALKS, contextTokens: 128_000, maxOutputTokens: 16_384 };

const REFUSED_6: readonly RefusedParameter[] = [WHILE_THINKING, ...NO_STEERING, "effort:minimal"];
const REFUSED_6_ALWAYS_THINKS: readonly RefusedParameter[] = [...NEVER_SAMPLED, ...NO_NONE];
const REFUSED_52: readonly RefusedParameter[] = [...REFUSED_6, "effort:max"];
const REFUSED_51: readonly RefusedParameter[] = [...REFUSED_52, "effort:xhigh"];
const REFUSED_5: readonly RefusedParameter[] = [
  ...NEVER_SAMPLED,
  "effort:none",
  "effort:xhigh",
  "effort:max",
];
const REFUSED_PRO: readonly RefusedParameter[] = [
  ...NEVER_SAMPLED,
  ...NO_NONE,
  "effort:low",
  "effort:max",
];
const REFUSED_CODEX: readonly RefusedParameter[] = [...NEVER_SAMPLED, ...NO_NONE, "effort:max"];
const REFUSED_O: readonly RefusedParameter[] = [
  ...REFUSED_5,
  ...NO_VERBOSITY,
  "effort:minimal",
  "parallel_tool_calls",
];
const REFUSED_CHAT_LATEST: readonly RefusedParameter[] = [
  ...REFUSED_PRO,
  ...NO_VERBOSITY,
  "effort:high",
  "effort:xhigh",
];

/** OpenAI's large windows: all of a request above 272,000 tokens costs more. */
function priceLong(input: number, cached: number | undefined, output: number): Price {
  const long = { aboveTokens: 272_000, inputFactor: 2, outputFactor: 1.5 };
  return { input, cached, output, long };
}

const OPENAI: Rows = {
  "gpt-6.1-sol": {
    ...GPT_6,
    price: { ...priceLong(2, 0.1, 10), cacheWrite: 2.5 },
    refuses: REFUSED_6_ALWAYS_THINKS,
  },
  "gpt-6.1-terra": {
    ...GPT_6,
    price: { ...priceLong(1, 0.05, 5), cacheWrite: 1.25 },
    refuses: REFUSED_6,
  },
  "gpt-6-astra": {
    ...GPT_6,
    price: { ...priceLong(10, 1, 50), cacheWrite: 12.5 },
    refuses: REFUSED_6_ALWAYS_THINKS,
  },
  "gpt-6-sol": {
    ...GPT_6,
    price: { ...priceLong(2, 0.2, 10), cacheWrite: 2.5 },
    refuses: REFUSED_6,
  },
  "gpt-6-luna": {
    ...GPT_6,
    price: { ...priceLong(0.1, 0.01, 0.5), cacheWrite: 0.125 },
    refuses: REFUSED_6,
  },
  "gpt-6*": { ...THINKS, refuses: REFUSED_6_ALWAYS_THINKS },
  "gpt-5.6": { ...GPT_6, refuses: REFUSED_6 },
  "gpt-5.6-sol": { ...GPT_6, refuses: REFUSED_6 },
  "gpt-5.6-terra": { ...GPT_6, price: priceLong(2, 0.2, 12), refuses: REFUSED_6 },
  "gpt-5.6-luna": { ...GPT_6, price: priceLong(0.2, 0.02, 1.2), refuses: REFUSED_6 },
  "gpt-5.5": { ...GPT_6, price: priceLong(5, 0.5, 30), refuses: REFUSED_52 },
  "gpt-5.5-pro": { ...GPT_6, price: priceLong(30, undefined, 180), refuses: REFUSED_PRO },
  "gpt-5.4": { ...GPT_6, price: priceLong(2.5, 0.25, 15), refuses: REFUSED_52 },
  "gpt-5.4-pro": {
    ...GPT_6,
    price: priceLong(30, undefined, 180),
    structured: false,
    refuses: REFUSED_PRO,
  },
  "gpt-5.4-mini": { ...GPT_5, price: price(0.75, 0.075, 4.5), refuses: REFUSED_52 },
  "gpt-5.4-nano": { ...GPT_5, price: price(0.2, 0.02, 1.25), refuses: REFUSED_52 },
  "gpt-5.3-codex": { ...GPT_5, price: price(1.75, 0.175, 14), refuses: REFUSED_CODEX },
  "gpt-5.3-chat-latest": { ...CHAT_LATEST, refuses: REFUSED_CHAT_LATEST },
  "gpt-5.2": { ...GPT_5, price: price(1.75, 0.175, 14), refuses: REFUSED_52 },
  "gpt-5.2-pro": { ...GPT_5, price: price(21, undefined, 168), refuses: REFUSED_PRO },
  "gpt-5.2-codex": { ...GPT_5, price: price(1.75, 0.175, 14), refuses: REFUSED_CODEX },
  "gpt-5.2-chat-latest": { ...CHAT_LATEST, refuses: REFUSED_CHAT_LATEST },
  "gpt-5.1": { ...GPT_5, price: price(1.25, 0.125, 10), refuses: REFUSED_51 },
  "gpt-5.1-codex": {
    ...GPT_5,
    price: price(1.25, 0.125, 10),
    refuses: [...REFUSED_CODEX, "effort:xhigh"],
  },
  "gpt-5.1-codex-max": { ...GPT_5, price: price(1.25, 0.125, 10), refuses: REFUSED_CODEX },
  "gpt-5.1-codex-mini": {
    ...GPT_5,
    price: price(0.25, 0.025, 2),
    refuses: [...REFUSED_CODEX, "effort:xhigh"],
  },
  "gpt-5.1-chat-latest": { ...CHAT_LATEST, refuses: REFUSED_CHAT_LATEST },
  "gpt-5": { ...GPT_5, price: price(1.25, 0.125, 10), refuses: REFUSED_5 },
  "gpt-5-mini": { ...GPT_5, price: price(0.25, 0.025, 2), refuses: REFUSED_5 },
  "gpt-5-nano": { ...GPT_5, price: price(0.05, 0.005, 0.4), refuses: REFUSED_5 },
  "gpt-5-codex": {
    ...GPT_5,
    price: price(1.25, 0.125, 10),
    refuses: [...REFUSED_CODEX, "effort:xhigh"],
  },
  "gpt-5-pro": {
    ...GPT_5,
    maxOutputTokens: 272_000,
    price: price(15, undefined, 120),
    refuses: [...REFUSED_PRO, "effort:medium", "effort:xhigh"],
  },
  "gpt-5-chat-latest": {
    ...OLD_TALKS,
    contextTokens: 128_000,
    maxOutputTokens: 16_384,
    tools: false,
    structured: false,
  },
  "gpt-5*": { ...THINKS, refuses: REFUSED_51 },
  "o4-mini": { ...O_SERIES, price: price(1.1, 0.275, 4.4), refuses: REFUSED_O },
  o3: { ...O_SERIES, price: price(2, 0.5, 8), refuses: REFUSED_O },
  "o3-pro": { ...O_SERIES, price: price(20, undefined, 80), refuses: REFUSED_O },
  "o3-mini": {
    ...O_SERIES,
    price: price(1.1, 0.55, 4.4),
    vision: false,
    pdf: false,
    refuses: REFUSED_O,
  },
  o1: { ...O_SERIES, price: price(15, 7.5, 60), refuses: REFUSED_O },
  "o1-pro": { ...O_SERIES, price: price(150, undefined, 600), refuses: REFUSED_O },
  "o4*": { ...THINKS, refuses: REFUSED_O },
  "o3*": { ...THINKS, refuses: REFUSED_O },
  "o1*": { ...THINKS, refuses: REFUSED_O },
  "gpt-4.1": { ...GPT_41, price: price(2, 0.5, 8) },
  "gpt-4.1-mini": { ...GPT_41, price: price(0.4, 0.1, 1.6) },
  "gpt-4.1-nano": { ...GPT_41, price: price(0.1, 0.025, 0.4) },
  "gpt-4o": { ...GPT_4O, price: price(2.5, 1.25, 10) },
  "gpt-4o-2024-05-13": {
    ...GPT_4O,
    maxOutputTokens: 4_096,
    price: price(5, undefined, 15),
    structured: false,
  },
  "gpt-4o-mini": { ...GPT_4O, price: price(0.15, 0.075, 0.6) },
  "gpt-4-turbo": {
    ...GPT_4O,
    maxOutputTokens: 4_096,
    price: price(10, undefined, 30),
    structured: false,
  },
  "gpt-4": {
    ...OLD_TALKS,
    contextTokens: 8_192,
    maxOutputTokens: 8_192,
    price: price(30, undefined, 60),
    vision: false,
    pdf: false,
    structured: false,
  },
  "gpt-3.5-turbo": {
    ...OLD_TALKS,
    contextTokens: 16_385,
    maxOutputTokens: 4_096,
    price: price(0.5, undefined, 1.5),
    vision: false,
    pdf: false,
    structured: false,
  },
  "gpt-4*": OLD_TALKS,
  "gpt-3.5*": { ...OLD_TALKS, vision: false, pdf: false, structured: false },
  "chatgpt-*": OLD_TALKS,
};

const GPT_OSS: ModelRow = {
  ...THINKS,
  contextTokens: 131_072,
  maxOutputTokens: 65_536,
  vision: false,
  pdf: false,
  refuses: [...NO_NONE, "effort:xhigh", "effort:max"],
};

const GROQ: Rows = {
  "openai/gpt-oss-120b": { ...GPT_OSS, price: price(0.15, 0.075, 0.6) },
  "openai/gpt-oss-20b": { ...GPT_OSS, price: price(0.075, 0.0375, 0.3) },
};

const TOGETHER: Rows = {
  "openai/gpt-oss-120b": {
    ...GPT_OSS,
    maxOutputTokens: undefined,
    price: price(0.15, undefined, 0.6),
  },
};

// Thinking is on or off there; the steps between are refused.
const MISTRAL_EFFORTS: readonly RefusedParameter[] = [
  "effort:minimal",
  "effort:low",
  "effort:medium",
  "effort:xhigh",
  "effort:max",
];

const MISTRAL: Rows = {
  "mistral-large-4": { ...THINKS, pdf: false, refuses: MISTRAL_EFFORTS },
  "mistral-large-2512": {
    ...TALKS,
    contextTokens: 262_144,
    price: price(0.5, undefined, 1.5),
    pdf: false,
  },
  "mistral-medium-latest": { ...THINKS, pdf: false, refuses: MISTRAL_EFFORTS },
  "mistral-small-latest": { ...THINKS, pdf: false, refuses: MISTRAL_EFFORTS },
};

// Prices depend on the hour of the day in Beijing. A field of its own switches thinking.
const DEEPSEEK_MODEL: ModelRow = {
  ...THINKS,
  contextTokens: 1_000_000,
  maxOutputTokens: 384_000,
  pdf: false,
  structured: false,
  refuses: ["effort:minimal"],
};

const DEEPSEEK: Rows = {
  "deepseek-flash": DEEPSEEK_MODEL,
  "deepseek-v4-flash": DEEPSEEK_MODEL,
  "deepseek-v4-pro": { ...DEEPSEEK_MODEL, vision: false },
};

const GROK: ModelRow = {
  ...THINKS,
  contextTokens: 500_000,
  price: {
    ...price(2, 0.5, 6),
    long: { aboveTokens: 200_000, inputFactor: 2, outputFactor: 2 },
  },
  refuses: [...NO_NONE, ...NO_STEERING, "effort:max"],
};

const XAI: Rows = {
  "grok-4.7": GROK,
  "grok-4.6": { ...GROK, pdf: false, refuses: [...GROK.refuses, "effort:xhigh"] },
  "grok-4.5": { ...GROK, pdf: false, refuses: [...GROK.refuses, "effort:xhigh"] },
  "grok-4*": { ...THINKS, refuses: GROK.refuses },
};

/** A user's own server bills nothing, whatever the model. */
const LOCAL: Rows = { "*": { ...THINKS, price: FREE } };

const EMBEDDED: Rows = {
  offline: { ...THINKS, price: FREE, vision: false, pdf: false },
};

/** If several vendors have a model and the user names none, the first of them in this table is used. */
const ROWS: Readonly<Record<string, Rows>> = {
  openai: OPENAI,
  anthropic: ANTHROPIC,
  gemini: GEMINI,
  groq: GROQ,
  together: TOGETHER,
  mistral: MISTRAL,
  deepseek: DEEPSEEK,
  xai: XAI,
  cohere: COHERE,
  vertexai: VERTEXAI,
  vertex: GEMINI,
  bedrock: BEDROCK,
  ollama: LOCAL,
  llamacpp: LOCAL,
  lmstudio: LOCAL,
  vllm: LOCAL,
  embedded: EMBEDDED,
};

export const MODELS: readonly Model[] = Object.entries(ROWS).flatMap(([vendor, models]) =>
  Object.entries(models).map(([name, facts]) => ({ vendor, name, ...facts })),
);
