/**
 * The conversation that a chat goes on with: the seam between the chat and what keeps conversations. Each prompt is a
 * run; what a run is told of the ones before it is this interface's business, and nobody else's.
 */

import type { Message } from "../../protocol/items.ts";
import type { InnerRunRequest } from "../../runtime/run-request.ts";
import type { Run } from "../../runtime/runtime.ts";

export interface ConversationSummary {
  readonly id: string;
  readonly title: string;
  /** Where it began; null for one that a client of a server began. */
  readonly folder: string | null;
  readonly used_at_ms: number;
}

/** A place to go back to. */
export interface ConversationTurn {
  /** From 1. */
  readonly turn: number;
  /** What the person said before it; null for a turn after tool results. */
  readonly prompt: string | null;
  readonly text: string;
}

export type ChatRunRequest = Omit<InnerRunRequest, "input">;

export interface Conversation {
  /** Undefined before the first prompt. */
  readonly id: string | undefined;
  /** The runs that this chat has started, oldest first. */
  readonly runs: readonly string[];
  /** Goes on with the message. */
  start(message: Message, request: ChatRunRequest): Promise<Run>;
  /** Called when a run of it has ended, before the next one starts. */
  settle(run: Run): Promise<void>;
  /** Those of this folder, the newest first. */
  list(): Promise<readonly ConversationSummary[]>;
  turns(): Promise<readonly ConversationTurn[]>;
  /** What the person said last, where the model has not answered it; undefined where it has. */
  unanswered(): Promise<string | undefined>;
  /** Goes on with another one, by any of its names. Rejects where there is none. */
  open(name: string): Promise<ConversationSummary>;
  /** Goes on with a copy that ends after this turn, or with all of it. The old one stays. */
  fork(turn?: number): Promise<void>;
  /** Goes on with nothing. */
  reset(): void;
}
