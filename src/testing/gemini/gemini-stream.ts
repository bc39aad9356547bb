/**
 * Model events as events of `streamGenerateContent`, and as the one object of `generateContent`.
 *
 * A call comes whole, or in pieces when they were asked for. The first call of an answer is signed; the end of one
 * without calls is signed on an empty part, as the newest models do.
 */

import { toFailure } from "../../base/failure.ts";
import {
  asJsonObject,
  isJsonObject,
  type Json,
  type JsonObject,
  tryParseJson,
} from "../../base/json.ts";
import type { Logprob } from "../../protocol/content.ts";
import type { FunctionCall } from "../../protocol/items.ts";
import type { ModelEnd, ModelEvent } from "../../protocol/model-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import { internal } from "./gemini-rejection.ts";
import type { Signatures } from "./gemini-signature.ts";

export interface GeminiAnswer {
  readonly model: string;
  readonly responseId: string;
  readonly signatures: Signatures;
  /** True if calls are signed. */
  readonly isSigned: boolean;
  /** True if the end of an answer without calls is signed too. */
  readonly isTextSigned: boolean;
  readonly includeThoughts: boolean;
  /** True if calls come in pieces. */
  readonly isPartial: boolean;
  readonly includeIds: boolean;
  /** Sent with an answer that is to be continued. */
  readonly continuationToken: string;
}

type Batches = AsyncIterable<readonly ModelEvent[]>;

/** Yields payloads. Ends after an `error` when the engine fails. */
export async function* encodeGeminiEvents(
  batches: Batches,
  answer: GeminiAnswer,
): AsyncGenerator<JsonObject, void> {
  const writer = new AnswerWriter(answer);
  try {
    for await (const batch of batches) {
      for (const event of batch) yield* writer.write(event);
    }
  } catch (thrown) {
    yield asJsonObject({ error: internal(toFailure(thrown).message) });
  }
}

/** The whole answer: the events with their parts in one. Texts that came in pieces are joined. */
export function joinGeminiEvents(chunks: readonly JsonObject[]): JsonObject {
  const parts: JsonObject[] = [];
  for (const part of chunks.flatMap(partsIn)) {
    const last = parts.at(-1);
    const isMore = isPlain(part) && last && isPlain(last) && last["thought"] === part["thought"];
    if (isMore) {
      parts[parts.length - 1] = { ...part, text: `${String(last["text"])}${String(part["text"])}` };
    } else parts.push(part);
  }
  const end = chunks.at(-1) ?? {};
  const [candidate = {}] = (end["candidates"] ?? []) as readonly JsonObject[];
  return { ...end, candidates: [{ ...candidate, content: { parts, role: "model" } }] };
}

function partsIn({ candidates }: JsonObject): readonly JsonObject[] {
  const [candidate] = (candidates ?? []) as readonly { content?: { parts?: JsonObject[] } }[];
  return candidate?.content?.parts ?? [];
}

function isPlain(part: JsonObject): boolean {
  return typeof part["text"] === "string" && part["thoughtSignature"] === undefined;
}

class AnswerWriter {
  readonly #answer: GeminiAnswer;
  #calls = 0;
  #refusal = "";
  #malformed: string | undefined;
  /** The query of a search that the service made itself. */
  #query: string | undefined;
  readonly #sources: JsonObject[] = [];

  constructor(answer: GeminiAnswer) {
    this.#answer = answer;
  }

