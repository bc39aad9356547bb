/**
 * A tree of runs survives `kill -9` of its process at any moment. Calls are counted at the model's server,
 * and compared with the journals' contents when each process began.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readTree } from "../../src/delegation/ledger/tree.ts";
import { dropReportWish } from "../../src/protocol/report-wish.ts";
import type { LoggedEvent, RunEnd } from "../../src/protocol/run-events.ts";
import type { RunRecord } from "../../src/protocol/run-record.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { type ScriptEngine, startChatUpstream } from "../../src/testing/index.ts";
import { type AnswerReply, reply } from "../../src/testing/reply.ts";
import { createCountingIds, replyEvents } from "../../src/testing/reply-events.ts";
import { createChance } from "../delegation/random-tree.ts";
import { countKills } from "./kills.ts";

const KILLS = countKills(24);
const WORKER = fileURLToPath(new URL("./fixtures/tree-worker.js", import.meta.url));

/** Below the root: three in parallel, and one with one below it. Each leaf reads a value. */
const VALUES = { a: 1, b: 2, c: 3, leaf: 4 };
const LABELS = ["a", "b", "c", "leaf", "nest"];
/** Two of each: the work or the delegation, and the result. And the report that `nest` is asked for. */
const CALLS = 2 + 2 * LABELS.length + 1;
/** The most model calls that one kill can interrupt. */
const SIDE_BY_SIDE = 4;

it(`finishes trees whose processes are killed ${KILLS} times`, async () => {
  const directory = await mkdtemp(join(tmpdir(), "offshoot-tree-kill-"));
  for (const [name, value] of Object.entries(VALUES)) {
    await writeFile(join(directory, `${name}.txt`), `value=${value}\n`);
  }
  const random = createChance(51_203);
  for (let kills = 0, round = 0; kills < KILLS; round++) {
    const tree = await startServed(join(directory, `${round}.db`), directory, random);
    try {
      kills += await tree.runToItsEnd(KILLS - kills);
    } finally {
      await tree.close();
    }
  }
  await rm(directory, { recursive: true });
});

interface Served {
  /** Kills at most that often; returns how often. */
  runToItsEnd(mostKills: number): Promise<number>;
  close(): Promise<void>;
}

/** One tree, with a server of its own, so that a late request counts for no other. */
async function startServed(path: string, root: string, random: () => number): Promise<Served> {
  const asked: string[] = [];
  let onAsked = (): void => {};
  const upstream = await startChatUpstream({
    engine: createAdder(random, (key) => {
      asked.push(key);
      onAsked();
    }),
  });

  async function live(canKill: boolean): Promise<"killed" | "ended"> {
    const worker = spawn(process.execPath, [WORKER, path, upstream.url, root], {
      stdio: ["ignore", "ignore", "inherit"],
      // A group of its own, by which all its remaining processes are found.
      detached: true,
    });
    const closed = once(worker, "close");
    const moment = asked.length + Math.floor(random() * 8);
    const delayMs = random() * (moment === asked.length ? 300 : 25);
    let isDying = !canKill;
    onAsked = () => {
      if (isDying || asked.length < moment) return;
      isDying = true;
      void setTimeout(delayMs).then(() => worker.kill("SIGKILL"));
    };
    onAsked();
    const [code, signal] = (await closed) as [number | null, string | null];
    assert.ok(code === 0 || signal === "SIGKILL", `exit ${code}`);
    const group = -Number(worker.pid);
    assert.throws(() => process.kill(group, 0), { code: "ESRCH" }, "a process is left");
    return signal === "SIGKILL" ? "killed" : "ended";
  }

  return {
    close: upstream.close,
    async runToItsEnd(mostKills) {
      for (let kills = 0; ; kills++) {
        const finished = await readFinished(path);
        const before = asked.length;
        const ended = await live(kills < mostKills);
        for (const key of asked.slice(before)) {
          assert.ok(!finished.has(key), `${key} had finished and was asked again`);
        }
        if (ended === "killed") continue;
        checkAsked(asked, kills);
        await checkTree(path, kills);
        await checkReplay(path, asked);
        return kills;
      }
    },
  };
}

/** Delegates at the root and at `nest`, reads at the leaves, and adds up the results. */
function createAdder(random: () => number, tell: (key: string) => void): ScriptEngine {
  const makeId = createCountingIds();
  return async function* (request, { signal }) {
    const label = labelOf(request);
    tell(`${label} model:${turnOf(request)}`);
    await setTimeout(random() * 15);
    yield* replyEvents(choose(request, label), request, { signal, makeId });
  };
}

function labelOf({ items }: ModelRequest): string {
  const [first] = items;
  return first?.type === "message" ? dropReportWish(String(first.content)) : "";
}

/** A turn leaves a message or calls, and calls leave outputs; a user message asks for the report. */
function turnOf({ items }: ModelRequest): number {
  const asked = items.filter((item) => item.type === "message" && item.role === "user");
  if (asked.length > 1) return 3;
  return items.some(({ type }) => type === "function_call_output") ? 2 : 1;
}

