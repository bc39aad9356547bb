/**
 * `generateContent` as it is really spoken: the answer with every field optional, because each of them
 * is missing somewhere, and the request with the fields we send. AI Studio and Vertex share both.
 *
 * The request's types are aliases, not interfaces, so that they are `JsonObject`s.
 */

import type { Json, JsonObject } from "../../base/json.ts";

/** One event of the stream, or the whole answer. */
export interface GeminiChunk {
  readonly candidates?: readonly GeminiCandidate[] | null;
  readonly promptFeedback?: {
    readonly blockReason?: string | null;
    readonly blockReasonMessage?: string | null;
  } | null;
  readonly usageMetadata?: GeminiUsage | null;
  readonly modelVersion?: string | null;
  readonly responseId?: string | null;
  readonly error?: Json;
  /** `error`, where a proxy puts the error itself in place of a chunk. */
  readonly type?: string | null;
}

export interface GeminiCandidate {
  readonly index?: number | null;
  readonly content?: { readonly parts?: readonly GeminiAnswerPart[] | null } | null;
  readonly finishReason?: string | null;
  readonly finishMessage?: string | null;
  readonly citationMetadata?: {
    readonly citations?: readonly GeminiCitation[] | null;
    /** The older name, still sent by AI Studio. */
    readonly citationSources?: readonly GeminiCitation[] | null;
  } | null;
  readonly groundingMetadata?: GeminiGrounding | null;
  /** With `finishReason: CONTINUATION`: the same request with this goes on where the answer stopped. */
  readonly continuationToken?: string | null;
  readonly logprobsResult?: GeminiLogprobs | null;
}

/** Both lists go step by step, a token a step. */
export interface GeminiLogprobs {
  readonly chosenCandidates?: readonly GeminiLikely[] | null;
  readonly topCandidates?:
    | readonly { readonly candidates?: readonly GeminiLikely[] | null }[]
    | null;
}

export interface GeminiLikely {
  readonly token?: string | null;
  readonly logProbability?: number | null;
}

/** Text, a thought, a call, or one of the kinds that are kept word for word. */
export type GeminiAnswerPart = JsonObject & {
  readonly text?: string | null;
  readonly thought?: boolean | null;
  readonly thoughtSignature?: string | null;
  readonly functionCall?: GeminiAnswerCall | null;
};

export type GeminiAnswerCall = JsonObject & {
  readonly id?: string | null;
  readonly name?: string | null;
  readonly args?: JsonObject | null;
  readonly partialArgs?: readonly GeminiPartialArg[] | null;
  /** Whether more of this call follows in later parts. */
  readonly willContinue?: boolean | null;
};

export type GeminiPartialArg = JsonObject & {
  /** `$.recipe.steps[0]`. */
  readonly jsonPath?: string | null;
  readonly stringValue?: string | null;
  readonly numberValue?: number | null;
  readonly boolValue?: boolean | null;
  readonly nullValue?: Json;
  /** Whether the next piece of the same text follows. */
  readonly willContinue?: boolean | null;
};

/** Places are bytes of the part's UTF-8. */
export interface GeminiCitation {
  readonly startIndex?: number | null;
  readonly endIndex?: number | null;
  readonly uri?: string | null;
  readonly title?: string | null;
}

export interface GeminiGrounding {
  readonly groundingChunks?: readonly GeminiSource[] | null;
  readonly groundingSupports?:
    | readonly {
        readonly segment?: GeminiCitation | null;
        readonly groundingChunkIndices?: readonly number[] | null;
      }[]
    | null;
}

interface GeminiPage {
  readonly uri?: string | null;
  readonly title?: string | null;
}

export interface GeminiSource {
  readonly web?: GeminiPage | null;
  readonly retrievedContext?: GeminiPage | null;
  readonly maps?: GeminiPage | null;
}

export interface GeminiUsage {
  readonly promptTokenCount?: number | null;
  readonly toolUsePromptTokenCount?: number | null;
  readonly cachedContentTokenCount?: number | null;
  readonly candidatesTokenCount?: number | null;
  readonly thoughtsTokenCount?: number | null;
}

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

/** A part that is neither words nor a call. */
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
  responseMimeType?: string;
  responseJsonSchema?: JsonObject;
  thinkingConfig?: GeminiThinking;
};

export type GeminiThinking = {
  includeThoughts?: boolean;
  thinkingLevel?: "MINIMAL" | "LOW" | "MEDIUM" | "HIGH";
  thinkingBudget?: number;
};
