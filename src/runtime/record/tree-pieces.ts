/**
 * The skeleton of a tree in pieces. A tree is read once for all of its pieces: the last few trees are kept for a
 * while, as long as nothing was added to them.
 */

import type { Clock } from "../../base/clock.ts";
import { toUnknownRun } from "../../store/refusal.ts";
import type { RunIndex } from "../../store/run-index.ts";
import { toInvalid } from "./run-query.ts";
import { toSkeleton } from "./skeleton.ts";
import { TREE_FIELDS, type TreePiece, type TreeRow } from "./views.ts";

export interface TreeReader {
  /** `after` is `next` of the piece before; null for the first one. */
  read(id: string, after: string | null): Promise<TreePiece>;
}

/** Rows of a piece: about 0.7 MB, which a page shows at once. */
const PIECE_ROWS = 5000;
/** Deep trees have long ids: a piece ends before it is over 2 MB. */
const PIECE_BYTES = 1_500_000;
const KEPT_TREES = 4;
const KEPT_MS = 30_000;

interface KeptTree {
  readonly version: string;
  readonly atMs: number;
  readonly rows: readonly TreeRow[];
}

export function createTreeReader(index: RunIndex, clock: Clock): TreeReader {
  const kept = new Map<string, KeptTree>();

  async function load(id: string): Promise<readonly TreeRow[]> {
    const version = await index.countTree(id);
    const known = kept.get(id);
    if (known?.version === version && clock.now() - known.atMs < KEPT_MS) return known.rows;
    const runs = await index.listTree(id);
    if (runs.length === 0) throw toUnknownRun(id);
    const rows = toSkeleton(runs, await index.listSpans(id));
    kept.delete(id);
    kept.set(id, { version, atMs: clock.now(), rows });
    for (const [oldest] of kept) if (kept.size > KEPT_TREES) kept.delete(oldest);
    return rows;
  }

  return {
    async read(id, after) {
      const rows = await load(id);
      const start = after === null ? 0 : findAfter(rows, after);
      const piece: TreeRow[] = [];
      for (let at = start, bytes = 0; at < rows.length; at++) {
        const row = rows[at];
        if (!row || piece.length >= PIECE_ROWS || bytes > PIECE_BYTES) break;
        piece.push(row);
        bytes += sizeOf(row);
      }
      const last = piece.at(-1);
      const next = last && start + piece.length < rows.length ? last[0] : null;
      return { object: "run.tree", fields: TREE_FIELDS, rows: piece, nodes: rows.length, next };
    },
  };
}

/** Numbers, commas and quotes of a row. */
const ROW_BYTES = 120;

/** Names of tools and labels are a model's words, in any script. */
function sizeOf([id, parent, , , name]: TreeRow): number {
  return Buffer.byteLength(`${id}${parent ?? ""}${name ?? ""}`) + ROW_BYTES;
}

/** A tree that grows keeps the order of its rows: the place is found by the row's id. */
function findAfter(rows: readonly TreeRow[], after: string): number {
  const at = rows.findIndex(([id]) => id === after);
  if (at >= 0) return at + 1;
  throw toInvalid("after", "`after` is not a node of this tree. Use `next` of the piece before.");
}
