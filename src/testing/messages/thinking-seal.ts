/**
 * Signatures of thinking, and which answer they were given in. A client that changes a thought,
 * loses it, or gives it to another call's turn is detected.
 */

import { createHash } from "node:crypto";

const PREFIX = "ErUB";

export function signThinking(thinking: string): string {
  return PREFIX + createHash("sha256").update(thinking).digest("base64");
}

export interface ThoughtMemory {
  /** The call was made in an answer with these thoughts, by their signatures. */
  keep(toolUseId: string, signatures: readonly string[]): void;
  /** `undefined` for a call that this server did not make. */
  thoughtsOf(toolUseId: string): readonly string[] | undefined;
}

export function createThoughtMemory(): ThoughtMemory {
  const thoughts = new Map<string, readonly string[]>();
  return {
    keep: (toolUseId, signatures) => void thoughts.set(toolUseId, [...signatures]),
    thoughtsOf: (toolUseId) => thoughts.get(toolUseId),
  };
}
