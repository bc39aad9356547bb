/**
 * The tree of a run as one flat list in pre-order. It is read from the server once, and then updated with the events
 * of the run's stream, so that a tree of 50,000 steps is not read again for one more. The server's version counts:
 * the tree is read again after the stream was interrupted, and when the run ends.
 */

import { type Signal, signal } from "@preact/signals";
import type { EventView, TreeRow } from "../../core/views.ts";

export interface TreeNode {
  readonly id: string;
  readonly parent: string | null;
  readonly depth: number;
  readonly kind: TreeRow[3];
  name: string;
  readonly start: number;
  end: number | null;
  tokens: number;
  usd: number | null;
  status: string;
  by: string | null;
  /** The call's id, if it is known: for nodes that came by events. */
  call?: string | undefined;
}

export interface TreeStore {
  readonly nodes: TreeNode[];
  /** Grows with each node that is added or removed. */
  readonly shape: Signal<number>;
  /** Grows with each change of any node. */
  readonly version: Signal<number>;
  find(id: string): TreeNode | undefined;
  replace(rows: readonly TreeRow[]): void;
  /** Adds rows at the end. */
  append(rows: readonly TreeRow[]): void;
  apply(run: string, events: readonly EventView[]): void;
}

export function createTreeStore(): TreeStore {
  const nodes: TreeNode[] = [];
  const byId = new Map<string, TreeNode>();
  const shape = signal(0);
  const version = signal(0);
  const tree: LiveTree = {
    nodes,
    find: (id) => byId.get(id),
    add(node) {
      if (byId.has(node.id)) return;
      const parent = node.parent === null ? undefined : byId.get(node.parent);
      // The node's parent is not here yet: the next reading of the tree adds it.
      if (!parent) return;
      byId.set(node.id, node);
      nodes.splice(endOf(nodes, parent), 0, node);
      shape.value = shape.peek() + 1;
    },
  };
  const append = (rows: readonly TreeRow[]): void => {
    for (const row of rows) {
      const node = toNode(row);
      nodes.push(node);
      byId.set(node.id, node);
    }
    shape.value = shape.peek() + 1;
    version.value = version.peek() + 1;
  };
  return {
    nodes,
    shape,
    version,
    append,
    find: (id) => byId.get(id),
    replace(rows) {
      nodes.length = 0;
      byId.clear();
      append(rows);
    },
    apply(run, events) {
      for (const view of events) TAKES[view.type]?.(tree, run, view, view.event as Fields);
      version.value = version.peek() + 1;
    },
  };
}

/** The run that a node belongs to, and its event: `RUN:SEQ`. */
export function toPlace(id: string): { readonly run: string; readonly seq: number | undefined } {
  const [, run, seq] = /^(.*):(\d+)$/.exec(id) ?? [];
  return run === undefined ? { run: id, seq: undefined } : { run, seq: Number(seq) };
}

export function toNode(row: TreeRow): TreeNode {
  const [id, parent, depth, kind, name, start, end, input, output, usd, status, by] = row;
  const tokens = (input ?? 0) + (output ?? 0);
  return { id, parent, depth, kind, name: name ?? kind, start, end, tokens, usd, status, by };
}

/** The index after all nodes below a node. */
function endOf(nodes: readonly TreeNode[], parent: TreeNode): number {
  let at = nodes.indexOf(parent) + 1;
  while ((nodes[at]?.depth ?? -1) > parent.depth) at++;
  return at;
}

type Fields = Readonly<Record<string, unknown>>;

interface LiveTree {
  readonly nodes: readonly TreeNode[];
  find(id: string): TreeNode | undefined;
  add(node: TreeNode): void;
}

type Take = (tree: LiveTree, run: string, view: EventView, event: Fields) => void;

