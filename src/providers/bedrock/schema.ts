/**
 * The Converse API in JSON. What we send is typed closely: a test holds it to the types of the
 * vendor's own package. What we read is loose: every field may be missing.
 *
 * Types and not interfaces, so that they are JSON to the compiler as well.
 */

import type { Json, JsonObject } from "../../base/json.ts";

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
  readonly outputConfig?: OutputConfig;
  readonly serviceTier?: { readonly type: ServiceTier };
};

export type ServiceTier = "default" | "flex" | "priority" | "reserved";

export type Turn = { readonly role: Role; readonly content: readonly ContentBlock[] };

export type Role = "user" | "assistant";

export type SystemBlock = { readonly text: string } | CachePoint;

export type CachePoint = { readonly cachePoint: { readonly type: "default" } };

export type ContentBlock =
  | { readonly text: string }
  | MediaBlock
  | { readonly audio: { readonly format: AudioFormat; readonly source: Source } }
  | { readonly toolUse: ToolUse }
  | { readonly toolResult: ToolResult }
  | { readonly reasoningContent: ReasoningContent }
  | CachePoint;

export type MediaBlock =
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
  | { readonly reasoningText: { readonly text: string; readonly signature: string } }
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

/** The whole answer of `Converse`. */
export interface ConverseAnswer {
  readonly output?: {
    readonly message?: { readonly content?: readonly JsonObject[] | null };
  } | null;
  readonly stopReason?: string | null;
  readonly usage?: ConverseUsage | null;
}

export interface BlockStart {
  readonly contentBlockIndex?: number;
  readonly start?: {
    readonly toolUse?: {
      readonly toolUseId?: string;
      readonly name?: string;
      readonly type?: string;
    };
    readonly toolResult?: JsonObject;
    readonly image?: JsonObject;
  } | null;
}

export interface BlockDelta {
  readonly contentBlockIndex?: number;
  readonly delta?: Delta | null;
}

export interface Delta {
  readonly text?: string | null;
  readonly toolUse?: { readonly input?: string | null } | null;
  readonly reasoningContent?: ReasoningDelta | null;
  readonly citation?: Citation | null;
  readonly toolResult?: readonly Json[] | null;
  readonly image?: { readonly source?: { readonly bytes?: string } | null } | null;
}

export interface ReasoningDelta {
  readonly text?: string | null;
  readonly signature?: string | null;
  /** Base64, as are all bytes in JSON. */
  readonly redactedContent?: string | null;
}

export type Citation = JsonObject & {
  readonly title?: string;
  readonly source?: string;
  readonly location?: { readonly web?: { readonly url?: string } };
};

export interface ConverseUsage {
  /** Without those read from the cache or written to it. */
  readonly inputTokens?: number | null;
  readonly outputTokens?: number | null;
  readonly cacheReadInputTokens?: number | null;
  readonly cacheWriteInputTokens?: number | null;
}
