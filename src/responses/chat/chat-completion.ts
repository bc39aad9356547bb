/**
 * Turns a finished response into a `chat.completion`, with the parts that a stream's chunks share. Chat has one
 * message: its text is that of all messages, and calls of tools that the server ran are left out.
 */

import { Failure } from "../../base/failure.ts";
import type { EmittedLogprob, EmittedResponse } from "../../protocol/emitted.ts";
import type { Metadata, ServiceTier } from "../../protocol/request.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { OwnField } from "../fold/ignored.ts";
import {
  type CallSpelling,
  type ChatAnswerMessage,
  callsOf,
  textsOf,
  toMessage,
} from "./completion-message.ts";

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: {
    cached_tokens: number;
    cache_write_tokens: number;
    audio_tokens: number;
  };
  completion_tokens_details: {
    reasoning_tokens: number;
    audio_tokens: number;
    accepted_prediction_tokens: number;
    rejected_prediction_tokens: number;
  };
}

export interface ChatLogprobs {
  content: EmittedLogprob[];
  refusal: null;
}

/** The common beginning of a completion and of each chunk. */
export interface ChatHead {
  id: string;
  /** In seconds. */
  created: number;
  model: string;
  service_tier: ServiceTier;
  system_fingerprint: null;
}

/** One of several choices of a stream, which has one head and one usage. */
export interface CompletionChoice {
  readonly index: number;
  /** The head of the stream: the first choice to know one sets it. */
  readonly toHead: (own: ChatHead) => ChatHead;
  /** Called with the usage of the choice; the sum is written when all have ended. */
  readonly onUsage: (usage: Usage) => void;
}

export interface ChatCompletion extends ChatHead {
  object: "chat.completion";
  choices: {
    index: number;
    message: ChatAnswerMessage;
    logprobs: ChatLogprobs | null;
    finish_reason: FinishReason;
  }[];
  usage?: CompletionUsage;
  metadata: Metadata;
  /**
   * A field of this server: which fields of the request were left out, and the exact reason of the end.
   */
  offshoot?: OwnField;
}

export interface CompletionOptions {
  /** The model name in the answer; the response's own if none is given. */
  readonly model?: string | undefined;
  readonly calls?: CallSpelling | undefined;
}

/** Rejects if the response has no answer: it failed, was cancelled or still runs. */
export function toChatCompletion(
  response: EmittedResponse,
  options: CompletionOptions = {},
): ChatCompletion {
  checkAnswered(response);
  const { calls = "tool_calls", model = response.model } = options;
  const { usage, metadata, output, offshoot } = response;
  const logprobs = textsOf(output).flatMap((part) => part.logprobs);
  return {
    ...toHead(response, model),
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: toMessage(output, calls),
        logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
        finish_reason: toFinishReason(response, calls),
      },
    ],
    ...(usage ? { usage: toChatUsage(usage) } : {}),
    metadata,
    ...(offshoot ? { offshoot } : {}),
  };
}

function checkAnswered({ status, error }: EmittedResponse): void {
  switch (status) {
    case "completed":
    case "incomplete":
      return;
    case "cancelled":
      throw new Failure("cancelled", CANCELLED);
    case "failed": {
      const code =
        error?.code === "rate_limit_exceeded" ? "provider_overloaded" : "provider_failed";
      throw new Failure(code, error?.message ?? "The response failed.", {
        vendorCode: error?.code,
      });
    }
    case "queued":
    case "in_progress":
      throw new Failure("internal", "The response has not ended.");
  }
}

export const CANCELLED = "The response was cancelled before it was complete.";

export function toHead(response: EmittedResponse, model: string): ChatHead {
  return {
    id: `chatcmpl-${response.id.replace(/^resp_/, "")}`,
    created: response.created_at,
    model,
    service_tier: response.service_tier,
    system_fingerprint: null,
  };
}

/** The reason why an ended response ended. */
export function toFinishReason(response: EmittedResponse, calls: CallSpelling): FinishReason {
  const { incomplete_details, output } = response;
  if (incomplete_details) {
    return incomplete_details.reason === "content_filter" ? "content_filter" : "length";
  }
  return callsOf(output).length > 0 ? calls : "stop";
}

export function toChatUsage(usage: Usage): CompletionUsage {
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { ...usage.input_tokens_details, audio_tokens: 0 },
    completion_tokens_details: {
      ...usage.output_tokens_details,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
