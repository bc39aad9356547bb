/**
 * Counts the requests of a key that are in flight. A file of SQLite is used by the processes of one machine: there the
 * process that started the others counts, in memory (`memory/place-book.ts`). A database that several machines share
 * counts by itself (`postgres/postgres-places.ts`).
 *
 * Two concurrent requests never both get the last place. The places of a process that dies are returned: at once if
 * its parent counts, otherwise `LEASE_MS` after its last beat, by the clock of the record.
 *
 * One suite tests all implementations (`test/store/place-count-contract.ts`).
 */

export interface PlaceCount {
  /**
   * Takes one of `limit` places of a key. Undefined if all are taken. Rejects with `store_busy` if the record does not
   * answer: no request is admitted without being counted. `onLost` is called at most once, if this process was silent
   * for so long that the place was given away: its request has to end.
   */
  take(keyId: string, limit: number, onLost?: () => void): Promise<LeavePlace | undefined>;
}

/** Returns a place. Only the first call counts. */
export type LeavePlace = () => void;
