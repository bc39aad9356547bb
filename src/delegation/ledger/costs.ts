/** Where tokens, money and time of trees went: by agent, by model, by tool, by user or by session. */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { RecordReader } from "../../engine/engine.ts";
import { createOpenWork, type OpenWork } from "../../protocol/abandoned-work.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import { listNodes, readTree, type TreeNode, toNodeName } from "./tree.ts";

/** The keys that costs can be grouped by, with the meaning of `seconds` for each. */
export const COST_KEYS = {
  agent:
    "Label of the subagent; for the run itself its `--agent`, else `root`. Time from start to end, waits included",
  run: "Name of the subagent in its tree, as `runs tree` shows it in brackets; `root` for the run itself, and the whole id if several trees are asked for. Time from start to end, waits included",
  model: "`vendor/model`. Time from asking to the end of the answer",
  tool: "Name of the tool. Time of the calls; tokens belong to models, so there are none",
  user: "The `safety_identifier` of a stored response's request, else its `user`; `none` for runs that have neither. Time from start to end",
  session:
    "The session of the client that a stored response's request names (`metadata.client_session`, which `x-claude-code-session-id` sets), else the session that the run belongs to; `none` for runs that have neither. Time from start to end",
} as const;
export type CostKey = keyof typeof COST_KEYS;

export interface CostRow {
  readonly key: string;
  /** Model calls, or tool calls. */
  readonly calls: number;
  /** Calls without an answer; for tools, calls that returned an error. */
  readonly failed: number;
  /** Null if tokens do not belong to the key. */
  readonly input_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly output_tokens: number | null;
  /** Null if a part of it is not known: `known_usd` is the known part. */
  readonly cost_usd: number | null;
  readonly known_usd: number | null;
  /** Calls whose cost is not known. */
  readonly unknown_calls: number;
  readonly seconds: number;
}

/** The rows of all trees together, the most expensive first, then those with the most tokens and calls. */
export async function readCosts(
  record: RecordReader,
  ids: readonly string[],
  by: CostKey,
): Promise<CostRow[]> {
  const rows = new Map<string, Sum>();
  for (const id of ids) {
    const tools = createToolFold(rows);
    const models = createModelTimes();
    let owner: string | undefined;
    const tree = await readTree(record, id, (run, event) => {
      if (by === "tool") tools(run, event);
      if (by === "model") models.read(run, event);
      if (run.id === id) owner = READERS[by]?.(event) ?? owner;
    });
    if (by === "tool") continue;
    const keyOf: Record<typeof by, (node: TreeNode) => string> = {
      agent: ({ label, agent }) => label ?? agent ?? "root",
      run: (node) => (ids.length > 1 ? node.id : node.depth === 0 ? "root" : toNodeName(node.id)),
      model: ({ model }) => model ?? "unknown",
      user: () => owner ?? "none",
      session: () => owner ?? "none",
    };
    for (const node of listNodes(tree)) {
      const ms = by === "model" ? models.of(node.id) : toDurationMs(node);
      addNode(sumOf(rows, keyOf[by](node)), node, ms);
    }
  }
  return [...rows].map(([key, sum]) => toRow(key, sum)).sort(compareRows);
}

/** Reads from the beginning of a tree who it belongs to. */
const READERS: Partial<Record<CostKey, (event: RunEvent) => string | undefined>> = {
  user: readUser,
  session: readSession,
};

/** The user that a request was sent for, as the beginning of its run repeats it. Undefined if it does not say. */
function readUser(event: RunEvent): string | undefined {
  const echo = readEcho(event);
  const named = echo["safety_identifier"] ?? echo["user"];
  return typeof named === "string" && named !== "" ? named : undefined;
}

function readSession(event: RunEvent): string | undefined {
  const { metadata } = readEcho(event);
  const named = isJsonObject(metadata) ? metadata["client_session"] : undefined;
  if (typeof named === "string" && named !== "") return named;
  return event.type === "run_start" ? event.settings.session : undefined;
}

/** The fields of its request that the beginning of a response's run repeats; empty for any other run. */
function readEcho(event: RunEvent): JsonObject {
  const response = event.type === "run_start" ? event.settings.response : undefined;
  const echo = isJsonObject(response) ? response["echo"] : undefined;
  return isJsonObject(echo) ? echo : {};
}

