/**
 * The conversation that a chat continues: the interface between the chat and the code that keeps conversations. Each
 * prompt is a run. Only implementations of this interface decide what a run gets of the ones before it.
 */

import type { Message } from "../../protocol/items.ts";
import type { InnerRunRequest } from "../../runtime/run-request.ts";
import type { Run } from "../../runtime/runtime.ts";

export interface ConversationSummary {
  readonly id: string;
  readonly title: string;
  /** The folder where it began; null if a client of a server began it. */
  readonly folder: string | null;
  readonly used_at_ms: number;
}

/** A turn to which the chat can go back. */
export interface ConversationTurn {
  /** From 1. */
  readonly turn: number;
  /** The person's words before it; null for a turn after tool results. */
  readonly prompt: string | null;
  readonly text: string;
}

export type ChatRunRequest = Omit<InnerRunRequest, "input">;

export interface ChatConversation {
  /** Undefined before the first prompt. */
  readonly id: string | undefined;
  /** The runs that this chat has started, oldest first. */
  readonly runs: readonly string[];
  /** Continues the conversation with the message. */
  start(message: Message, request: ChatRunRequest): Promise<Run>;
  /** Called when a run of it has ended, before the next one starts. */
  settle(run: Run): Promise<void>;
  /** The conversations of this folder, the newest first. */
  list(): Promise<readonly ConversationSummary[]>;
  turns(): Promise<readonly ConversationTurn[]>;
  /** The person's last words if the model has not answered them, else undefined. */
  unanswered(): Promise<string | undefined>;
  /** Changes to another conversation, by any of its names. Rejects if it does not exist. */
  open(name: string): Promise<ConversationSummary>;
  /**
   * Changes to a copy that ends after this turn, or to a copy of everything. The original stays.
   */
  fork(turn?: number): Promise<void>;
  /** Changes to an empty conversation. */
  reset(): void;
}
