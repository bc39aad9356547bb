/**
 * How many requests of a key are on their way at once, and who counts them. A file of SQLite is used by the processes
 * of one machine: there the process that started the others counts, in memory (`memory/place-book.ts`). A database
 * that several machines share counts by itself (`postgres/postgres-places.ts`).
 *
 * Two who ask at once are never both given the last place. The places of a process that dies come back: at once where
 * its parent counts, else `LEASE_MS` after it was last heard of, by the clock of the record.
 *
 * One suite holds for all implementations (`test/store/places-contract.ts`).
 */

export interface PlaceCount {
  /**
   * Takes one of `limit` places of a key. Undefined where all of them are taken. Rejects with `store_busy` where the
   * record does not answer: nobody is let in uncounted. `onLost` is called at most once, where this process was
   * silent for so long that the place went to somebody else: what it was taken for has to end.
   */
  take(keyId: string, limit: number, onLost?: () => void): Promise<LeavePlace | undefined>;
}

/** Gives a place back. Only the first call counts. */
export type LeavePlace = () => void;
