/** The contract of whoever keeps the conversation of a run short. */

import type { Item } from "../../protocol/items.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { Answer } from "../turn.ts";

/** Keeps a conversation within a model's window, or a client's wish. Called outside steps. */
export interface ContextKeeper {
  /** What of the conversation is sent. Pure. */
  fit(items: readonly Item[]): readonly Item[];
  /** The conversation that goes on in its place behind a turn, or before all (0); undefined to leave it. */
  compact(items: readonly Item[], used: Used, turn: number): Promise<Compacted | undefined>;
}

/** What is known of a conversation's size. */
export interface Used {
  /** Of the last turn; nothing where there was none, or its vendor does not count. */
  readonly usage: Usage;
  /** What that turn's calls have added. */
  readonly since: readonly Item[];
}

export interface Compacted {
  readonly items: readonly Item[];
  /** What it cost. */
  readonly answer: Pick<Answer, "usage" | "cost_usd">;
}