/** The time from its start to its end, or to its last event. */
export function toDurationMs(node: Pick<TreeNode, "started_at_ms" | "last_at_ms">): number {
  const { started_at_ms: from, last_at_ms: to } = node;
  return from === null || to === null ? 0 : Math.max(0, to - from);
}

interface Sum {
  calls: number;
  failed: number;
  /** Undefined if tokens do not belong to the key. */
  tokens:
    | { input: number; cached: number; output: number; usd: number; unknown: number }
    | undefined;
  ms: number;
}

function sumOf(rows: Map<string, Sum>, key: string): Sum {
  const known = rows.get(key);
  if (known) return known;
  const sum: Sum = { calls: 0, failed: 0, tokens: undefined, ms: 0 };
  rows.set(key, sum);
  return sum;
}

function addNode(sum: Sum, node: TreeNode, ms: number): void {
  const { usage, calls, known_usd, unknown_calls } = node;
  sum.tokens ??= { input: 0, cached: 0, output: 0, usd: 0, unknown: 0 };
  sum.tokens.input += usage.input_tokens;
  sum.tokens.cached += usage.input_tokens_details.cached_tokens;
  sum.tokens.output += usage.output_tokens;
  sum.tokens.usd += known_usd;
  sum.tokens.unknown += unknown_calls;
  sum.calls += calls;
  sum.failed += node.failed_calls;
  sum.ms += ms;
}

/** Calls are distinguished by their index, not by id alone: some servers give one id to all. */
function createToolFold(rows: Map<string, Sum>): (run: RunRecord, event: RunEvent) => void {
  const open = new Map<string, number[]>();
  const works = new Map<string, OpenWork>();
  return ({ id }, event) => {
    const work = works.get(id) ?? createOpenWork();
    works.set(id, work);
    for (const { call_id, name } of work.read(event)?.calls ?? []) {
      sumOf(rows, name).calls--;
      open.get(JSON.stringify([id, call_id, name]))?.shift();
    }
    if (event.type !== "tool_start" && event.type !== "tool_end") return;
    const key = JSON.stringify([id, event.call_id, event.name]);
    const starts = open.get(key) ?? [];
    open.set(key, starts);
    const sum = sumOf(rows, event.name);
    if (event.type === "tool_start") {
      sum.calls++;
      starts.push(event.at_ms);
      return;
    }
    if (event.failed) sum.failed++;
    sum.ms += Math.max(0, event.at_ms - (starts.shift() ?? event.at_ms));
  };
}

function createModelTimes(): {
  read(run: RunRecord, event: RunEvent): void;
  /** Milliseconds of finished calls. */
  of(id: string): number;
} {
  const spent = new Map<string, number>();
  const asked = new Map<string, number>();
  return {
    read({ id }, event) {
      if (event.type === "turn_start") asked.set(id, event.at_ms);
      if (event.type !== "turn_end") return;
      const ms = event.at_ms - (asked.get(id) ?? event.at_ms);
      spent.set(id, (spent.get(id) ?? 0) + Math.max(0, ms));
    },
    of: (id) => spent.get(id) ?? 0,
  };
}

function toRow(key: string, { calls, failed, tokens, ms }: Sum): CostRow {
  const unknown_calls = tokens?.unknown ?? 0;
  return {
    key,
    calls,
    failed,
    input_tokens: tokens?.input ?? null,
    cached_tokens: tokens?.cached ?? null,
    output_tokens: tokens?.output ?? null,
    cost_usd: tokens && unknown_calls === 0 ? tokens.usd : null,
    known_usd: tokens?.usd ?? null,
    unknown_calls,
    seconds: ms / 1000,
  };
}

function compareRows(a: CostRow, b: CostRow): number {
  const tokens = ({ input_tokens: input, output_tokens: output }: CostRow): number =>
    (input ?? 0) + (output ?? 0);
  return (
    (b.known_usd ?? 0) - (a.known_usd ?? 0) ||
    tokens(b) - tokens(a) ||
    b.calls - a.calls ||
    (a.key < b.key ? -1 : 1)
  );
}
