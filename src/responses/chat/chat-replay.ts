/**
 * Writes a stored chat completion as the chunks of a stream: each choice in one piece. It has the ids, the words and
 * the usage of the first stream, but not its pieces.
 */

import type { ChatCallDelta, CompletionChunk, CompletionDelta } from "./chat-chunk.ts";
import type { ChatCompletion, ChatHead } from "./chat-completion.ts";
import type { ChatAnswerMessage, CompletionToolCall } from "./completion-message.ts";

/** The JSON of each frame. The server writes `[DONE]`. */
export function toChunks(
  completion: ChatCompletion,
  { includeUsage }: { readonly includeUsage: boolean },
): string[] {
  const { usage, offshoot, choices } = completion;
  const head = { ...headOf(completion), object: "chat.completion.chunk" as const };
  const unknown = includeUsage ? { usage: null } : {};
  const chunks = choices.flatMap(
    ({ index, message, logprobs, finish_reason }): CompletionChunk[] => [
      {
        ...head,
        choices: [{ index, delta: toDelta(message), logprobs, finish_reason: null }],
        ...unknown,
      },
      {
        ...head,
        choices: [{ index, delta: {}, logprobs: null, finish_reason }],
        ...unknown,
        ...(offshoot ? { offshoot } : {}),
      },
    ],
  );
  const last: CompletionChunk[] = includeUsage && usage ? [{ ...head, choices: [], usage }] : [];
  return [...chunks, ...last].map((chunk) => JSON.stringify(chunk));
}

function headOf({ id, created, model, service_tier, system_fingerprint }: ChatHead): ChatHead {
  return { id, created, model, service_tier, system_fingerprint };
}

function toDelta({ tool_calls, annotations, ...said }: ChatAnswerMessage): CompletionDelta {
  return {
    ...said,
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(tool_calls ? { tool_calls: tool_calls.map(toCallDelta) } : {}),
  };
}

function toCallDelta(call: CompletionToolCall, index: number): ChatCallDelta {
  return { index, ...call };
}
