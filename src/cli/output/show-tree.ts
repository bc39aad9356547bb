/** `offshoot runs tree ID`: shows a run and all runs below it, read from their logs. */

import { type Clock, systemClock } from "../../base/clock.ts";
import { clip, plural, withThousands } from "../../base/text.ts";
import { toDurationMs } from "../../delegation/ledger/costs.ts";
import type { Queued } from "../../delegation/ledger/queued-children.ts";
import type { RefusedChild } from "../../delegation/ledger/refused-children.ts";
import { toApprovalText } from "../../delegation/ledger/run-figures.ts";
import {
  addUp,
  listNodes,
  readTree,
  type TreeFigures,
  type TreeNode,
  toNodeName,
} from "../../delegation/ledger/tree.ts";
import type { RecordReader } from "../../engine/engine.ts";
import type { CommandCall } from "../command.ts";
import type { Io } from "../io.ts";
import type { StateOf } from "../run-state.ts";
import { cleanForTerminal } from "../terminal.ts";
import { toPartialMoney } from "./amounts.ts";
import { toSummary } from "./run-summary.ts";
import { toWait } from "./tree-view.ts";

export interface RecordCall {
  readonly call: CommandCall;
  readonly io: Pick<Io, "stdout" | "stderr">;
  readonly clock?: Clock | undefined;
  /** The state of each run. When left out, runs without an ending are shown as such. */
  readonly stateOf?: StateOf | undefined;
}

/** States by the id of the run. */
type States = ReadonlyMap<string, string>;

export async function showTree(
  record: RecordReader,
  id: string,
  { call, io, clock = systemClock, stateOf }: RecordCall,
): Promise<void> {
  const tree = await readTree(record, id);
  const states = await readStates(record, tree, stateOf);
  const total = addUp(listNodes(tree));
  const nowMs = clock.now();
  const text = call.options["json"]
    ? `${JSON.stringify({ ...toJson(tree, states, nowMs), total })}\n`
    : renderTree(tree, { total, states, nowMs });
  await io.stdout.write(text);
}

interface JsonNode extends Omit<TreeNode, "children"> {
  /** The run's ending, or `running`, `queued`, `interrupted`. */
  readonly state: string | null;
  readonly seconds: number;
  /** Seconds since its last event; null once it has ended. */
  readonly silent_seconds: number | null;
  readonly children: readonly JsonNode[];
}

function toJson(node: TreeNode, states: States, nowMs: number): JsonNode {
  return {
    ...node,
    state: node.ending ?? states.get(node.id) ?? null,
    seconds: toDurationMs(node) / 1000,
    silent_seconds: toSilence(node, nowMs),
    children: node.children.map((child) => toJson(child, states, nowMs)),
  };
}

interface Rendering {
  readonly total: TreeFigures;
  readonly states: States;
  readonly nowMs: number;
}

/** The states of runs without an ending. */
async function readStates(
  record: RecordReader,
  tree: TreeNode,
  stateOf: StateOf | undefined,
): Promise<States> {
  const states = new Map<string, string>();
  for (const { id, ending } of listNodes(tree)) {
    const run = stateOf && ending === null ? await record.getRun(id) : undefined;
    if (stateOf && run) states.set(id, await stateOf(run));
  }
  return states;
}

function renderTree(tree: TreeNode, rendering: Rendering): string {
  const lines = [
    `${tree.id}  ${toShown(tree.title, 80)}`,
    renderNode(tree, rendering),
    ...renderBelow(tree, "", rendering),
    ...renderTotal(rendering.total, countNotStarted(tree)),
  ];
  return `${lines.join("\n")}\n`;
}

/** Children that wait for their start, and those that were never started, come after those that have started. */
function renderBelow(node: TreeNode, indent: string, rendering: Rendering): string[] {
  const all = [...node.children, ...node.queued, ...node.refused];
  return all.flatMap((child, at) => {
    const isLast = at === all.length - 1;
    const branch = `${indent}${isLast ? "└─ " : "├─ "}`;
    if (isRefused(child)) return [`${branch}${renderRefused(child)}`];
    if (!("children" in child)) {
      return [`${branch}${renderQueued(child, rendering.states.get(node.id))}`];
    }
    return [
      `${branch}${renderNode(child, rendering)}`,
      ...renderBelow(child, `${indent}${isLast ? "   " : "│  "}`, rendering),
    ];
  });
}

