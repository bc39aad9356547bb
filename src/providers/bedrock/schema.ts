/**
 * The Converse API in JSON. The types of what we send are strict: a test checks them against the types of
 * the vendor's own package. What we read is checked against its shape; fields that carry no text of the
 * answer are loose.
 *
 * Types and not interfaces, so that the compiler accepts them as JSON as well.
 */

import type { JsonObject } from "../../base/json.ts";
import { anything, list, loose, number, object, type Shaped, text } from "../shape.ts";

export type ConverseBody = {
  readonly messages: readonly ConverseTurn[];
  readonly system?: readonly SystemBlock[];
  readonly inferenceConfig?: {
    readonly maxTokens?: number;
    readonly temperature?: number;
    readonly topP?: number;
    readonly stopSequences?: readonly string[];
  };
  readonly toolConfig?: ToolConfig;
  /** Passed to the model unchanged. Which fields are valid depends on the model's maker. */
  readonly additionalModelRequestFields?: JsonObject;
  /** Fields of the model's own answer to return beside it, as JSON pointers. */
  readonly additionalModelResponseFieldPaths?: readonly string[];
  readonly outputConfig?: ConverseOutputConfig;
  readonly serviceTier?: { readonly type: ConverseServiceTier };
};

export type ConverseServiceTier = "default" | "flex" | "priority" | "reserved";

export type ConverseTurn = { readonly role: Role; readonly content: readonly ContentBlock[] };

export type Role = "user" | "assistant";

export type SystemBlock = { readonly text: string } | CachePoint;

export type CachePoint = {
  readonly cachePoint: { readonly type: "default"; readonly ttl?: "1h" };
};

export type ContentBlock =
  | { readonly text: string }
  | MediaBlock
  | { readonly audio: { readonly format: AudioFormat; readonly source: ConverseSource } }
  | { readonly toolUse: ConverseToolUse }
  | { readonly toolResult: ConverseToolResult }
  | { readonly reasoningContent: ReasoningContent }
  | CachePoint;

export type VideoFormat =
  | "mkv"
  | "mov"
  | "mp4"
  | "webm"
  | "flv"
  | "mpeg"
  | "mpg"
  | "wmv"
  | "three_gp";

export type MediaBlock =
  | { readonly video: { readonly format: VideoFormat; readonly source: ConverseSource } }
  | { readonly image: { readonly format: ImageFormat; readonly source: ConverseSource } }
  | { readonly document: ConverseDocument };

export type ConverseDocument = {
  readonly format: DocumentFormat;
  readonly name: string;
  readonly source: ConverseSource;
};

/** Base64 in JSON; the vendor's package takes bytes there. */
export type ConverseSource =
  | { readonly bytes: string }
  | { readonly s3Location: { readonly uri: string } };

export type ImageFormat = "png" | "jpeg" | "gif" | "webp";
export type AudioFormat = "wav" | "mp3" | "flac" | "webm" | "ogg";
export type DocumentFormat =
  | "pdf"
  | "csv"
  | "doc"
  | "docx"
  | "xls"
  | "xlsx"
  | "html"
  | "txt"
  | "md";

export type ConverseToolUse = {
  readonly toolUseId: string;
  readonly name: string;
  readonly input: JsonObject;
};

export type ConverseToolResult = {
  readonly toolUseId: string;
  readonly content: readonly ConverseResultBlock[];
  readonly status?: "success" | "error";
};

export type ConverseResultBlock = { readonly text: string } | MediaBlock;

export type ReasoningContent =
  | { readonly reasoningText: { readonly text: string; readonly signature?: string } }
  | { readonly redactedContent: string };

export type ToolConfig = {
  readonly tools: readonly ToolEntry[];
  readonly toolChoice?: ConverseToolChoice;
};

export type ToolEntry =
  | {
      readonly toolSpec: {
        readonly name: string;
        readonly description?: string;
        readonly inputSchema: { readonly json: JsonObject };
        readonly strict?: boolean;
      };
    }
  | { readonly systemTool: { readonly name: string } }
  | CachePoint;

export type ConverseToolChoice =
  | { readonly auto: Record<string, never> }
  | { readonly any: Record<string, never> }
  | { readonly tool: { readonly name: string } };

export type ConverseOutputConfig = {
  readonly textFormat?: {
    readonly type: "json_schema";
    readonly structure: {
      /** The schema, as JSON inside JSON. */
      readonly jsonSchema: { readonly schema: string; readonly name: string };
    };
  };
  readonly effort?: string;
};

const CITATION = object({
  title: loose(text),
  source: loose(text),
  location: loose(object({ web: loose(object({ url: loose(text) })) })),
});

const CALL = object({
  toolUseId: loose(text),
  name: text,
  /** `server_tool_use` on calls that the vendor runs itself. */
  type: loose(text),
});

export const BLOCK_START = object({
  // Not loose: it says which block a piece belongs to.
  contentBlockIndex: number,
  start: object({ toolUse: CALL, toolResult: object({}), image: object({}) }),
});

/** The signature counts as content: without it the API does not accept the reasoning in the next request. */
const REASONING = object({
  text,
  signature: text,
  /** Base64, like all bytes in JSON. */
  redactedContent: text,
});

const DELTA = object({
  text,
  toolUse: object({ input: text }),
  reasoningContent: REASONING,
  citation: loose(CITATION),
  toolResult: list(anything),
  image: object({ source: object({ bytes: text }) }),
});

export const BLOCK_DELTA = object({ contentBlockIndex: number, delta: DELTA });

export const BLOCK_STOP = object({ contentBlockIndex: number });

/** The fields of the model's own answer that the request asked for. */
const ADDITIONAL = loose(object({ stop_sequence: loose(text) }));

export const MESSAGE_STOP = object({
  stopReason: loose(text),
  additionalModelResponseFields: ADDITIONAL,
});

const USAGE = object({
  /** Without the tokens that were read from the cache or written to it. */
  inputTokens: loose(number),
  outputTokens: loose(number),
  cacheReadInputTokens: loose(number),
  cacheWriteInputTokens: loose(number),
});

export const METADATA = object({ usage: loose(USAGE) });

/** A block of a whole answer. */
const BLOCK = object({
  text,
  toolUse: object({
    toolUseId: loose(text),
    name: text,
    type: loose(text),
    input: anything,
  }),
  reasoningContent: object({
    reasoningText: object({ text, signature: text }),
    redactedContent: text,
  }),
  citationsContent: object({
    content: list(object({ text })),
    citations: loose(list(CITATION)),
  }),
});

/** The whole answer of `Converse`. */
export const ANSWER = object({
  output: object({ message: object({ content: list(BLOCK) }) }),
  stopReason: loose(text),
  additionalModelResponseFields: ADDITIONAL,
  usage: loose(USAGE),
});

export type ConverseAnswer = Shaped<typeof ANSWER>;
export type MessageStop = Shaped<typeof MESSAGE_STOP>;
export type BlockStart = Shaped<typeof BLOCK_START>;
export type ConverseBlockDelta = Shaped<typeof BLOCK_DELTA>;
export type ConverseCall = Shaped<typeof CALL>;
export type Delta = Shaped<typeof DELTA>;
export type ConverseReasoningDelta = Shaped<typeof REASONING>;
export type ConverseCitation = Shaped<typeof CITATION>;
export type ConverseAnswerBlock = Shaped<typeof BLOCK>;
export type ConverseUsage = Shaped<typeof USAGE>;
