/**
 * `generateContent` as services really use it: the answer as shapes, and the request with the fields that
 * we send. AI Studio and Vertex share both. Fields that carry no text of the answer are loose.
 *
 * The request's types are aliases, not interfaces, so that they are `JsonObject`s.
 */

import type { JsonObject } from "../../base/json.ts";
import { anything, flag, list, loose, number, object, type Shaped, text } from "../shape.ts";

const LIKELY = object({ token: loose(text), logProbability: loose(number) });

/** Each list has one entry for each token. */
const LOGPROBS = object({
  chosenCandidates: loose(list(LIKELY)),
  topCandidates: loose(list(object({ candidates: loose(list(LIKELY)) }))),
});

const PARTIAL_ARG = object({
  /** A path such as `$.recipe.steps[0]`. */
  jsonPath: text,
  stringValue: text,
  numberValue: number,
  boolValue: flag,
  nullValue: anything,
  /** True if the next piece of the same text follows. */
  willContinue: flag,
});

const CALL = object({
  id: loose(text),
  name: text,
  args: object({}),
  partialArgs: list(PARTIAL_ARG),
  /** True if more of this call follows in later parts. */
  willContinue: flag,
});

/**
 * Text, a thought, a call, or one of the kinds that are kept unchanged. A signature counts as content:
 * without it the API does not accept the part in the next request.
 */
const PART = object({
  text,
  thought: flag,
  thoughtSignature: text,
  functionCall: CALL,
  inlineData: object({ mimeType: text, data: text }),
});

/** Positions are bytes of the part's UTF-8. */
const CITATION = object({
  startIndex: loose(number),
  endIndex: loose(number),
  uri: loose(text),
  title: loose(text),
});

const PAGE = object({ uri: loose(text), title: loose(text) });

const SOURCE = object({
  web: loose(PAGE),
  retrievedContext: loose(PAGE),
  maps: loose(PAGE),
});

const GROUNDING = object({
  webSearchQueries: loose(list(text)),
  groundingChunks: loose(list(SOURCE)),
  groundingSupports: loose(
    list(object({ segment: loose(CITATION), groundingChunkIndices: loose(list(number)) })),
  ),
});

const CANDIDATE = object({
  index: loose(number),
  content: object({ parts: list(PART) }),
  finishReason: loose(text),
});

/**
 * Fields of a candidate that few events have. They are checked against this shape only if they are there:
 * checking all of them in each event took half of the time.
 */
export const ASIDE = object({
  finishMessage: loose(text),
  citationMetadata: loose(
    object({
      citations: loose(list(CITATION)),
      /** The older name, which AI Studio still sends. */
      citationSources: loose(list(CITATION)),
    }),
  ),
  groundingMetadata: loose(GROUNDING),
  /** Comes with `finishReason: CONTINUATION`. The same request with this token continues the answer. */
  continuationToken: text,
  logprobsResult: loose(LOGPROBS),
});

export const USAGE = object({
  promptTokenCount: loose(number),
  toolUsePromptTokenCount: loose(number),
  cachedContentTokenCount: loose(number),
  candidatesTokenCount: loose(number),
  thoughtsTokenCount: loose(number),
});

/** One event of the stream, or the whole answer. Its counts are checked when they are needed. */
export const CHUNK = object({
  candidates: list(CANDIDATE),
  promptFeedback: loose(object({ blockReason: loose(text), blockReasonMessage: loose(text) })),
  usageMetadata: loose(object({})),
});

/** Fields that every event repeats. They are read from the first one. */
export const HEAD = object({ modelVersion: loose(text), responseId: loose(text) });

export type GeminiCandidate = Shaped<typeof CANDIDATE>;
export type GeminiAside = Shaped<typeof ASIDE>;
export type GeminiAnswerPart = Shaped<typeof PART>;
export type GeminiAnswerCall = Shaped<typeof CALL>;
export type GeminiPartialArg = Shaped<typeof PARTIAL_ARG>;
export type GeminiCitation = Shaped<typeof CITATION>;
export type GeminiGrounding = Shaped<typeof GROUNDING>;
export type GeminiSource = Shaped<typeof SOURCE>;
export type GeminiLogprobs = Shaped<typeof LOGPROBS>;
export type GeminiLikely = Shaped<typeof LIKELY>;

export type GeminiRequest = {
  contents: GeminiContent[];
  systemInstruction?: GeminiContent;
  tools?: GeminiTool[];
  toolConfig?: GeminiToolConfig;
  generationConfig?: GeminiGenerationConfig;
  continuationToken?: string;
  serviceTier?: "flex" | "standard" | "priority";
};

export type GeminiContent = { role: "user" | "model"; parts: GeminiPart[] };

export type GeminiPart = {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: { id?: string; name: string; args: JsonObject };
  functionResponse?: GeminiFunctionResponse;
  inlineData?: GeminiBlob;
  fileData?: GeminiFile;
};

export type GeminiFunctionResponse = {
  id?: string;
  name: string;
  response: JsonObject;
  parts?: GeminiMedia[];
};

/** A part that is neither text nor a call. */
export type GeminiMedia = { inlineData?: GeminiBlob; fileData?: GeminiFile };

export type GeminiBlob = { mimeType: string; data: string };

export type GeminiFile = { mimeType: string; fileUri: string };

export type GeminiTool = {
  functionDeclarations?: GeminiFunction[];
  googleSearch?: Record<string, never>;
  codeExecution?: Record<string, never>;
};

export type GeminiFunction = {
  name: string;
  description?: string;
  parametersJsonSchema?: JsonObject;
};

export type GeminiToolConfig = {
  functionCallingConfig?: {
    mode: "ANY" | "NONE" | "VALIDATED";
    allowedFunctionNames?: string[];
  };
  includeServerSideToolInvocations?: boolean;
};

export type GeminiGenerationConfig = {
  temperature?: number;
  topP?: number;
  maxOutputTokens?: number;
  stopSequences?: string[];
  frequencyPenalty?: number;
  presencePenalty?: number;
  responseLogprobs?: boolean;
  logprobs?: number;
  responseModalities?: ("TEXT" | "IMAGE")[];
  responseMimeType?: string;
  responseJsonSchema?: JsonObject;
  thinkingConfig?: GeminiThinking;
};

export type GeminiThinking = {
  includeThoughts?: boolean;
  thinkingLevel?: "MINIMAL" | "LOW" | "MEDIUM" | "HIGH";
  thinkingBudget?: number;
};
