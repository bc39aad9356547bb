/**
 * A tree of runs as it stands while their logs arrive: which runs work, which wait for their start, which wait for
 * what. It keeps the working runs, and of ended ones only their number and their place in the tree.
 */

import { QUEUE_EVENTS, type Queued } from "../../delegation/ledger/queued-children.ts";
import { readRefused } from "../../delegation/ledger/refused-children.ts";
import { toToldFigures } from "../../delegation/ledger/run-figures.ts";
import { toNodeName } from "../../delegation/ledger/tree.ts";
import type { TreeTotals } from "../../delegation/ledger/tree-totals.ts";
import type {
  ChildEnd,
  ChildStart,
  Ending,
  LoggedEvent,
  RunEvent,
  ToolEnd,
} from "../../protocol/run-events.ts";
import { type LiveNode, Node, type NodeNews } from "./live-node.ts";

export interface TreeCounts {
  readonly running: number;
  readonly queued: number;
  readonly completed: number;
  /** Number of cancelled ones. */
  readonly stopped: number;
  /** Number of those that ended in any other way. */
  readonly failed: number;
  /** Number of those that were requested and never started. */
  readonly refused: number;
}

export interface LiveTree {
  /** The run of the first event. */
  readonly root: LiveNode | undefined;
  /** Counts of all runs below the root. */
  readonly counts: TreeCounts;
  find(id: string): LiveNode | undefined;
  read(logged: LoggedEvent): NodeNews | undefined;
  /** Runs below the root that have not ended, each before its children. */
  listRunning(): LiveNode[];
  /** Marks all runs without an ending as ended, and returns them. */
  abandon(): LiveNode[];
  markStopping(id: string): void;
}

/** `totals` is given every event before the tree is: the figures of a run are folded there, once. */
export function createLiveTree(now: () => number, totals: TreeTotals): LiveTree {
  return new Tree(now, totals);
}

class Tree implements LiveTree {
  readonly #now: () => number;
  readonly #totals: TreeTotals;
  readonly #nodes = new Map<string, Node>();
  #root: Node | undefined;
  #running = 0;
  #queued = 0;
  #completed = 0;
  #stopped = 0;
  #failed = 0;
  #refused = 0;

  constructor(now: () => number, totals: TreeTotals) {
    this.#now = now;
    this.#totals = totals;
  }

  get root(): LiveNode | undefined {
    return this.#root;
  }

  get counts(): TreeCounts {
    return {
      running: this.#running,
      queued: this.#queued,
      completed: this.#completed,
      stopped: this.#stopped,
      failed: this.#failed,
      refused: this.#refused,
    };
  }

  find(id: string): LiveNode | undefined {
    return this.#nodes.get(id);
  }

  read({ run_id, event }: LoggedEvent): NodeNews | undefined {
    this.#root ??= this.#add({ id: run_id, label: "root", parent: undefined }, startOf(event));
    const node = this.#nodes.get(run_id);
    if (!node) return undefined;
    node.heardAtMs = this.#now();
    const left = QUEUE_EVENTS.has(event.type) ? this.#queue(node, event) : [];
    follow(node, event);
    switch (event.type) {
      case "tool_end":
        return this.#endCall(event, left);
      case "tool_question":
        return { type: "asks", node, question: event };
      case "child_start":
        return this.#start(node, event);
      case "child_end":
        return this.#endTold(event);
      case "run_end":
        return this.#endSeen(node, event);
      default:
        return undefined;
    }
  }

