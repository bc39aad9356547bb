/**
 * The part of the Agents SDK's `Model` interface that is used here, as types of our own: the package must
 * not depend on theirs. A test checks them against the real ones.
 */

import type { JsonObject } from "../../base/json.ts";

type Data = Record<string, unknown>;

export interface AgentsRequest {
  readonly systemInstructions?: string | undefined;
  readonly input: string | readonly AgentsItem[];
  readonly previousResponseId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly modelSettings: AgentsSettings;
  readonly tools: readonly AgentsTool[];
  readonly outputType: "text" | { readonly type: "json_schema"; readonly [field: string]: unknown };
  readonly handoffs: readonly AgentsHandoff[];
  readonly signal?: AbortSignal | undefined;
  readonly prompt?: AgentsPrompt | undefined;
  readonly overridePromptModel?: boolean | undefined;
}

export interface AgentsPrompt {
  readonly promptId: string;
  readonly version?: string | undefined;
  readonly variables?: unknown;
}

export interface AgentsSettings {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly toolChoice?: string | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  readonly truncation?: string | undefined;
  readonly maxTokens?: number | undefined;
  readonly store?: boolean | undefined;
  readonly reasoning?: unknown;
  readonly text?: unknown;
  readonly providerData?: Data | undefined;
}

/** A tool. Its type decides which fields it has. */
export interface AgentsTool {
  readonly type: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters?: unknown;
  readonly strict?: boolean | undefined;
  readonly providerData?: Data | undefined;
}

export interface AgentsHandoff {
  readonly toolName: string;
  readonly toolDescription: string;
  readonly inputJsonSchema: unknown;
  readonly strictJsonSchema: boolean;
}

/** An item of the conversation. Its type decides which fields it has. */
export interface AgentsItem {
  readonly type?: string | undefined;
  readonly role?: string | undefined;
  readonly content?: unknown;
  readonly callId?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
  readonly output?: unknown;
  readonly providerData?: Data | undefined;
}

type Status = "in_progress" | "completed" | "incomplete";

export type AgentsOutput =
  | {
      type: "message";
      role: "assistant";
      id: string;
      status: Status;
      content: ({ type: "output_text"; text: string } | { type: "refusal"; refusal: string })[];
      providerData: Data;
    }
  | {
      type: "function_call";
      id: string;
      callId: string;
      name: string;
      arguments: string;
      status: Status;
      providerData: Data;
    }
  | {
      type: "reasoning";
      id: string;
      content: { type: "input_text"; text: string }[];
      rawContent: { type: "reasoning_text"; text: string }[];
      providerData: Data;
    }
  | {
      type: "hosted_tool_call";
      id: string;
      name: string;
      arguments?: string;
      status: string;
      output?: string;
      providerData: Data;
    };

export interface AgentsResponse {
  usage: AgentsUsage;
  output: AgentsOutput[];
  responseId: string;
  providerData: Data;
}

export type AgentsEvent =
  | { type: "response_started"; providerData: Data }
  | { type: "output_text_delta"; delta: string; itemId: string }
  | { type: "model"; event: JsonObject }
  | {
      type: "response_done";
      response: {
        id: string;
        output: AgentsOutput[];
        usage: AgentsUsage;
        providerData: Data;
      };
    };

/** The framework adds these up. */
export class AgentsUsage {
  requests = 1;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  inputTokensDetails: Record<string, number>[];
  outputTokensDetails: Record<string, number>[];
  requestUsageEntries = undefined;

  constructor(counts: {
    readonly input: number;
    readonly output: number;
    readonly inputDetails: Record<string, number>;
    readonly outputDetails: Record<string, number>;
  }) {
    this.inputTokens = counts.input;
    this.outputTokens = counts.output;
    this.totalTokens = counts.input + counts.output;
    this.inputTokensDetails = [counts.inputDetails];
    this.outputTokensDetails = [counts.outputDetails];
  }

  add(more: Pick<AgentsUsage, "requests" | "inputTokens" | "outputTokens" | "totalTokens">): void {
    this.requests += more.requests;
    this.inputTokens += more.inputTokens;
    this.outputTokens += more.outputTokens;
    this.totalTokens += more.totalTokens;
  }
}

/** A model of the Agents SDK. */
export interface OffshootAgentsModel {
  getResponse(request: AgentsRequest): Promise<AgentsResponse>;
  getStreamedResponse(request: AgentsRequest): AsyncIterable<AgentsEvent>;
}
