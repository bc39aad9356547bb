/** The teams of this process that take the client's answers while they work, by the runs of their heads. */

import type { Item } from "../../protocol/items.ts";

export interface Injections {
  /** Call what it returns when the team takes no more. */
  open(runId: string, taker: AnswerTaker): () => void;
  find(runId: string): AnswerTaker | undefined;
}

export interface AnswerTaker {
  readonly tenant: string;
  /**
   * Resolves when the answers are in the log: whoever waited for them goes on, here or after a restart.
   * Takes all of them or none: rejects with `invalid_request` where one answers nothing that is open,
   * and with `conflict` where the response is about to end.
   */
  take(items: readonly Item[]): Promise<void>;
}

export function createInjections(): Injections {
  const takers = new Map<string, AnswerTaker>();
  return {
    open(runId, taker) {
      takers.set(runId, taker);
      return () => void (takers.get(runId) === taker && takers.delete(runId));
    },
    find: (runId) => takers.get(runId),
  };
}
