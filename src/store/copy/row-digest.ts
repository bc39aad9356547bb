/**
 * One digest for each row, the same for a row of SQLite, computed here, and for its copy, computed by Postgres: so
 * comparing a row sends only 32 bytes over the network.
 *
 * The digest covers the short columns as text, each with its length in bytes before it, or `-` for null; then, for
 * each large column, the SHA-256 of its bytes, or `-` for null.
 */

import { createHash, hash } from "node:crypto";
import type { ColumnKind, CopiedColumn, CopiedTable } from "./copied-tables.ts";

/** A text that is not held in memory: where it is in `parts`. */
export interface LargeText {
  readonly parts: string;
}

export type Cell = string | number | boolean | null | Uint8Array | LargeText;

export function isLargeText(cell: Cell): cell is LargeText {
  return cell !== null && typeof cell === "object" && "parts" in cell;
}

/** One cell for each column of its table. */
export type CopiedRow = readonly Cell[];

export function digestRow(
  { columns }: CopiedTable,
  row: CopiedRow,
  readPieces: (parts: string) => Iterable<Uint8Array>,
): Buffer {
  const short: string[] = [];
  const large: Uint8Array[] = [];
  for (const [at, { kind }] of columns.entries()) {
    const cell = row[at] ?? null;
    if (isLargeKind(kind)) large.push(digestLarge(cell, readPieces));
    else short.push(toPrefixed(cell === null ? null : toText(kind, cell)));
  }
  const bytes = Buffer.concat([Buffer.from(short.join("")), ...large]);
  return hash("sha256", bytes, "buffer");
}

/** The digest of a row as an expression of Postgres. */
export function toDigestSql({ columns }: CopiedTable): string {
  const short = columns.filter(({ kind }) => !isLargeKind(kind)).map(toPrefixedSql);
  const large = columns.filter(({ kind }) => isLargeKind(kind)).map(toLargeSql);
  return `sha256(${[`convert_to(concat(${short.join(", ")}), 'UTF8')`, ...large].join(" || ")})`;
}

function isLargeKind(kind: ColumnKind): boolean {
  return kind === "value" || kind === "bytes";
}

function digestLarge(cell: Cell, readPieces: (parts: string) => Iterable<Uint8Array>): Uint8Array {
  if (cell === null) return NULL;
  if (!isLargeText(cell)) return hash("sha256", cell as string | Uint8Array, "buffer");
  const digest = createHash("sha256");
  for (const piece of readPieces(cell.parts)) digest.update(piece);
  return digest.digest();
}

const NULL = Buffer.from("-");

function toLargeSql({ name, kind }: CopiedColumn): string {
  const bytes = kind === "bytes" ? `"${name}"` : `convert_to("${name}", 'UTF8')`;
  return `coalesce(sha256(${bytes}), '-'::bytea)`;
}

function toText(kind: ColumnKind, cell: Cell): string {
  switch (kind) {
    case "boolean":
      return cell === true ? "1" : "0";
    case "real":
      return toBits(Number(cell));
    default:
      return String(cell);
  }
}

/** The two databases write the same number in different ways. The driver sends -0 as 0. */
function toBits(number: number): string {
  const bits = Buffer.alloc(8);
  bits.writeDoubleBE(number + 0);
  return bits.toString("hex");
}

function toPrefixed(text: string | null): string {
  return text === null ? "-" : `${Buffer.byteLength(text)}:${text}`;
}

function toPrefixedSql({ name, kind }: CopiedColumn): string {
  const text = toTextSql(`"${name}"`, kind);
  return `coalesce(octet_length(${text}) || ':' || ${text}, '-')`;
}

function toTextSql(column: string, kind: ColumnKind): string {
  switch (kind) {
    case "text":
      return column;
    case "boolean":
      return `${column}::int::text`;
    case "real":
      return `encode(float8send(${column}), 'hex')`;
    default:
      return `${column}::text`;
  }
}
