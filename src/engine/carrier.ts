/**
 * Executes the bodies of the runs that this process has claimed. The claim decides which process runs a run, and its
 * epoch fences every write: a carrier executes, and decides nothing. The engine's own carrier calls the body; `dbos/`
 * has one that starts a workflow of DBOS for each.
 */

export interface Carrier {
  /**
   * Executes a run that this process has claimed: calls `work` once, and resolves when it has ended. Rejects if the
   * run could not be begun; `work` is not called then, and not later.
   */
  carry(run: CarriedRun, work: () => Promise<Carried>): Promise<void>;
  /** Called with each `Engine.start`, to remove what processes that died have left. Must not reject. */
  tidy(): Promise<void>;
  /** Called when no run is carried any more, while the store is still open. Must not reject. */
  close(): Promise<void>;
}

export interface CarriedRun {
  readonly id: string;
  /** True if this process has just written it down: no other process can have carried it before. */
  readonly isNew: boolean;
}

/** `left` if another process continues the run, now or later. */
export type Carried = "ended" | "left";

/** Calls the work and nothing else. */
export const directCarrier: Carrier = {
  carry: async (_run, work) => void (await work()),
  tidy: async () => {},
  close: async () => {},
};
