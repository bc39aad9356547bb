/**
 * The audit log of a server: which key did what, without contents. No prompt, no answer, no key except its id.
 *
 * A request must not wait for its entry, so `write` only remembers it; waiting entries may be lost in a crash. One
 * suite tests all implementations (`test/store/audit-contract.ts`).
 */

/** The most entries that wait for a full disk, or that memory keeps; the oldest are dropped. About a megabyte. */
export const MAX_ENTRIES = 10_000;

export interface Audit {
  write(entry: AuditEntry): void;
  /** Newest first, including entries that still wait. */
  list(query: AuditQuery): Promise<StoredAuditEntry[]>;
  /** Removes older entries. */
  prune(beforeMs: number): Promise<void>;
  /** Writes waiting entries. Call it before the database is closed. */
  close(): Promise<void>;
}

export interface AuditEntry {
  readonly at_ms: number;
  readonly tenant: string;
  /** Null for a request without a key. */
  readonly key_id: string | null;
  /** `responses.create`. */
  readonly action: string;
  /** The id it was about. */
  readonly target: string | null;
  /** The status of the HTTP answer. */
  readonly status: number;
  /** The address of the client. */
  readonly address: string | null;
}

export interface StoredAuditEntry extends AuditEntry {
  readonly id: number;
}

/** Fields that are left out do not filter. */
export interface AuditQuery {
  readonly limit: number;
  /** Only entries older than the one with this id. */
  readonly before?: number | undefined;
  readonly keyId?: string | undefined;
  readonly tenant?: string | undefined;
  /** From the first moment up to the second, which is excluded. */
  readonly time?: TimeRange | undefined;
  /** A part of the action: `/v1/files`. */
  readonly action?: string | undefined;
  /** From the first status up to the second, which is excluded. */
  readonly status?: TimeRange | undefined;
}

export type TimeRange = readonly [from: number, to: number];
