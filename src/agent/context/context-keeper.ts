/** The contract of whoever keeps the conversation of a run short. */

import type { Item } from "../../protocol/items.ts";
import type { RunCompaction } from "../../protocol/run-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { Answer } from "../turn.ts";

/** Keeps a conversation within a model's window, or a client's wish. Called outside steps. */
export interface ContextKeeper {
  /** What of the conversation is sent. Pure. */
  fit(items: readonly Item[]): readonly Item[];
  /** The conversation that goes on in its place; undefined to leave it as it is. */
  compact(items: readonly Item[], used: Used, at: KeeperMoment): Promise<Compacted | undefined>;
  /** Whether a request that its vendor refuses as too long is worth a compaction and another try. */
  readonly shortensRefused: boolean;
}

/**
 * When a keeper is asked: behind a turn, also the last one (and once before all, behind turn 0); before a
 * turn that is about to be asked; or when that turn's vendor has refused it as too long.
 */
export interface KeeperMoment {
  readonly when: "behind" | "before" | "refused";
  /** The last turn that has an answer; 0 for none. */
  readonly turn: number;
  /** What the run was asked, as it stands in the conversation. */
  readonly task: readonly Item[];
  /** What the record has of this moment, for a run that is played again. */
  readonly recorded?: RunCompaction | undefined;
}

/** What is known of a conversation's size. */
export interface Used {
  /** Of the last turn; nothing where there was none, or its vendor does not count. */
  readonly usage: Usage;
  /** What has come since that turn's answer. */
  readonly since: readonly Item[];
}

export interface Compacted {
  readonly items: readonly Item[];
  /** What it cost. */
  readonly answer: Pick<Answer, "usage" | "cost_usd">;
}
