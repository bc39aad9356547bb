/** The options of `offshoot store copy`, and what it reports. */

import type { NewThing } from "../shelf.ts";

export interface CopyOptions {
  /** Things that are files beside a record of one machine, and in the record if machines share it. */
  readonly things: readonly NewThing[];
  /** Called once, before the first row is copied. */
  onBegin(begun: CopyBegin): void;
  onProgress(progress: CopyProgress): void;
}

/**
 * `new`: the target was empty. `resumed`: it has part of the same record. `restarted`: it had part of an older state
 * of this record, which was removed.
 */
export type CopyBegin = "new" | "resumed" | "restarted";

export interface CopyProgress {
  readonly phase: "copying" | "comparing";
  readonly table: string;
  /** Rows of all tables, in this phase. */
  readonly rows: number;
  readonly totalRows: number;
}

export interface StoreCopy {
  /** The address of the copy for people, without its user and its password. */
  readonly target: string;
  /** True if all tables are equal. If not, the copy cannot be used, and the next one starts again. */
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