  #queue(node: Node, event: RunEvent): readonly Queued[] {
    const before = node.queue.size;
    const left = node.queue.read(event);
    this.#queued += node.queue.size - before;
    return left;
  }

  listRunning(): LiveNode[] {
    return this.#root ? [...below(this.#root)].filter(({ isEnded }) => !isEnded) : [];
  }

  abandon(): LiveNode[] {
    const left = this.listRunning();
    for (const { id } of left) {
      const node = this.#nodes.get(id);
      if (node) this.#close(node, null);
    }
    return left;
  }

  markStopping(id: string): void {
    const node = this.#nodes.get(id);
    if (node) node.isStopping = true;
  }

  #add(parts: Pick<Node, "id" | "label" | "parent">, startedAtMs = this.#now()): Node {
    const name = parts.parent ? toNodeName(parts.id) : "";
    const given = { startedAtMs, heardAtMs: this.#now(), totals: this.#totals };
    const node = new Node({ ...parts, name, ...given });
    this.#nodes.set(node.id, node);
    for (let [at, up]: [Node, Node | undefined] = [node, node.parent]; up; ) {
      up.open.add(at);
      [at, up] = [up, up.parent];
    }
    return node;
  }

  #start(parent: Node, { child_id: id, label, at_ms }: ChildStart): NodeNews | undefined {
    // A parent that was interrupted and repeats itself starts the same child again.
    if (this.#nodes.has(id)) return undefined;
    this.#running++;
    return { type: "started", node: this.#add({ id, label, parent }, at_ms) };
  }

  /** From the child's own log, which usually has the ending first. */
  #endSeen(node: Node, event: Extract<RunEvent, { type: "run_end" }>): NodeNews | undefined {
    if (node.isEnded || !node.parent) return undefined;
    const { ending, message, at_ms } = event;
    const { figures } = node;
    const ms = Math.max(0, at_ms - (figures.started_at_ms ?? node.startedAtMs));
    this.#close(node, ending);
    return { type: "ended", node, end: { ending, message, figures, ms } };
  }

  /** From the parent's log, for a child whose own log has no ending here. */
  #endTold(event: ChildEnd): NodeNews | undefined {
    const node = this.#nodes.get(event.child_id);
    if (!node || node.isEnded) return undefined;
    const { ending, message, at_ms } = event;
    const ms = Math.max(0, at_ms - node.startedAtMs);
    this.#close(node, ending);
    return { type: "ended", node, end: { ending, message, figures: toToldFigures(event), ms } };
  }

  #close(node: Node, ending: Ending | null): void {
    node.isEnded = true;
    node.ending = ending;
    this.#queued -= node.queue.size;
    node.queue.close();
    this.#running--;
    if (ending === "completed") this.#completed++;
    else if (ending === "cancelled") this.#stopped++;
    else this.#failed++;
    for (let at: Node | undefined = node; at?.isEnded && at.open.size === 0; at = at.parent) {
      at.parent?.open.delete(at);
    }
  }

  /** Children that the call has not started by its end are never started. */
  #endCall(event: ToolEnd, left: readonly Queued[]): NodeNews | undefined {
    const children = readRefused(event, left);
    if (children.length === 0) return undefined;
    this.#refused += children.length;
    return { type: "refused", children };
  }
}

function startOf(event: RunEvent): number | undefined {
  return event.type === "run_start" ? event.created_at_ms : undefined;
}

/** Updates what the run waits for from its last event. */
function follow(node: Node, event: RunEvent): void {
  switch (event.type) {
    case "turn_start":
      node.isAsking = true;
      return;
    case "turn_end":
    case "compaction":
    case "run_resume":
    case "run_end":
      node.isAsking = false;
      node.tools = 0;
      return;
    case "notice":
      // This notice itself says what the run waits for, and how long.
      if (event.code === "wait" || event.code === "retry") node.isAsking = false;
      return;
    case "text_delta":
    case "reasoning_delta":
    case "arguments_delta":
      node.isAsking = true;
      return;
    case "tool_start":
      node.tools++;
      return;
    case "tool_end":
      node.tools = Math.max(0, node.tools - 1);
      return;
    default:
      return;
  }
}

/** All nodes below that run or have running ones below them, each before its children. */
export function* below(node: LiveNode): Generator<LiveNode> {
  for (const child of node.open) {
    yield child;
    yield* below(child);
  }
}
