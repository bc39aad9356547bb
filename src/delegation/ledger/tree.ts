/** A run with everything below it, read from the record. */

import { Failure } from "../../base/failure.ts";
import { isJsonObject } from "../../base/json.ts";
import type { RecordReader } from "../../engine/engine.ts";
import { readLog } from "../../engine/read-log.ts";
import type { ChildEnd, ChildStart, RunEvent } from "../../protocol/run-events.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import { addUsage, NO_USAGE, type Usage } from "../../protocol/usage.ts";
import { createQueueFold, type Queued } from "./queued-children.ts";
import { type RefusedChild, readRefused } from "./refused-children.ts";
import { createRunFold, type RunFigures, toToldFigures } from "./run-figures.ts";

export interface TreeNode extends RunFigures {
  readonly id: string;
  readonly parent_id: string | null;
  readonly path: string;
  readonly title: string;
  readonly depth: number;
  /** The name of its agent file; null if it has none, or has left no record. */
  readonly agent: string | null;
  /** `unrecorded`: its parent names it, but it has left no log of its own. */
  readonly status: RunRecord["status"] | "unrecorded";
  /** True if it completed without a tool call although it had tools, as its parent reports. */
  readonly did_nothing: boolean;
  /** The children in the order they were started. */
  readonly children: readonly TreeNode[];
  /** Children that it has asked for and that are not started; empty once it has ended. */
  readonly queued: readonly Queued[];
  /** Children that it has asked for and that were never started, with the reasons. */
  readonly refused: readonly RefusedChild[];
}

/** Called with every event of the tree, run by run, while it is read. */
export type Visit = (run: RunRecord, event: RunEvent) => void;

export interface TreeFigures {
  readonly runs: number;
  /** How many of the runs have no ending. */
  readonly unfinished: number;
  readonly turns: number;
  readonly calls: number;
  readonly tool_calls: number;
  readonly usage: Usage;
  readonly known_usd: number;
  readonly unknown_calls: number;
  readonly cost_usd: number | null;
}

/** Rejects with `not_found` when the run does not exist. Keeps no events, however long the logs. */
export async function readTree(
  record: RecordReader,
  id: string,
  visit: Visit = () => {},
): Promise<TreeNode> {
  const run = await record.getRun(id);
  if (run) return readNode(record, run, { depth: 0, visit, did_nothing: false });
  throw new Failure("not_found", `There is no run \`${id}\`.`);
}

/** The agent file of a recorded run: from `run --agent NAME`, or the agent that its parent called. */
export function agentOf({ input }: Pick<RunRecord, "input">): string | null {
  const agent = isJsonObject(input) ? input["agent"] : undefined;
  return typeof agent === "string" ? agent : null;
}

/** The name of a run in its tree, its id without the root's: `parser-1.0/inner-2.1`. All commands take it. */
export function toNodeName(id: string): string {
  return id.slice(id.indexOf("/") + 1);
}

/** All nodes, each before its children. */
export function listNodes(node: TreeNode): TreeNode[] {
  return [node, ...node.children.flatMap(listNodes)];
}

export function addUp(nodes: readonly RunFigures[]): TreeFigures {
  const sum = (of: (node: RunFigures) => number): number =>
    nodes.reduce((total, node) => total + of(node), 0);
  const unknown_calls = sum((node) => node.unknown_calls);
  const known_usd = sum((node) => node.known_usd);
  return {
    runs: nodes.length,
    unfinished: nodes.filter(({ ending }) => ending === null).length,
    turns: sum(({ turns }) => turns),
    calls: sum(({ calls }) => calls),
    tool_calls: sum(({ tool_calls }) => tool_calls),
    usage: nodes.reduce((total, { usage }) => addUsage(total, usage), NO_USAGE),
    known_usd,
    unknown_calls,
    cost_usd: unknown_calls > 0 ? null : known_usd,
  };
}

interface Reading {
  readonly depth: number;
  readonly visit: Visit;
  readonly did_nothing: boolean;
}

async function readNode(
  record: RecordReader,
  run: RunRecord,
  { depth, visit, did_nothing }: Reading,
): Promise<TreeNode> {
  const { figures, told, queued, refused } = await readOwnLog(record, run, { depth, visit });
  const query = { parent_id: run.id, limit: Number.MAX_SAFE_INTEGER };
  const recorded = (await record.listRuns(query)).reverse();
  const children: TreeNode[] = [];
  for (const child of recorded) {
    const { did_nothing = false } = told.get(child.id) ?? {};
    told.delete(child.id);
    children.push(await readNode(record, child, { depth: depth + 1, visit, did_nothing }));
  }
  const { id, parent_id, path, title, status } = run;
  return {
    ...figures,
    id,
    parent_id,
    path,
    title,
    status,
    depth,
    did_nothing,
    agent: agentOf(run),
    label: figures.label ?? (parent_id === null ? null : title),
    started_at_ms: figures.started_at_ms ?? run.created_at_ms,
    children: [...children, ...told.values()],
    queued,
    refused,
  };
}

interface OwnLog extends Pick<TreeNode, "queued" | "refused"> {
  readonly figures: RunFigures;
  /** The children that the log names, by their ids. */
  readonly told: Map<string, TreeNode>;
}

async function readOwnLog(
  record: RecordReader,
  run: RunRecord,
  { depth, visit }: Pick<Reading, "depth" | "visit">,
): Promise<OwnLog> {
  const fold = createRunFold();
  const queue = createQueueFold();
  const refused: RefusedChild[] = [];
  const told = new Map<string, TreeNode>();
  for await (const page of readLog(record, run.id)) {
    for (const { event } of page) {
      fold.read(event);
      const left = queue.read(event);
      if (event.type === "tool_end") refused.push(...readRefused(event, left));
      visit(run, event);
      if (event.type === "child_start") told.set(event.child_id, toUnrecorded(run, event, depth));
      if (event.type === "child_end") endUnrecorded(told, event);
    }
  }
  return { figures: fold.figures, told, queued: queue.queued, refused };
}

/** A child that ran elsewhere, or was interrupted before it wrote anything. */
function toUnrecorded(parent: RunRecord, start: ChildStart, depth: number): TreeNode {
  const { child_id: id, label, at_ms, effective } = start;
  const { model } = effective;
  return {
    ...createRunFold().figures,
    id,
    parent_id: parent.id,
    path: `${parent.path}${id.slice(parent.id.length)}`,
    title: label,
    label,
    depth: depth + 1,
    agent: null,
    model: typeof model === "string" ? model : null,
    status: "unrecorded",
    did_nothing: false,
    started_at_ms: at_ms,
    last_at_ms: at_ms,
    children: [],
    queued: [],
    refused: [],
  };
}

function endUnrecorded(told: Map<string, TreeNode>, end: ChildEnd): void {
  const node = told.get(end.child_id);
  if (!node) return;
  const { label, model, started_at_ms } = node;
  const own = { label, model, started_at_ms, did_nothing: end.did_nothing ?? false };
  told.set(end.child_id, { ...node, ...toToldFigures(end), ...own });
}
