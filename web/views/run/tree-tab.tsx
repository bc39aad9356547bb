/** Tree and timeline on the same rows. The skeleton comes in pieces and is shown as it comes; bodies on demand. */

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../../core/api.ts";
import { toCount, toDuration, toMoney } from "../../core/format.ts";
import { moveByKeys } from "../../core/move-by-keys.ts";
import { session } from "../../core/session.ts";
import type { TreePiece } from "../../core/views.ts";
import { Status } from "../../parts/status.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { type Span, type TreeNode, toNode, toSpan, toVisible } from "./tree-model.ts";

const ROW_HEIGHT = 26;
/** How long a live tree may be behind: its skeleton is asked for again only when something has happened. */
const LIVE_MS = 1000;

interface TreeTabProps {
  readonly id: string;
  /** Counts what has happened to the run: the tree is read again when it grows. */
  readonly news: Signal<number>;
  readonly picked: string;
  pick(id: string): void;
}

export function TreeTab({ id, news, picked, pick }: TreeTabProps) {
  const { nodes, total, problem } = useTree(id, news);
  const folded = useSignal<ReadonlySet<string>>(new Set());
  const shown = useComputed(() => toVisible(nodes.value, folded.value));
  const active = useSignal(0);
  const span = toSpan(nodes.value, Date.now());
  const fold = (node: TreeNode): void => {
    const next = new Set(folded.value);
    if (!next.delete(node.id)) next.add(node.id);
    folded.value = next;
  };
  if (problem.value !== "")
    return (
      <p class="problem" role="alert">
        {problem.value}
      </p>
    );
  return (
    <div class="tree">
      <VirtualList
        label="Tree and timeline"
        role="tree"
        count={shown.value.length}
        rowHeight={ROW_HEIGHT}
        active={active}
        onKey={(event) => {
          const node = nodes.value[shown.value[active.value] ?? 0];
          if (node && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
            if (folded.value.has(node.id) === (event.key === "ArrowRight")) fold(node);
            event.preventDefault();
            return;
          }
          moveByKeys(event, active, shown.value.length, () => node && pick(node.id));
        }}
        row={(at) => {
          const index = shown.value[at] ?? 0;
          const node = nodes.value[index];
          return (
            node && (
              <TreeRowView
                key={node.id}
                node={node}
                span={span}
                hasChildren={(nodes.value[index + 1]?.depth ?? 0) > node.depth}
                isFolded={folded.value.has(node.id)}
                isPicked={node.id === picked}
                isActive={at === active.value}
                onFold={() => fold(node)}
                onPick={() => {
                  active.value = at;
                  pick(node.id);
                }}
              />
            )
          );
        }}
      />
      <p class="quiet small-note">
        {toCount(nodes.value.length)} of {toCount(total.value)} steps ·{" "}
        {toDuration(span.to - span.from)}
      </p>
    </div>
  );
}

interface TreeRowProps {
  readonly node: TreeNode;
  readonly span: Span;
  readonly hasChildren: boolean;
  readonly isFolded: boolean;
  readonly isPicked: boolean;
  readonly isActive: boolean;
  onFold(): void;
  onPick(): void;
}

const SIGNS: Readonly<Record<string, string>> = {
  run: "◆",
  turn: "›",
  call: "ƒ",
  compaction: "≡",
  child: "◇",
};

function TreeRowView({
  node,
  span,
  hasChildren,
  isFolded,
  isPicked,
  isActive,
  onFold,
  onPick,
}: TreeRowProps) {
  const length = span.to - span.from;
  const left = ((node.start - span.from) / length) * 100;
  const width = Math.max(0.3, (((node.end ?? span.to) - node.start) / length) * 100);
  return (
    <div
      role="treeitem"
      aria-level={node.depth + 1}
      aria-expanded={hasChildren ? !isFolded : undefined}
      aria-selected={isPicked}
      tabIndex={-1}
      class={`tree-row${isPicked ? " picked" : ""}${isActive ? " active" : ""}`}
      onClick={onPick}
    >
      <span class="tree-name" style={{ paddingLeft: `${Math.min(node.depth, 24) * 14 + 4}px` }}>
        <button
          type="button"
          class="fold"
          tabIndex={-1}
          aria-label={isFolded ? "Unfold" : "Fold"}
          hidden={!hasChildren}
          onClick={(event) => {
            event.stopPropagation();
            onFold();
          }}
        >
          {isFolded ? "▸" : "▾"}
        </button>
        <span class={`kind kind-${node.kind}`} aria-hidden="true">
          {SIGNS[node.kind] ?? "·"}
        </span>
        <span class="clip">{node.name}</span>
      </span>
      <Status state={toState(node.status)} brief />
      <span class="bar-room" aria-hidden="true">
        <span
          class={`bar bar-${node.kind}${node.end === null ? " open" : ""}`}
          style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%` }}
        />
      </span>
      <span class="number quiet">{toDuration((node.end ?? span.to) - node.start)}</span>
      <span class="number quiet">{node.tokens > 0 ? toCount(node.tokens) : ""}</span>
      <span class="number quiet">{node.usd ? toMoney(node.usd) : ""}</span>
    </div>
  );
}

function toState(status: string): string {
  return (
    { ok: "completed", open: "running", cut: "interrupted", denied: "refused" }[status] ?? status
  );
}

/** Pieces of a tree in order. A live tree is read again from its beginning: nodes change until they end. */
function useTree(id: string, news: Signal<number>) {
  const nodes = useSignal<readonly TreeNode[]>([]);
  const total = useSignal(0);
  const problem = useSignal("");
  const token = session.value?.token;
  useEffect(() => {
    if (token === undefined) return;
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      const isFirst = nodes.peek().length === 0;
      let read: TreeNode[] = [];
      let after: string | null = null;
      do {
        const piece: TreePiece = await get<TreePiece>(
          `runs/${encodeURIComponent(id)}/tree`,
          { after },
          stop.signal,
        );
        read = read.concat(piece.rows.map(toNode));
        total.value = piece.nodes;
        after = piece.next;
        if (isFirst) nodes.value = read;
      } while (after !== null);
      nodes.value = read;
      problem.value = "";
    };
    const go = async (): Promise<void> => {
      let seen = -1;
      while (!stop.signal.aborted) {
        if (news.peek() !== seen) {
          seen = news.peek();
          await read().catch((failure: Error) => {
            if (!stop.signal.aborted) problem.value = failure.message;
          });
        }
        await new Promise((resolve) => setTimeout(resolve, LIVE_MS));
      }
    };
    void go();
    return () => stop.abort();
  }, [id, news, nodes, total, problem, token]);
  return { nodes, total, problem };
}
