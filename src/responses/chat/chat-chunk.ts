/** The frames of a chat stream, as they are written. */

import type { OwnField } from "../fold/ignored.ts";
import type {
  ChatCitation,
  ChatHead,
  ChatLogprobs,
  ChatUsage,
  FinishReason,
} from "./chat-completion.ts";

export interface ChatChunk extends ChatHead {
  object: "chat.completion.chunk";
  choices: {
    index: number;
    delta: ChatDelta;
    logprobs: ChatLogprobs | null;
    finish_reason: FinishReason | null;
  }[];
  /** Only where usage was asked for; null in all chunks but the last. */
  usage?: ChatUsage | null;
  /** In the chunk that ends the answer: what of the request was left out. */
  offshoot?: OwnField;
}

export interface ChatDelta {
  role?: "assistant";
  content?: string | null;
  refusal?: string | null;
  reasoning_content?: string;
  reasoning?: string;
  annotations?: ChatCitation[];
  tool_calls?: ChatCallDelta[];
  function_call?: { name?: string; arguments: string };
}

/** The first of a call has its id, type and name; later ones the index and more text alone. */
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
