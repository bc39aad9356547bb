/** The frames of a chat stream, as they are written. */

import type { OwnField } from "../fold/ignored.ts";
import type { ChatHead, ChatLogprobs, CompletionUsage, FinishReason } from "./chat-completion.ts";
import type { ChatCitation } from "./completion-message.ts";

export interface CompletionChunk extends ChatHead {
  object: "chat.completion.chunk";
  choices: {
    index: number;
    delta: CompletionDelta;
    logprobs: ChatLogprobs | null;
    finish_reason: FinishReason | null;
  }[];
  /** Only if usage was requested; null in all chunks except the last. */
  usage?: CompletionUsage | null;
  /** In the chunk that ends the answer: fields of the request that were left out. */
  offshoot?: OwnField;
}

export interface CompletionDelta {
  role?: "assistant";
  content?: string | null;
  refusal?: string | null;
  reasoning_content?: string;
  reasoning?: string;
  annotations?: ChatCitation[];
  tool_calls?: ChatCallDelta[];
  function_call?: { name?: string; arguments: string };
}

/**
 * The first delta of a call has its id, type and name; later ones only have the index and more text.
 */
export interface ChatCallDelta {
  index: number;
  id?: string;
  type?: "function" | "custom";
  function?: { name?: string; arguments: string };
  custom?: { name?: string; input: string };
}

export interface ChatStreamError {
  error: { message: string; type: string; param: string | null; code: string | null };
}
