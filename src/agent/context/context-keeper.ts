/** The contract of the part that keeps a run's conversation short enough. */

import type { Item } from "../../protocol/items.ts";
import type { RunCompaction } from "../../protocol/run-events.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { ModelAnswer } from "../turn.ts";

/** Keeps a conversation within a model's window, or within what a client asked for. Called outside steps. */
export interface ContextKeeper {
  /** The part of the conversation that is sent. Pure. */
  fit(items: readonly Item[]): readonly Item[];
  /** The shorter conversation that replaces this one; undefined to leave it as it is. */
  compact(
    items: readonly Item[],
    used: UsedContext,
    at: KeeperMoment,
  ): Promise<Compacted | undefined>;
  /** True if a request that its vendor refuses as too long is worth a compaction and another try. */
  readonly shortensRefused: boolean;
}

/**
 * When a keeper is asked: after a turn, also the last one (and once before all, as after turn 0); before the next
 * turn; or when the vendor has refused that turn as too long.
 */
export interface KeeperMoment {
  readonly when: "after" | "before" | "refused";
  /** The last turn that has an answer; 0 for none. */
  readonly turn: number;
  /** The task of the run, as it stands in the conversation. */
  readonly task: readonly Item[];
  /** The recorded compaction of this moment, when a run is replayed. */
  readonly recorded?: RunCompaction | undefined;
}

/** The known size of a conversation. */
export interface UsedContext {
  /** Usage of the last turn; empty if there was none, or its vendor does not count. */
  readonly usage: Usage;
  /** Items that were added since that turn's answer. */
  readonly since: readonly Item[];
}

export interface Compacted {
  readonly items: readonly Item[];
  /** The usage and cost of the compaction. */
  readonly answer: Pick<ModelAnswer, "usage" | "cost_usd">;
}
