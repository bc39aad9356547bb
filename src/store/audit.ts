/**
 * Who did what on a server, without its words: no prompt, no answer, no key but its id.
 *
 * A request must not wait for its entry, so `write` only remembers it; what waits may be lost in a crash.
 * One suite holds for all implementations (`test/store/audit-contract.ts`).
 */

/** Entries that wait for a disk that takes nothing, or that memory keeps; the oldest go. About a megabyte. */
export const MAX_ENTRIES = 10_000;

export interface Audit {
  write(entry: AuditEntry): void;
  /** Newest first, with what still waits. */
  list(query: AuditQuery): Promise<StoredAuditEntry[]>;
  /** Removes what is older. */
  prune(beforeMs: number): Promise<void>;
  /** Writes down what waits. To be called before the database is closed. */
  close(): Promise<void>;
}

export interface AuditEntry {
  readonly at_ms: number;
  readonly tenant: string;
  /** Null where no key was shown. */
  readonly key_id: string | null;
  /** `responses.create`. */
  readonly action: string;
  /** The id it was about. */
  readonly target: string | null;
  /** Of the HTTP answer. */
  readonly status: number;
  /** Who asked. */
  readonly address: string | null;
}

export interface StoredAuditEntry extends AuditEntry {
  readonly id: number;
}

/** What is left out is not asked about. */
export interface AuditQuery {
  readonly limit: number;
  /** Only entries older than the one with this id. */
  readonly before?: number | undefined;
  readonly keyId?: string | undefined;
  readonly tenant?: string | undefined;
  /** From the first moment up to the second, which is not in it. */
  readonly time?: Range | undefined;
  /** A part of the action: `/v1/files`. */
  readonly action?: string | undefined;
  /** From the first status up to the second, which is not in it. */
  readonly status?: Range | undefined;
}

export type Range = readonly [from: number, to: number];
