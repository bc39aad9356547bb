/**
 * The Converse API in JSON. What we send is typed closely: a test holds it to the types of the
 * vendor's own package. What we read is held against its
 * shape; fields whose loss costs no words are loose.
 *
 * Types and not interfaces, so that they are JSON to the compiler as well.
 */

import type { JsonObject } from "../../base/json.ts";
import { anything, list, loose, number, object, type Shaped, text } from "../shape.ts";

export type ConverseBody = {
  readonly messages: readonly Turn[];
  readonly system?: readonly SystemBlock[];
  readonly inferenceConfig?: {
    readonly maxTokens?: number;
    readonly temperature?: number;
    readonly topP?: number;
    readonly stopSequences?: readonly string[];
  };
  readonly toolConfig?: ToolConfig;
  /** Handed to the model as it is; what may stand there depends on who made the model. */
  readonly additionalModelRequestFields?: JsonObject;
  /** Fields of the model's own answer that are told beside it, as JSON pointers. */
  readonly additionalModelResponseFieldPaths?: readonly string[];
  readonly outputConfig?: OutputConfig;
  readonly serviceTier?: { readonly type: ServiceTier };
};

export type ServiceTier = "default" | "flex" | "priority" | "reserved";

export type Turn = { readonly role: Role; readonly content: readonly ContentBlock[] };

export type Role = "user" | "assistant";

export type SystemBlock = { readonly text: string } | CachePoint;

export type CachePoint = {
  readonly cachePoint: { readonly type: "default"; readonly ttl?: "1h" };
};

export type ContentBlock =
  | { readonly text: string }
  | MediaBlock
  | { readonly audio: { readonly format: AudioFormat; readonly source: Source } }
  | { readonly toolUse: ToolUse }
  | { readonly toolResult: ToolResult }
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
  | { readonly video: { readonly format: VideoFormat; readonly source: Source } }
  | { readonly image: { readonly format: ImageFormat; readonly source: Source } }
  | { readonly document: DocumentBlock };

export type DocumentBlock = {
  readonly format: DocumentFormat;
  readonly name: string;
  readonly source: Source;
};

/** Base64 in JSON; a package that speaks for its user takes bytes there. */
export type Source = { readonly bytes: string } | { readonly s3Location: { readonly uri: string } };

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

export type ToolUse = {
  readonly toolUseId: string;
  readonly name: string;
  readonly input: JsonObject;
};

export type ToolResult = {
  readonly toolUseId: string;
  readonly content: readonly ToolResultBlock[];
  readonly status?: "success" | "error";
};

export type ToolResultBlock = { readonly text: string } | MediaBlock;

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

export type OutputConfig = {
  readonly textFormat?: {
    readonly type: "json_schema";
    readonly structure: {
      /** The schema is JSON inside JSON. */
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
  /** `server_tool_use` on calls that the vendor answers itself. */
  type: loose(text),
});

export const BLOCK_START = object({
  // Not loose: it says which block a piece belongs to.
  contentBlockIndex: number,
  start: object({ toolUse: CALL, toolResult: object({}), image: object({}) }),
});

/** A signature counts as content: without it the reasoning is not taken back. */
const REASONING = object({
  text,
  signature: text,
  /** Base64, as are all bytes in JSON. */
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

/** What the request asked for of the model's own answer. */
const ADDITIONAL = loose(object({ stop_sequence: loose(text) }));

export const MESSAGE_STOP = object({
  stopReason: loose(text),
  additionalModelResponseFields: ADDITIONAL,
});

const USAGE = object({
  /** Without those read from the cache or written to it. */
  inputTokens: loose(number),
  outputTokens: loose(number),
  cacheReadInputTokens: loose(number),
  cacheWriteInputTokens: loose(number),
});

export const METADATA = object({ usage: loose(USAGE) });

/** Of an answer in one piece. */
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
export type BlockDelta = Shaped<typeof BLOCK_DELTA>;
export type Call = Shaped<typeof CALL>;
export type Delta = Shaped<typeof DELTA>;
export type ReasoningDelta = Shaped<typeof REASONING>;
export type Citation = Shaped<typeof CITATION>;
export type AnswerBlock = Shaped<typeof BLOCK>;
export type ConverseUsage = Shaped<typeof USAGE>;
