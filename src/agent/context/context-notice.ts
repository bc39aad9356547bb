/** Warns the user before a conversation is too long for its model. */

import type { Notice } from "../../protocol/run-events.ts";
import type { Usage } from "../../protocol/usage.ts";

/** Above this share of the window the user is warned; above the whole window the vendor refuses. */
const CONTEXT_WARNING = 0.8;

export function contextNotice(model: string, usage: Usage, window: number | undefined): Notice[] {
  if (window === undefined || usage.total_tokens < window * CONTEXT_WARNING) return [];
  const share = Math.round((usage.total_tokens / window) * 100);
  const message = `The conversation fills ${share}% of ${model}'s window of ${window} tokens.`;
  return [{ type: "notice", code: "context", message }];
}
