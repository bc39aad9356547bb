/** The chat completions API as servers really write it. Fields that carry no text of the answer are loose. */

import { LOGPROBS } from "../logprob-shape.ts";
import { TOLD_COST } from "../models/told-cost.ts";
import { anything, either, list, loose, number, object, type Shaped, text } from "../shape.ts";

const CALL = object({
  index: loose(number),
  id: loose(text),
  function: object({ name: text, arguments: text }),
  /** Google's compatible endpoint: what it wants back with this call. */
  extra_content: loose(object({})),
});

const ANNOTATION = object({
  type: loose(text),
  url_citation: object({
    url: text,
    title: loose(text),
    start_index: loose(number),
    end_index: loose(number),
  }),
});

/** An entry of a list where others send text: Mistral's models put their reasoning there. */
const PART = object({
  type: loose(text),
  text,
  /** Text, or again text parts. */
  thinking: either(text, list(object({ text }))),
});

const CONTENT = either(text, list(PART));

const SOURCE = object({ url: text, title: loose(text) });

/** Groq's: a tool that the server ran itself, repeated when more of it is known. */
const EXECUTED = object({
  index: loose(number),
  type: loose(text),
  arguments: loose(text),
  output: loose(text),
  search_results: loose(object({ results: loose(list(SOURCE)) })),
});

const DELTA = object({
  content: CONTENT,
  refusal: text,
  reasoning_content: text,
  reasoning: text,
  /** OpenRouter's: what the vendor's model wants back unchanged. */
  reasoning_details: loose(list(object({}))),
  tool_calls: list(CALL),
  annotations: loose(list(ANNOTATION)),
  executed_tools: loose(list(EXECUTED)),
});

const USAGE = object({
  prompt_tokens: loose(number),
  completion_tokens: loose(number),
  total_tokens: loose(number),
  prompt_tokens_details: loose(
    object({ cached_tokens: loose(number), cache_write_tokens: loose(number) }),
  ),
  completion_tokens_details: loose(object({ reasoning_tokens: loose(number) })),
  /** The cached tokens, by DeepSeek's name and by Moonshot's. */
  prompt_cache_hit_tokens: loose(number),
  cached_tokens: loose(number),
  /** Some servers count reasoning at the top level. */
  reasoning_tokens: loose(number),
  ...TOLD_COST,
});

const CHOICE = object({
  delta: DELTA,
  /** In place of `delta` if the server did not stream. */
  message: DELTA,
  finish_reason: loose(text),
  /** The text that stopped the answer: the first is vLLM's name, the second SGLang's. A number is a token's. */
  stop_reason: loose(text),
  matched_stop: loose(text),
  logprobs: loose(object({ content: LOGPROBS })),
});

export const CHUNK = object({
  id: loose(text),
  model: loose(text),
  choices: list(CHOICE),
  usage: loose(USAGE),
  /** Groq repeats the usage here, and once sent it nowhere else. */
  x_groq: loose(object({ usage: loose(USAGE) })),
  /** Perplexity's: the pages that the answer is from, with titles or as addresses only. */
  search_results: loose(list(SOURCE)),
  citations: loose(list(text)),
  error: anything,
  /** `error` if a server sends the error itself in place of a chunk. */
  type: loose(text),
});

export type ChatChunk = Shaped<typeof CHUNK>;
export type ChatChoice = Shaped<typeof CHOICE>;
export type ChatDelta = Shaped<typeof DELTA>;
export type ChatContent = Shaped<typeof CONTENT>;
export type ChatToolCall = Shaped<typeof CALL>;
export type ChatAnnotation = Shaped<typeof ANNOTATION>;
export type ChatExecuted = Shaped<typeof EXECUTED>;
export type ChatUsage = Shaped<typeof USAGE>;
