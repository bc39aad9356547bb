/**
 * Tree and timeline on the same rows. The tree comes in pieces and is shown as it comes; details on demand.
 */

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { address, refine } from "../../core/address.ts";
import { now, useClock } from "../../core/clock.ts";
import { toCount, toDuration } from "../../core/format.ts";
import { moveByKeys } from "../../core/move-by-keys.ts";
import { Icon } from "../../parts/icon.tsx";
import { Problem } from "../../parts/loaded.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { type Timeline, toFoldedTimeline, toSpan, toTimeline, toVisible } from "./timeline.ts";
import { TreeRowView } from "./tree-row.tsx";
import type { TreeNode, TreeStore } from "./tree-store.ts";
import type { LoadedTree } from "./use-tree.ts";

const ROW_HEIGHT = 28;

interface TreeTabProps {
  readonly tree: LoadedTree;
  readonly picked: string;
  pick(id: string): void;
}

export function TreeTab({ tree, picked, pick }: TreeTabProps) {
  const { store, problem } = tree;
  const folded = useSignal<ReadonlySet<string>>(new Set());
  const shown = useComputed(() => {
    void store.shape.value;
    return toVisible(store.nodes, folded.value);
  });
  const active = useSignal(0);
  useStart(store, { picked, shown, active });
  const timeline = useTimeline(store);
  const fold = (node: TreeNode): void => {
    const next = new Set(folded.value);
    if (!next.delete(node.id)) next.add(node.id);
    folded.value = next;
  };
  const nodeAt = (at: number): TreeNode | undefined => store.nodes[shown.value[at] ?? -1];
  const places = useMemo(() => createPlaces(store, shown), [store, shown]);
  void store.version.value;
  return (
    <div class="tree">
      {problem !== "" && <Problem text={problem} />}
      <div class="tree-row tree-head" aria-hidden="true">
        <span>Step</span>
        <span />
        <span class="bar-room" />
        <span class="number">Time</span>
        <span class="number">Tokens</span>
        <span class="number">Cost</span>
      </div>
      <VirtualList
        label="Tree and timeline"
        role="tree"
        count={shown.value.length}
        rowHeight={ROW_HEIGHT}
        active={active}
        activeId={`node-${active.value}`}
        places={places}
        onKey={(event) => {
          const node = nodeAt(active.value);
          if (node && foldByKeys(event, node, { folded: folded.value, fold })) return;
          if (node && event.key === "z") refine({ zoom: isZoomed(node) ? undefined : node.id });
          else moveByKeys(event, active, shown.value.length, () => node && pick(node.id));
        }}
        row={(at) => {
          const index = shown.value[at] ?? -1;
          const node = store.nodes[index];
          if (!node) return null;
          return (
            <TreeRowView
              key={node.id}
              id={`node-${at}`}
              node={node}
              timeline={timeline}
              hasChildren={(store.nodes[index + 1]?.depth ?? 0) > node.depth}
              isFolded={folded.value.has(node.id)}
              isPicked={node.id === picked}
              isActive={at === active.value}
              onFold={() => fold(node)}
              onPick={() => {
                active.value = at;
                pick(node.id);
              }}
            />
          );
        }}
      />
      <Foot tree={tree} timeline={timeline} />
    </div>
  );
}

/** The position of every row, for a list that keeps its place while it grows. */
function createPlaces(store: TreeStore, shown: Signal<readonly number[]>) {
  return {
    keyAt: (at: number): string | undefined => store.nodes[shown.peek()[at] ?? -1]?.id,
    find: (id: string): number => shown.peek().findIndex((index) => store.nodes[index]?.id === id),
  };
}

interface Start {
  readonly picked: string;
  readonly shown: Signal<readonly number[]>;
  readonly active: Signal<number>;
}

/** Shows the node of a link as soon as it is there. */
function useStart(store: TreeStore, { picked, shown, active }: Start): void {
  const isDone = useSignal(false);
  const count = shown.value.length;
  useEffect(() => {
    if (isDone.peek() || count === 0) return;
    const at = shown.peek().findIndex((index) => store.nodes[index]?.id === picked);
    if (at < 0) return;
    active.value = at;
    isDone.value = true;
  }, [store, picked, count, shown, active, isDone]);
}

function isZoomed(node: TreeNode): boolean {
  return address.value.query.get("zoom") === node.id;
}

interface Folding {
  readonly folded: ReadonlySet<string>;
  fold(node: TreeNode): void;
}

/** The right arrow unfolds, the left one folds. */
function foldByKeys(event: KeyboardEvent, node: TreeNode, { folded, fold }: Folding): boolean {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return false;
  if (folded.has(node.id) === (event.key === "ArrowRight")) fold(node);
  event.preventDefault();
  return true;
}

/**
 * For the whole run, or for the node that the address zooms to; without idle time if the address says so.
 */
function useTimeline(store: TreeStore): Timeline {
  const { query } = address.value;
  const zoom = query.get("zoom") ?? "";
  const gaps = query.get("gaps");
  const isOpen = store.nodes[0]?.end === null;
  useClock(isOpen);
  const nowMs = isOpen ? Math.max(now.value, Date.now()) : 0;
  const { from, to } = toSpan(store.nodes, store.find(zoom), nowMs);
  const shape = store.shape.value;
  return useMemo(
    () =>
      gaps === "fold"
        ? toFoldedTimeline({ from, to }, store.nodes, nowMs || to)
        : toTimeline({ from, to }),
    [store, from, to, gaps, shape],
  );
}

function Foot({
  tree: { store, total },
  timeline,
}: {
  readonly tree: LoadedTree;
  readonly timeline: Timeline;
}) {
  const { query } = address.value;
  const zoomed = store.find(query.get("zoom") ?? "");
  const isFolding = query.get("gaps") === "fold";
  const count = store.nodes.length;
  return (
    <div class="tree-foot">
      <span class="number">
        {total > count ? `${toCount(count)} of ${toCount(total)}` : toCount(count)} steps,{" "}
        {toDuration(timeline.to - timeline.from)}
        {timeline.folded > 0 ? `, ${timeline.folded} idle folded` : ""}
      </span>
      <span class="row tight">
        {zoomed && (
          <button type="button" class="plain small" onClick={() => refine({ zoom: undefined })}>
            <Icon name="close" small /> {zoomed.name}
          </button>
        )}
        <button
          type="button"
          class="plain small"
          aria-pressed={isFolding}
          onClick={() => refine({ gaps: isFolding ? undefined : "fold" })}
        >
          {isFolding ? "Show idle time" : "Fold idle time"}
        </button>
      </span>
    </div>
  );
}
