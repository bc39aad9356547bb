/**
 * Runs a recorded tree again. Without a change nothing is sent anywhere, and the new logs are compared with the
 * recorded ones; with a change, the changed run and everything that depends on it run for real.
 */

import { type AgentTask, parseTask } from "../agent/task.ts";
import { Failure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import { toNodeName } from "../delegation/ledger/tree.ts";
import { type Divergence, findDivergence } from "../delegation/replay/compare-logs.ts";
import { type RecordedRun, readRecordedRun } from "../delegation/replay/recorded-run.ts";
import { createReplayRun, type ReplayRun } from "../delegation/replay/replay-run.ts";
import type { RecordReader } from "../engine/engine.ts";
import { createMemoryEngine } from "../engine/memory-engine.ts";
import { readWholeLog } from "../engine/read-log.ts";
import type { LoggedEvent, RunEnd } from "../protocol/run-events.ts";
import type { RunRecord } from "../protocol/run-record.ts";
import { AGENT_BODY, type AgentBody, type AgentParts, createAgentBody } from "./agent-body.ts";

export interface ReplayRequest {
  /** Where the record is; only read. */
  readonly record: RecordReader;
  /** The root of the tree. */
  readonly id: string;
  readonly change?: ReplayChange | undefined;
}

export interface ReplayChange {
  /** The id or the path of the run that is changed. */
  readonly node: string;
  readonly prompt: string;
}

export interface Replayed {
  readonly runs: number;
  /** Paths of the runs that differ from their record, in the order in which they did. */
  readonly left: readonly { readonly path: string; readonly what: string }[];
  /** Undefined if the logs are the same, and if a change was asked for. */
  readonly divergence: Divergence | undefined;
  readonly end: RunEnd;
  /** The run that was changed, or the root: as it was recorded, and as it went this time. */
  readonly logs: {
    readonly recorded: readonly LoggedEvent[];
    readonly replayed: readonly LoggedEvent[];
  };
}

type Parts = Omit<AgentParts, "replay" | "openModel"> & {
  /** Used only after a change. */
  readonly openModel: AgentParts["openModel"];
};

export async function replayTree(
  { record, id, change }: ReplayRequest,
  parts: Parts,
): Promise<Replayed> {
  await requireReplayable(record, id);
  const recorded = await readTree(record, id);
  const root = recorded.get("/root")?.run;
  if (!root) throw new Failure("not_found", `${id} ended before it began: nothing to replay.`);
  const changed = change && findNode(recorded, change.node);
  const left: { path: string; what: string }[] = [];

  const runs = new Map<string, ReplayRun>();
  const replay = (path: string): ReplayRun => {
    const run = createReplayRun({
      recorded: recorded.get(path)?.run,
      isSame: path !== changed,
      mayContinue: change !== undefined,
      diverged: (what) => left.push({ path, what }),
      child: (key) => ({
        recorded: recorded.get(`${path}/${key}`)?.run,
        isFaithful: runs.get(`${path}/${key}`)?.isFaithful ?? false,
      }),
    });
    runs.set(path, run);
    return run;
  };
  const body = createAgentBody({
    ...parts,
    // Children run here, wherever they had run: a replay starts no process.
    childProcess: undefined,
    openModel: change ? parts.openModel : async () => SILENT,
    replay: ({ path }) => replay(path),
    ...(change && changed
      ? { prepare: (task: AgentTask, path: string) => withPrompt(task, path === changed, change) }
      : {}),
  });
  const { logs, end } = await runAgain(body, recorded);
  const divergence = change ? undefined : compare(recorded, logs);
  const of = changed ?? "/root";
  return {
    runs: recorded.size,
    left,
    divergence,
    end,
    logs: {
      recorded: recorded.get(of)?.run?.log ?? [],
      replayed: logs.get(of)?.run?.log ?? [],
    },
  };
}

interface Recorded {
  readonly stored: RunRecord;
  readonly run: RecordedRun | undefined;
}

const ALL = Number.MAX_SAFE_INTEGER;

/** Every run of the tree by its path below the root, which is `/root` wherever it was recorded. */
async function readTree(record: RecordReader, id: string): Promise<Map<string, Recorded>> {
  const tree = new Map<string, Recorded>();
  const visit = async (stored: RunRecord, path: string): Promise<void> => {
    const log = await readWholeLog(record, stored.id);
    tree.set(path, { stored, run: readRecordedRun(stored.id, path, log) });
    const children = await record.listRuns({ limit: ALL, parent_id: stored.id });
    for (const child of children) await visit(child, `${path}${child.id.slice(stored.id.length)}`);
  };
  const root = await record.getRun(id);
  if (!root) throw new Failure("not_found", `There is no run \`${id}\`.`);
  await visit(root, "/root");
  return tree;
}

/** Only runs that this can replay are compared: any other would differ from its record at the first event. */
async function requireReplayable(record: RecordReader, id: string): Promise<void> {
  const run = await record.getRun(id);
  if (!run) throw new Failure("not_found", `There is no run \`${id}\`.`);
  const root = run.parent_id === null ? run : ((await findRoot(record, run)) ?? run);
  if (root.name !== AGENT_BODY) {
    const message = `Run ${root.id} is a server's ${root.name}, which cannot be replayed: only runs of \`offshoot run\` can.`;
    throw new Failure("invalid_request", message);
  }
  if (root !== run) {
    const message = `Run ${id} is part of a tree. Replay the whole tree: offshoot runs replay ${root.id}`;
    throw new Failure("invalid_request", message);
  }
  if (run.status === "ended") return;
  const message = `Run ${id} has not ended. Resume it first: offshoot runs resume ${id}`;
  throw new Failure("invalid_request", message);
}

/** Undefined if the runs above it are gone. */
async function findRoot(record: RecordReader, run: RunRecord): Promise<RunRecord | undefined> {
  let at: RunRecord | undefined = run;
  while (at && at.parent_id !== null) at = await record.getRun(at.parent_id);
  return at;
}

function findNode(recorded: ReadonlyMap<string, Recorded>, node: string): string {
  for (const [path, { stored }] of recorded) {
    if (path === node || stored.id === node || toNodeName(stored.id) === node) return path;
  }
  const known = [...recorded.values()].map(({ stored }) => toNodeName(stored.id)).join(", ");
  throw new Failure("not_found", `The tree has no run \`${node}\`. It has: ${known}.`);
}

function withPrompt(task: AgentTask, isChanged: boolean, { prompt }: ReplayChange): AgentTask {
  if (!isChanged) return task;
  return { ...task, items: [{ type: "message", role: "user", content: prompt }] };
}

/** Never asked in a replay that may send nothing. */
const SILENT: Awaited<ReturnType<AgentParts["openModel"]>> = {
  provider: {
    name: "record",
    // biome-ignore lint/correctness/useYield: it never answers
    async *stream() {
      throw new Failure("conflict", "The recorded run has nothing left to replay.");
    },
  },
  contextTokens: undefined,
  costOf: () => undefined,
  // The record has the cost.
  tellsCost: true,
  reasoning: { effort: "none", summary: undefined },
  checkInput() {},
};

async function runAgain(body: AgentBody, recorded: ReadonlyMap<string, Recorded>) {
  const engine = createMemoryEngine();
  engine.define(AGENT_BODY, body.run);
  try {
    const id = "replay";
    const input = recorded.get("/root")?.stored.input as Json;
    parseTask(input);
    await engine.submit(AGENT_BODY, input, { id, title: "replay" });
    const { events } = await engine.result(id);
    const end = events.at(-1);
    if (end?.type !== "run_end") throw new Failure("internal", "The replay has no ending.");
    return { logs: await readTree(engine.record, id), end };
  } finally {
    await engine.stop();
  }
}

/** Compares in the order of the tree, so that a difference in a child is reported before its consequences. */
function compare(
  recorded: ReadonlyMap<string, Recorded>,
  replayed: ReadonlyMap<string, Recorded>,
): Divergence | undefined {
  const deepestFirst = [...recorded.keys()].sort((a, b) => depth(b) - depth(a));
  for (const path of deepestFirst) {
    const before = recorded.get(path)?.run?.log;
    // The child was ordered, and its parent ended before it began.
    if (!before) continue;
    const after = replayed.get(path)?.run?.log ?? [];
    const found = findDivergence(path, before, after);
    if (found) return found;
  }
  return undefined;
}

function depth(path: string): number {
  return path.split("/").length;
}