function choose(request: ModelRequest, label: string): AnswerReply {
  if (turnOf(request) > 1) return reply.text(`value=${sumOf(request)}`);
  if (label === "nest") return reply.calls([delegate("leaf")]);
  if (label !== "root") {
    return reply.calls([{ name: "read", arguments: { path: `${label}.txt` } }]);
  }
  const tasks = ["a", "b", "c"].map((name) => delegate(name).arguments);
  const nest = { ...delegate("nest").arguments, summary_prompt: "Add it up." };
  return reply.calls([
    { name: "parallel_subagent", arguments: { tasks } },
    { name: "subagent", arguments: nest },
  ]);
}

function delegate(label: string) {
  return { name: "subagent", arguments: { label, task_prompt: label } };
}

function sumOf({ items }: ModelRequest): number {
  const outputs = items.filter((item) => item.type === "function_call_output");
  const found = JSON.stringify(outputs).matchAll(/value=(\d+)/g);
  return [...found].reduce((sum, [, value]) => sum + Number(value), 0);
}

/** The model calls in the journals. */
async function readFinished(path: string): Promise<Set<string>> {
  const store = await openSqliteStore(path);
  const finished = new Set<string>();
  for (const run of await store.listRuns({ limit: 100 })) {
    for (const key of (await store.readSteps(run.id)).keys()) {
      if (key.startsWith("model:")) finished.add(`${run.title} ${key}`);
    }
  }
  await store.close();
  return finished;
}

function checkAsked(asked: readonly string[], kills: number): void {
  const distinct = new Set(asked);
  assert.equal(distinct.size, CALLS, [...distinct].join(", "));
  const repeated = asked.length - distinct.size;
  assert.ok(repeated <= kills * SIDE_BY_SIDE, `${repeated} repeated by ${kills} kills`);
}

async function checkTree(path: string, kills: number): Promise<void> {
  const store = await openSqliteStore(path);
  const runs = await store.listRuns({ limit: 100 });
  assert.deepEqual(runs.map(({ title }) => title).sort(), [...LABELS, "root"].sort());
  for (const run of runs) {
    const log = await store.readEvents(run.id, -1, 10_000);
    const end = checkLog(run, log);
    assert.ok(run.epoch <= kills + 1, `epoch ${run.epoch} of ${kills + 1} processes`);
    const below = runs.filter(({ id }) => id.startsWith(`${run.id}/`));
    assert.equal(end.spent["children"], below.length, run.id);
    checkChildren(run, log, runs);
    await checkFigures(store, run, end);
    if (run.title !== "root") continue;
    const { output_text, spent } = end;
    assert.deepEqual([output_text, spent["turns"]], ["value=10", CALLS]);
  }
  await store.close();
}

/** The tree reports the same about a run as the run itself, however often it was interrupted. */
async function checkFigures(store: Store, run: RunRecord, end: RunEnd): Promise<void> {
  const { turns, tool_calls, usage } = await readTree(store, run.id);
  assert.deepEqual([turns, tool_calls, usage], [end.turns, end.tool_calls, end.usage], run.id);
}

/** A replay from its record has the same result, and sends nothing. */
async function checkReplay(path: string, asked: readonly string[]): Promise<void> {
  const before = asked.length;
  const store = await openSqliteStore(path);
  const [root] = await store.listRuns({ limit: 1, parent_id: null });
  await store.close();
  const runtime = await createRuntime({ storePath: path, env: {} });
  try {
    const { divergence, left, end } = await runtime.replay({ id: root?.id ?? "" });
    assert.deepEqual([divergence, left, end.output_text], [undefined, [], "value=10"]);
    assert.equal(asked.length, before, "a replay sends nothing");
  } finally {
    await runtime.close();
  }
}

/** Numbers without gaps, and one ending, which is the last event. */
function checkLog(run: RunRecord, log: readonly LoggedEvent[]): RunEnd {
  assert.deepEqual([run.status, run.ending, run.next_seq], ["ended", "completed", log.length]);
  assert.deepEqual(
    log.map(({ seq }) => seq),
    log.map((_, index) => index),
  );
  const ends = log.flatMap(({ event }) => (event.type === "run_end" ? [event] : []));
  assert.equal(ends.length, 1, run.id);
  const last = log.at(-1)?.event;
  assert.ok(last?.type === "run_end", run.id);
  return last;
}

/** A resumed parent may get an ending again, but never twice from one process. */
function checkChildren(run: RunRecord, log: readonly LoggedEvent[], runs: readonly RunRecord[]) {
  const children = runs.filter(({ parent_id }) => parent_id === run.id).map(({ id }) => id);
  const told = new Set<string>();
  let here = new Set<string>();
  for (const { event } of log) {
    if (event.type === "run_resume") here = new Set();
    if (event.type !== "child_end") continue;
    assert.equal(event.ending, "completed", event.child_id);
    assert.ok(!here.has(event.child_id), `${event.child_id} ended twice in one process`);
    here.add(event.child_id);
    told.add(event.child_id);
  }
  assert.deepEqual([...told].sort(), children.sort());
}
