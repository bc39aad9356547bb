/** Which process has which run, and which processes live. The engine's own part of a record. */

export interface Ownership {
  /**
   * Makes `owner` the owner and returns the new epoch; undefined when the run has ended. With `from` it
   * is undefined, too, when the run has another epoch than that: of two who take over, one does. And it is
   * when its journal is newer than `journal`, the newest that the owner knows (`JOURNAL_VERSION` when left out); an
   * older one becomes the owner's.
   */
  claim(id: string, owner: string, from?: number, journal?: number): Promise<number | undefined>;
  /** Says that a worker lives; an owner that has not said so for a while may be taken over. */
  beat(worker: Worker): Promise<void>;
  getWorker(id: string): Promise<Worker | undefined>;
}

/**
 * For how long a process may be silent before others take what it has. Ten beats missed: a busy machine delays some,
 * and a takeover by mistake repeats a step.
 */
export const LEASE_MS = 10_000;

export interface Worker {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Within which `pid` and `beat_ms` mean something; empty where the system does not tell. */
  readonly boot: string;
  readonly pid_namespace: string;
  /** When the process started, in ticks since boot. */
  readonly started: string;
  /** The wall clock of its last beat, for people; 0 once it has said farewell. */
  readonly beat_at_ms: number;
  /** The same in monotonic time of its boot, which decides whether it lives. */
  readonly beat_ms: number;
  /** For how long it has said nothing, by the clock of the record; left out where the record has none. */
  readonly silent_ms?: number | undefined;
}
