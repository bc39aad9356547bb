/**
 * The position of a moment on the timeline: from 0 to 1, with idle time folded on request. Pure.
 */

import type { TreeNode } from "./tree-store.ts";

export interface Timeline {
  readonly from: number;
  readonly to: number;
  toX(ms: number): number;
  /** The number of idle periods that were folded. */
  readonly folded: number;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Indexes of the nodes that are not hidden by a folded node. */
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

/** The whole tree, or the node that is zoomed to. */
export function toSpan(
  nodes: readonly TreeNode[],
  zoomed: TreeNode | undefined,
  now: number,
): Span {
  const of = zoomed ?? nodes[0];
  if (!of) return { from: now, to: now + 1 };
  if (of.end !== null) return { from: of.start, to: Math.max(of.end, of.start + 1) };
  return { from: of.start, to: Math.max(now, of.start + 1) };
}

export function toTimeline({ from, to }: Span): Timeline {
  return { from, to, folded: 0, toX: (ms) => clamp((ms - from) / (to - from)) };
}

/** An idle period is shown as long as this share of the busy time. */
const FOLDED_SHARE = 0.02;
/** A period shorter than this share of the whole is not folded. */
const LEAST_SHARE = 0.03;

/**
 * Folds periods in which no model and no tool worked: a night between two turns takes little room.
 */
export function toFoldedTimeline(span: Span, nodes: readonly TreeNode[], now: number): Timeline {
  const { from, to } = span;
  const busy = mergeBusy(nodes, span, now);
  const least = (to - from) * LEAST_SHARE;
  const pieces: { readonly from: number; readonly to: number; readonly isIdle: boolean }[] = [];
  let at = from;
  for (const one of [...busy, { from: to, to }]) {
    if (one.from - at > least) pieces.push({ from: at, to: one.from, isIdle: true });
    else if (one.from > at) pieces.push({ from: at, to: one.from, isIdle: false });
    if (one.to > one.from) pieces.push({ ...one, isIdle: false });
    at = Math.max(at, one.to);
  }
  const busyMs = pieces.reduce((sum, one) => sum + (one.isIdle ? 0 : one.to - one.from), 0) || 1;
  const idleMs = busyMs * FOLDED_SHARE;
  const folded = pieces.filter(({ isIdle }) => isIdle).length;
  const whole = busyMs + folded * idleMs;
  let x = 0;
  const placed = pieces.map((piece) => {
    const width = (piece.isIdle ? idleMs : piece.to - piece.from) / whole;
    const begin = x;
    x += width;
    return { ...piece, x: begin, width };
  });
  return {
    from,
    to,
    folded,
    toX(ms) {
      const piece = findPiece(placed, ms);
      if (!piece) return ms < from ? 0 : 1;
      const share = (ms - piece.from) / Math.max(1, piece.to - piece.from);
      return clamp(piece.x + share * piece.width);
    },
  };
}

interface Placed extends Span {
  readonly x: number;
  readonly width: number;
}

function findPiece(pieces: readonly Placed[], ms: number): Placed | undefined {
  let low = 0;
  let high = pieces.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const piece = pieces[middle];
    if (!piece) return undefined;
    if (ms < piece.from) high = middle - 1;
    else if (ms > piece.to) low = middle + 1;
    else return piece;
  }
  return undefined;
}

function mergeBusy(nodes: readonly TreeNode[], { from, to }: Span, now: number): Span[] {
  const spans = nodes
    .filter((node, at) => node.kind !== "run" && (nodes[at + 1]?.depth ?? 0) <= node.depth)
    .map((node) => ({ from: Math.max(from, node.start), to: Math.min(to, node.end ?? now) }))
    .filter((span) => span.to >= span.from)
    .sort((a, b) => a.from - b.from);
  const merged: { from: number; to: number }[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else merged.push({ ...span });
  }
  return merged;
}

function clamp(x: number): number {
  return Math.min(1, Math.max(0, x));
}