/** Folds events as `toNotes` and `toSkeleton` of the server do; a test compares both. */
const TAKES: Readonly<Record<string, Take>> = {
  turn_start(tree, run, { seq }, { turn, at_ms }) {
    closeOpen(tree, run, "turn", Number(at_ms));
    tree.add(newNode(tree, run, { seq, kind: "turn", name: `turn ${String(turn)}`, at: at_ms }));
  },
  turn_end(tree, run, _, { usage, cost_usd, at_ms }) {
    const node = openOf(tree, run).findLast(({ kind }) => kind === "turn");
    if (!node) return;
    const used = (usage ?? {}) as { input_tokens?: number; output_tokens?: number };
    node.tokens = (used.input_tokens ?? 0) + (used.output_tokens ?? 0);
    node.usd = (cost_usd as number | null) ?? null;
    end(node, "ok", at_ms);
  },
  compaction(tree, run, { seq }, { summary, at_ms, turn }) {
    closeOpen(tree, run, "turn", Number(at_ms));
    if (summary === "") return;
    const node = newNode(tree, run, {
      seq,
      kind: "compaction",
      name: `${String(turn)}`,
      at: at_ms,
    });
    end(node, "ok", at_ms);
    node.name = "compaction";
    tree.add(node);
  },
  tool_start(tree, run, { seq }, { call_id, name, at_ms }) {
    const node = newNode(tree, run, { seq, kind: "call", name: textOf(name), at: at_ms });
    node.call = textOf(call_id);
    tree.add(node);
  },
  tool_question(tree, run) {
    setStatus(tree, run, "waiting");
  },
  tool_decision(tree, run, _, { call_id, name, verdict, by, question }) {
    const node = findCall(tree, run, textOf(call_id), textOf(name));
    if (node) node.by = textOf(by);
    if (node && verdict === "deny") node.status = "denied";
    if (question !== undefined) setStatus(tree, run, "running");
  },
  tool_end(tree, run, _, { call_id, name, failed, at_ms }) {
    const node = findCall(tree, run, textOf(call_id), textOf(name));
    if (!node) return;
    const status = node.status === "denied" ? "denied" : failed === true ? "failed" : "ok";
    end(node, status, at_ms);
  },
  child_start(tree, run, _, { child_id, label, call_key, at_ms }) {
    const parent = findCaller(tree, run, textOf(call_key)) ?? tree.find(run);
    if (!parent) return;
    tree.add({
      id: textOf(child_id),
      parent: parent.id,
      depth: parent.depth + 1,
      kind: "run",
      name: textOf(label),
      start: Number(at_ms),
      end: null,
      tokens: 0,
      usd: null,
      status: "running",
      by: null,
    });
  },
  child_end(tree, _run, _view, { child_id, ending, at_ms }) {
    const node = tree.find(textOf(child_id));
    if (node) end(node, textOf(ending), at_ms);
  },
  run_resume(tree, run, _, { at_ms }) {
    for (const node of openOf(tree, run)) if (node.kind !== "run") end(node, "cut", at_ms);
  },
  run_end(tree, run, _, { ending, at_ms }) {
    for (const node of openOf(tree, run)) if (node.kind !== "run") end(node, "cut", at_ms);
    const node = tree.find(run);
    if (node) end(node, textOf(ending), at_ms);
  },
};

interface NewNode {
  readonly seq: number;
  readonly kind: TreeNode["kind"];
  readonly name: string;
  readonly at: unknown;
}

function newNode(tree: LiveTree, run: string, { seq, kind, name, at }: NewNode): TreeNode {
  const depth = (tree.find(run)?.depth ?? 0) + 1;
  return {
    id: `${run}:${seq}`,
    parent: run,
    depth,
    kind,
    name,
    start: Number(at),
    end: null,
    tokens: 0,
    usd: null,
    status: "open",
    by: null,
  };
}

function end(node: TreeNode, status: string, at: unknown): void {
  node.status = status;
  node.end = Number(at);
}

/** Nodes that the run itself has begun and not ended, without those of its children. */
function openOf({ nodes, find }: LiveTree, run: string): TreeNode[] {
  const own = find(run);
  if (!own) return [];
  const open: TreeNode[] = [];
  for (let at = nodes.indexOf(own) + 1; at < nodes.length; at++) {
    const node = nodes[at];
    if (!node || node.depth <= own.depth) break;
    if (node.parent === run && node.end === null) open.push(node);
  }
  return open;
}

function closeOpen(tree: LiveTree, run: string, kind: TreeNode["kind"], at: number): void {
  for (const node of openOf(tree, run)) if (node.kind === kind) end(node, "cut", at);
}

/** The oldest open call with that name: some servers give one id to all calls. */
function findCall(tree: LiveTree, run: string, call: string, name: string): TreeNode | undefined {
  const open = openOf(tree, run).filter((node) => node.kind === "call" && node.name === name);
  return open.find((node) => node.call === call) ?? open.find((node) => node.call === undefined);
}

/** `RUN/tool:2.0`: the first call of turn 2; without one, the last call before it. */
function findCaller({ nodes, find }: LiveTree, run: string, key: string): TreeNode | undefined {
  const own = find(run);
  const wanted = key.slice(key.lastIndexOf("/") + 1);
  let turn: number = 0;
  let place: number = 0;
  let last: TreeNode | undefined;
  for (let at = own ? nodes.indexOf(own) + 1 : nodes.length; at < nodes.length; at++) {
    const node = nodes[at];
    if (!node || !own || node.depth <= own.depth) break;
    if (node.parent !== run) continue;
    if (node.kind === "turn") [turn, place] = [Number(node.name.slice("turn ".length)), 0];
    if (node.kind !== "call") continue;
    last = node;
    if (node.status !== "cut" && wanted === `tool:${turn}.${place++}`) return node;
  }
  return last;
}

/** Sets the status of a run, and of the whole tree, which waits if one of its runs does. */
function setStatus({ nodes, find }: LiveTree, run: string, status: "waiting" | "running"): void {
  const node = find(run);
  const root = nodes[0];
  if (node && node.end === null) node.status = status;
  if (root && root.end === null && status === "waiting") root.status = "waiting";
  if (root?.status === "waiting" && status === "running") {
    const isOpen = nodes.some(
      (one) => one !== root && one.kind === "run" && one.status === "waiting",
    );
    if (!isOpen) root.status = "running";
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
