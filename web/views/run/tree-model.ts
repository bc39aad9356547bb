/** The tree of a run as flat rows: which can be seen, given those that are folded. One pass, no recursion. */

import type { TreeRow } from "../../core/views.ts";

export interface TreeNode {
  readonly id: string;
  readonly parent: string | null;
  readonly depth: number;
  readonly kind: string;
  readonly name: string;
  readonly start: number;
  readonly end: number | null;
  readonly tokens: number;
  readonly usd: number | null;
  readonly status: string;
  readonly by: string | null;
}

export function toNode(row: TreeRow): TreeNode {
  const [id, parent, depth, kind, name, start, end, input, output, usd, status, by] = row;
  const tokens = (input ?? 0) + (output ?? 0);
  return { id, parent, depth, kind, name: name ?? kind, start, end, tokens, usd, status, by };
}

/** Indexes of the nodes that no folded node hides. */
export function toVisible(nodes: readonly TreeNode[], folded: ReadonlySet<string>): number[] {
  const shown: number[] = [];
  let hiddenBelow = Number.POSITIVE_INFINITY;
  for (const [at, node] of nodes.entries()) {
    if (node.depth > hiddenBelow) continue;
    hiddenBelow = folded.has(node.id) ? node.depth : Number.POSITIVE_INFINITY;
    shown.push(at);
  }
  return shown;
}

/** The run that a node belongs to, and its event: `RUN:SEQ`. */
export function toPlace(id: string): { readonly run: string; readonly seq: number | undefined } {
  const [, run, seq] = /^(.*):(\d+)$/.exec(id) ?? [];
  return run === undefined ? { run: id, seq: undefined } : { run, seq: Number(seq) };
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

export function toSpan(nodes: readonly TreeNode[], now: number): Span {
  const from = nodes[0]?.start ?? now;
  let to = from + 1;
  for (const { start, end } of nodes) to = Math.max(to, end ?? nodes[0]?.end ?? now, start);
  return { from, to };
}
