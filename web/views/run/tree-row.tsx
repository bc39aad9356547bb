/** One row of the tree: what it is, its state, its time, its use. */

import { refine } from "../../core/address.ts";
import { toCount, toDuration, toMoney } from "../../core/format.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Status } from "../../parts/status.tsx";
import type { Timeline } from "./timeline.ts";
import type { TreeNode } from "./tree-store.ts";

interface TreeRowProps {
  readonly id: string;
  readonly node: TreeNode;
  readonly timeline: Timeline;
  readonly hasChildren: boolean;
  readonly isFolded: boolean;
  readonly isPicked: boolean;
  readonly isActive: boolean;
  onFold(): void;
  onPick(): void;
}

export const KIND_ICONS: Readonly<Record<string, IconName>> = {
  run: "run",
  child: "run",
  turn: "turn",
  call: "call",
  compaction: "summary",
};

/** Deeper than this a name would have no room. */
const MOST_INDENTED = 18;

export function TreeRowView(props: TreeRowProps) {
  const { id, node, timeline, hasChildren, isFolded, isPicked, isActive, onFold, onPick } = props;
  const end = node.end ?? timeline.to;
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={node.depth + 1}
      aria-expanded={hasChildren ? !isFolded : undefined}
      aria-selected={isPicked}
      tabIndex={-1}
      class={`tree-row${isPicked ? " picked" : ""}${isActive ? " active" : ""}`}
      onClick={onPick}
      onDblClick={() => refine({ zoom: node.id })}
    >
      <span
        class="tree-name"
        style={{ paddingLeft: `${Math.min(node.depth, MOST_INDENTED) * 14 + 4}px` }}
      >
        <button
          type="button"
          class={isFolded ? "fold" : "fold open"}
          tabIndex={-1}
          aria-label={isFolded ? "Unfold" : "Fold"}
          hidden={!hasChildren}
          onClick={(event) => {
            event.stopPropagation();
            onFold();
          }}
        >
          <Icon name="chevron" small />
        </button>
        <span class={`kind kind-${node.kind}`}>
          <Icon name={KIND_ICONS[node.kind] ?? "dot"} small />
        </span>
        <span class={node.kind === "run" ? "clip strong" : "clip"}>{node.name}</span>
      </span>
      <Status state={toState(node.status)} brief />
      <Bar node={node} timeline={timeline} />
      <span class="number quiet">{toDuration(Math.max(0, end - node.start))}</span>
      <span class="number quiet">{node.tokens > 0 ? toCount(node.tokens) : ""}</span>
      <span class="number quiet">{node.usd ? toMoney(node.usd) : ""}</span>
    </div>
  );
}

function Bar({ node, timeline }: Pick<TreeRowProps, "node" | "timeline">) {
  const left = timeline.toX(node.start) * 100;
  const width = timeline.toX(node.end ?? timeline.to) * 100 - left;
  const isOutside = (node.end ?? timeline.to) < timeline.from || node.start > timeline.to;
  const look = `bar bar-${node.kind}${node.end === null ? " open" : ""}`;
  return (
    <span class="bar-room" aria-hidden="true">
      {!isOutside && (
        <span
          class={look}
          style={{ left: `${Math.min(left, 99.4)}%`, width: `${Math.max(0.6, width)}%` }}
        />
      )}
    </span>
  );
}

const STATES: Readonly<Record<string, string>> = {
  ok: "completed",
  open: "running",
  cut: "interrupted",
};

export function toState(status: string): string {
  return STATES[status] ?? status;
}
