/**
 * The part of the AI SDK's language model interface (version 4) that is used here, as types of our own: the
 * package must not depend on theirs. A test checks them against the real ones.
 */

import type { JsonObject } from "../../base/json.ts";

type Metadata = Record<string, Record<string, never>>;

export interface CallOptions {
  readonly prompt: readonly PromptMessage[];
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly responseFormat?:
    | { readonly type: "text" }
    | {
        readonly type: "json";
        readonly schema?: unknown;
        readonly name?: string | undefined;
        readonly description?: string | undefined;
      }
    | undefined;
  readonly seed?: number | undefined;
  readonly tools?: readonly OfferedTool[] | undefined;
  readonly toolChoice?:
    | { readonly type: "auto" | "none" | "required" }
    | { readonly type: "tool"; readonly toolName: string }
    | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly reasoning?: string | undefined;
  readonly includeRawChunks?: boolean | undefined;
  readonly providerOptions?: Readonly<Record<string, unknown>> | undefined;
}

export type OfferedTool =
  | {
      readonly type: "function";
      readonly name: string;
      readonly description?: string | undefined;
      readonly inputSchema: unknown;
      readonly strict?: boolean | undefined;
    }
  | {
      readonly type: "provider";
      readonly id: string;
      readonly name: string;
      readonly args: Readonly<Record<string, unknown>>;
    };

export interface PromptMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly PromptPart[];
}

/** One part of a message. Its type decides which fields it has. */
export interface PromptPart {
  readonly type: string;
  readonly text?: string | undefined;
  readonly data?: unknown;
  readonly mediaType?: string | undefined;
  readonly filename?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly approvalId?: string | undefined;
  readonly approved?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly providerExecuted?: boolean | undefined;
  readonly providerOptions?: Readonly<Record<string, unknown>> | undefined;
}

export type Content =
  | { type: "text"; text: string; providerMetadata?: Metadata }
  | { type: "reasoning"; text: string; providerMetadata?: Metadata }
  | { type: "source"; sourceType: "url"; id: string; url: string; title?: string }
  | { type: "file"; mediaType: string; data: { type: "data"; data: string } }
  | ToolCallContent
  | { type: "tool-approval-request"; approvalId: string; toolCallId: string }
  | {
      type: "tool-result";
      toolCallId: string;
      toolName: string;
      result: Record<string, never>;
      isError?: boolean;
      dynamic?: boolean;
      providerMetadata?: Metadata;
    };

export interface ToolCallContent {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: string;
  providerExecuted?: boolean;
  dynamic?: boolean;
  providerMetadata?: Metadata;
}

export type StreamPart =
  | { type: "stream-start"; warnings: Warning[] }
  | { type: "response-metadata"; id: string; timestamp: Date; modelId: string }
  | { type: "text-start" | "text-end" | "reasoning-start"; id: string }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | { type: "reasoning-end"; id: string; providerMetadata: Metadata }
  | { type: "tool-input-start"; id: string; toolName: string }
  | { type: "tool-input-delta"; id: string; delta: string }
  | { type: "tool-input-end"; id: string }
  | Exclude<Content, { type: "text" | "reasoning" }>
  | { type: "raw"; rawValue: unknown }
  | { type: "error"; error: unknown }
  | ({ type: "finish" } & Finish);

export type Warning = { type: "unsupported"; feature: string; details?: string };

export interface Finish {
  finishReason: {
    unified: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";
    raw: string | undefined;
  };
  usage: {
    inputTokens: {
      total: number | undefined;
      noCache: number | undefined;
      cacheRead: number | undefined;
      cacheWrite: number | undefined;
    };
    outputTokens: {
      total: number | undefined;
      text: number | undefined;
      reasoning: number | undefined;
    };
  };
  providerMetadata: Metadata;
}

export interface GenerateResult extends Finish {
  content: Content[];
  warnings: Warning[];
  request: { body: unknown };
  response: { id: string; timestamp: Date; modelId: string };
}

export interface StreamResult {
  stream: ReadableStream<StreamPart>;
  request: { body: unknown };
}

/** A language model of the AI SDK. */
export interface OffshootLanguageModel {
  readonly specificationVersion: "v4";
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(options: CallOptions): Promise<GenerateResult>;
  doStream(options: CallOptions): Promise<StreamResult>;
}

/** JSON that the framework passes on. */
export function toMetadata(own: JsonObject): Metadata {
  return { offshoot: own } as unknown as Metadata;
}