function isRefused(child: TreeNode | Queued | RefusedChild): child is RefusedChild {
  return !("id" in child);
}

/** For example `docs: not started · its first call may take 4,731 tokens, and …` */
function renderRefused({ label, why }: RefusedChild): string {
  return `${toShown(label, 60)}: not started · ${toShown(why, 200)}`;
}

/** For example `part 12 [part-12-1.11]: QUEUED for a place` */
function renderQueued({ id, label, why }: Queued, parentState: string | undefined): string {
  const name = id === null ? "" : ` [${toShown(toNodeName(id), 200)}]`;
  // A queued child is not started while its parent has no process. The parent asks again when it is resumed.
  const isLeft = parentState === "interrupted";
  const state = isLeft ? "NOT STARTED" : toWait(why).replace("queued", "QUEUED");
  return `${toShown(label, 60)}${name}: ${state}`;
}

/**
 * For example `count [count-1.0]: completed · 2 turns · 1,234 tokens · 1.2 s · free · last: read a.txt`
 */
function renderNode(node: TreeNode, { states, nowMs }: Rendering): string {
  const silence = toSilence(node, nowMs);
  const parts = [
    `${node.ending ?? states.get(node.id)?.toUpperCase() ?? "NOT ENDED"}${node.did_nothing ? " (no tool call)" : ""}`,
    ...(node.message === "" ? [] : [toShown(node.message, 80)]),
    toSummary(untilNow(node, states.get(node.id), nowMs)),
    ...toNow(node, silence),
    ...(node.status === "unrecorded" ? ["no log of its own"] : []),
  ];
  return `${toName(node)}: ${parts.join(" · ")}`;
}

/** A run that works may be silent: its time counts from its beginning. */
function untilNow(node: TreeNode, state: string | undefined, nowMs: number): TreeNode {
  return state === "running" ? { ...node, last_at_ms: nowMs } : node;
}

/** A run that waits for a person is not called silent: the line says what it waits for. */
function toNow(node: TreeNode, silence: number | null): string[] {
  const approval = toApprovalText(node);
  if (approval !== undefined) return [toShown(approval, 160)];
  return [
    ...(node.last_action === "" ? [] : [`last: ${toShown(node.last_action, 60)}`]),
    ...(silence === null ? [] : [`silent ${Math.round(silence)} s`]),
  ];
}

/** With its name in the tree, which commands accept: several nodes may have the same label. */
function toName({ id, label, depth, agent }: TreeNode): string {
  const own = agent === null ? "root" : `root (agent ${agent})`;
  if (depth === 0) return toShown(label ?? own, 60);
  const name = toNodeName(id);
  return `${toShown(label ?? name, 60)} [${toShown(name, 200)}]`;
}

function renderTotal(total: TreeFigures, notStarted: number): string[] {
  if (total.runs === 1 && notStarted === 0) return [];
  const parts = [
    plural(total.runs, "run"),
    ...(notStarted > 0 ? [`${notStarted} not started`] : []),
    ...(total.unfinished > 0 ? [`${total.unfinished} not ended`] : []),
    plural(total.turns, "turn"),
    plural(total.tool_calls, "tool call"),
    `${withThousands(total.usage.total_tokens)} tokens`,
    toPartialMoney(total.known_usd, total.unknown_calls, total.usage.total_tokens),
  ];
  return [`total: ${parts.join(" · ")}`];
}

function countNotStarted(tree: TreeNode): number {
  const nodes = listNodes(tree);
  return nodes.reduce((sum, { queued, refused }) => sum + queued.length + refused.length, 0);
}

function toSilence({ ending, last_at_ms, started_at_ms }: TreeNode, nowMs: number): number | null {
  const heardMs = last_at_ms ?? started_at_ms;
  return ending !== null || heardMs === null ? null : Math.max(0, nowMs - heardMs) / 1000;
}

function toShown(text: string, maxChars: number): string {
  return clip(cleanForTerminal(text), maxChars);
}
