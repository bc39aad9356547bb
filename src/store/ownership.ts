/** Which process has which run, and which processes live. The engine's own part of a record. */

export interface Ownership {
  /**
   * Makes `owner` the owner and returns the new epoch; undefined when the run has ended. With `from` it is also
   * undefined when the run has another epoch: of two processes that take over, one succeeds. It is also undefined when
   * the run's journal is newer than `journal`, the newest that the owner knows (`JOURNAL_VERSION` when left out); an
   * older journal gets the owner's version.
   */
  claim(id: string, owner: string, from?: number, journal?: number): Promise<number | undefined>;
  /** Writes that a worker lives; the runs of an owner without a beat for a while may be taken over. */
  beat(worker: Worker): Promise<void>;
  getWorker(id: string): Promise<Worker | undefined>;
}

/**
 * How long a process may be silent before others take over its runs. Ten missed beats: a busy machine delays some, and
 * a takeover by mistake repeats a step.
 */
export const LEASE_MS = 10_000;

export interface Worker {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** The boot in which `pid` and `beat_ms` are valid; empty if the system does not tell. */
  readonly boot: string;
  readonly pid_namespace: string;
  /** When the process started, in ticks since boot. */
  readonly started: string;
  /** The wall clock of its last beat, for people; 0 after its farewell. */
  readonly beat_at_ms: number;
  /** The worker's last heartbeat in monotonic time of its boot, which decides whether it lives. */
  readonly beat_ms: number;
  /** How long it has been silent, by the clock of the record; left out if the record has none. */
  readonly silent_ms?: number | undefined;
}
