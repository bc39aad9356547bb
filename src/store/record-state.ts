/**
 * The state of a record, for its operators: which processes work on it, what waits in its queues, what is stored for
 * which tenant. Only reads, and cheap: from small tables and from indexes, never from bodies. One suite tests all
 * implementations (`test/store/record-state-contract.ts`).
 */

export interface RecordState {
  /** Processes that work on runs, or did lately; the latest beat comes first. */
  listWorkers(nowMs: number): Promise<WorkerState[]>;
  /** Runs that take turns, by queue and lane. */
  listLanes(): Promise<LaneState[]>;
  /** Bytes of each tenant, as they are counted for its quota. */
  listStorage(): Promise<StorageState[]>;
  /**
   * How many things of each kind tenants have, `MAX_COUNTED` at most; runs that a person or a request started are of
   * the kind `run`.
   */
  countKinds(): Promise<KindCount[]>;
}

export interface WorkerState {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Time since its last beat; by the clock of the record, if that has one. */
  readonly silent_ms: number;
  /** How many runs it has. */
  readonly runs: number;
}

export interface LaneState {
  readonly queue: string;
  /** The tenant's lane. */
  readonly lane: string;
  /** How many have their turn. */
  readonly running: number;
  readonly waiting: number;
  /** When the longest waiting run was created; null if none waits. */
  readonly oldest_at_ms: number | null;
}

export interface StorageState {
  readonly tenant: string;
  readonly bytes: number;
}

export interface KindCount {
  readonly tenant: string;
  readonly kind: string;
  readonly count: number;
}

/** Counting stops here: no caller should wait for a walk through a million rows. */
export const MAX_COUNTED = 10_000;
/** The most kinds of tenants that are reported. */
export const MAX_KINDS = 5000;

/** More processes than a server has; every command is one for a moment. */
export const MAX_WORKERS = 100;
