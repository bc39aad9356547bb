/**
 * What executes the bodies of the runs that this process has claimed. The claim decides who runs a run, and the
 * epoch that it gives fences every write: a carrier executes, and decides nothing. The engine's own carrier calls
 * the body; `dbos/` has one that starts a workflow of DBOS for each.
 */

export interface Carrier {
  /**
   * Executes a run that this process has claimed: calls `work` once, and resolves when it has ended. Rejects where
   * the run could not be begun; `work` is not called then, and not later.
   */
  carry(run: CarriedRun, work: () => Promise<Carried>): Promise<void>;
  /** Called with each `Engine.start`, for what processes that died have left. Must not reject. */
  tidy(): Promise<void>;
  /** Called when nothing is carried any more, while the store is still open. Must not reject. */
  close(): Promise<void>;
}

export interface CarriedRun {
  readonly id: string;
  /** Whether this process has just written it down: nobody can have carried it before. */
  readonly isNew: boolean;
}

/** `left` where somebody else goes on with the run, now or later. */
export type Carried = "ended" | "left";

/** Calls the work and nothing else. */
export const directCarrier: Carrier = {
  carry: async (_run, work) => void (await work()),
  tidy: async () => {},
  close: async () => {},
};
