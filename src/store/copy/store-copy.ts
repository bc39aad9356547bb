/** What `offshoot store copy` is told, and what it tells. */

import type { NewThing } from "../shelf.ts";

export interface CopyOptions {
  /** What lies beside the record in files of the machine, and in the record where machines share one. */
  readonly things: readonly NewThing[];
  /** Called once, before the first row is copied. */
  onBegin(begun: CopyBegin): void;
  onProgress(progress: CopyProgress): void;
}

/**
 * `new`: the target was empty. `resumed`: it has part of the same record. `restarted`: it had part of this record
 * as it was before somebody changed it, which was removed.
 */
export type CopyBegin = "new" | "resumed" | "restarted";

export interface CopyProgress {
  readonly phase: "copying" | "comparing";
  readonly table: string;
  /** Of all tables, in this phase. */
  readonly rows: number;
  readonly totalRows: number;
}

export interface StoreCopy {
  /** The address of the copy for people, without its user and its password. */
  readonly target: string;
  /** Whether all tables are equal. If not, the copy cannot be used, and the next one starts again. */
  readonly isSame: boolean;
  readonly tables: readonly ComparedTable[];
}

export interface ComparedTable {
  readonly name: string;
  readonly source: TableDigest;
  readonly copy: TableDigest;
}

export interface TableDigest {
  readonly rows: number;
  /** Over all rows in the order of their keys, as hexadecimal digits. */
  readonly sha256: string;
}

export function isSameTable({ source, copy }: ComparedTable): boolean {
  return source.rows === copy.rows && source.sha256 === copy.sha256;
}