  *write(event: ModelEvent): Generator<JsonObject, void> {
    switch (event.type) {
      case "text_delta":
        return yield this.#chunk({ text: event.delta }, toLogprobs(event.logprobs));
      case "reasoning_delta":
        if (this.#answer.includeThoughts) yield this.#chunk({ text: event.delta, thought: true });
        return;
      case "refusal_delta":
        this.#refusal += event.delta;
        return;
      case "annotation":
        this.#sources.push(asJsonObject(event.annotation));
        return;
      case "item_end":
        if (event.item.type === "function_call") yield* this.#writeCall(event.item);
        if (event.item.type === "image_generation_call") {
          const data = event.item.result ?? "";
          yield this.#chunk({ inlineData: { mimeType: "image/png", data } });
        }
        if (event.item.type === "web_search_call") this.#query = event.item.action?.query ?? "";
        return;
      case "end":
        return yield this.#end(event);
      default:
    }
  }

  *#writeCall(call: FunctionCall): Generator<JsonObject, void> {
    const args = tryParseJson(call.arguments || "{}");
    if (!isJsonObject(args)) {
      this.#malformed = `Malformed function call: ${call.name}(${call.arguments})`;
      return;
    }
    const id = this.#answer.includeIds ? { id: call.call_id } : {};
    const whole = { functionCall: { ...id, name: call.name, args } };
    const isFirst = this.#calls++ === 0;
    const part = isFirst && this.#answer.isSigned ? this.#answer.signatures.sign(whole) : whole;
    if (!this.#answer.isPartial) return yield this.#chunk(part);
    const { args: _, ...named } = whole.functionCall;
    yield this.#chunk({ ...part, functionCall: { ...named, willContinue: true } });
    for (const partial of toPartialArgs("$", args)) {
      yield this.#chunk({ functionCall: { partialArgs: [partial], willContinue: true } });
    }
    yield this.#chunk({ functionCall: {} });
  }

  #end({ reason, usage }: ModelEnd): JsonObject {
    const isFiltered = reason === "refusal";
    const finishReason = this.#malformed ? "MALFORMED_FUNCTION_CALL" : FINISH_REASONS[reason];
    const finishMessage = this.#malformed ?? this.#refusal;
    const isSigned = this.#answer.isTextSigned && this.#calls === 0 && !isFiltered;
    const last = isSigned ? this.#answer.signatures.sign({ text: "" }) : { text: "" };
    const { continuationToken } = this.#answer;
    return this.#chunk(isFiltered || this.#malformed ? undefined : last, {
      finishReason,
      ...(finishMessage !== "" && { finishMessage }),
      ...(reason === "pause" && { continuationToken }),
      ...(this.#query !== undefined && { groundingMetadata: this.#grounding(this.#query) }),
      usage: toGeminiUsage(usage),
    });
  }

  /** Sent once, with the end, wherever the search was made. */
  #grounding(query: string): JsonObject {
    return {
      webSearchQueries: [query],
      searchEntryPoint: { renderedContent: "<div></div>" },
      groundingChunks: this.#sources.map(({ url, title }) => ({ web: { uri: url, title } })),
      groundingSupports: this.#sources.map(({ end_index: endIndex }, at) => ({
        segment: { endIndex, text: "What is said." },
        groundingChunkIndices: [at],
      })),
    } as JsonObject;
  }

  #chunk(part: JsonObject | undefined, end: JsonObject = {}): JsonObject {
    const { usage, ...more } = end;
    const content = part ? { content: { parts: [part], role: "model" } } : {};
    return {
      candidates: [{ ...content, ...more, index: 0 }],
      ...(usage ? { usageMetadata: usage } : {}),
      modelVersion: this.#answer.model,
      responseId: this.#answer.responseId,
    };
  }
}

function toLogprobs(logprobs: readonly Logprob[] | undefined): JsonObject {
  if (!logprobs) return {};
  const chosenCandidates = logprobs.map(toLikely);
  const topCandidates = logprobs.map(({ top_logprobs = [] }) => ({
    candidates: top_logprobs.map(toLikely),
  }));
  return { logprobsResult: { chosenCandidates, topCandidates } };
}

function toLikely({
  token,
  logprob,
}: {
  token?: string | undefined;
  logprob?: number | undefined;
}) {
  return { token, logProbability: logprob };
}

const FINISH_REASONS = {
  stop: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  refusal: "SAFETY",
  pause: "CONTINUATION",
} as const satisfies Record<ModelEnd["reason"], string>;

/** Leaf by leaf; a text in two pieces, the second one empty. */
function* toPartialArgs(jsonPath: string, value: Json | undefined): Generator<JsonObject, void> {
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries())
      yield* toPartialArgs(`${jsonPath}[${index}]`, entry);
  } else if (isJsonObject(value)) {
    for (const [name, field] of Object.entries(value)) {
      const isPlainName = /^[A-Za-z_]\w*$/.test(name);
      yield* toPartialArgs(
        `${jsonPath}${isPlainName ? `.${name}` : `[${JSON.stringify(name)}]`}`,
        field,
      );
    }
  } else if (typeof value === "string") {
    yield { jsonPath, stringValue: value, willContinue: true };
    yield { jsonPath, stringValue: "" };
  } else if (typeof value === "number") yield { jsonPath, numberValue: value };
  else if (typeof value === "boolean") yield { jsonPath, boolValue: value };
  else yield { jsonPath, nullValue: "NULL_VALUE" };
}

function toGeminiUsage(usage: Usage): JsonObject {
  const thoughts = usage.output_tokens_details.reasoning_tokens;
  const cached = usage.input_tokens_details.cached_tokens;
  return {
    promptTokenCount: usage.input_tokens,
    candidatesTokenCount: usage.output_tokens - thoughts,
    totalTokenCount: usage.total_tokens,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
  };
}
