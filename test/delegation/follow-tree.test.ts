import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { followTree } from "../../src/delegation/ledger/follow-tree.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { dropReportWish } from "../../src/protocol/report-wish.ts";
import type { LoggedEvent, RunEvent } from "../../src/protocol/run-events.ts";
import type { RunRecord } from "../../src/protocol/run-record.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { createManualClock, reply, respond } from "../../src/testing/index.ts";
import { patience } from "../patience.ts";
import { childEnd, childStart, end, start } from "./ledger-record.ts";
import { startTree, type Tree } from "./tree-fixture.ts";

async function collect(batches: AsyncIterable<readonly LoggedEvent[]>): Promise<LoggedEvent[]> {
  const all: LoggedEvent[] = [];
  for await (const batch of batches) all.push(...batch);
  return all;
}

const byRun = (events: readonly LoggedEvent[]): Map<string, RunEvent[]> => {
  const runs = new Map<string, RunEvent[]>();
  for (const { run_id, seq, event } of events) {
    const known = runs.get(run_id) ?? [];
    assert.equal(seq, known.length, `${run_id} has a gap or a repetition`);
    runs.set(run_id, [...known, event]);
  }
  return runs;
};

/** Three children of the root, each of which has one of its own. */
function startNested(t: TestContext): Promise<Tree> {
  const asked = ({ items }: ModelRequest): string => {
    const last = items.findLast((item) => item.type === "message" && item.role === "user");
    return last?.type === "message" ? dropReportWish(String(last.content)) : "";
  };
  const hasOutput = ({ items }: ModelRequest): boolean =>
    items.some((item) => item.type === "function_call_output");
  const order = (label: string, task_prompt: string) => ({
    name: "subagent",
    arguments: JSON.stringify({ label, task_prompt }),
  });
  return startTree(
    t,
    respond((request) => {
      if (asked(request) === "go" && !hasOutput(request)) {
        return reply.calls(["a", "b", "c"].map((label) => order(label, "delegate")));
      }
      if (asked(request) === "delegate" && !hasOutput(request)) {
        return reply.calls([order("deep", "answer")]);
      }
      return reply.text("Done, in several words.");
    }),
  );
}

describe("following a tree", () => {
  it("yields every event of every run once, in order, and the root's ending last", async (t) => {
    const tree = await startNested(t);
    const { runtime, upstream, root } = tree;
    const { id } = await runtime.run({
      model: "custom/test",
      provider: "openai-chat",
      url: upstream.url,
      input: "go",
      tools: ["read", "subagent"],
      root,
    });
    const signal = patience();
    const events = await collect(followTree(runtime.engine, id, { signal }));
    const runs = byRun(events);
    assert.equal(runs.size, 7);
    for (const [run, seen] of runs) assert.deepEqual(seen, await tree.eventsOf(run), run);
    const last = events.at(-1);
    assert.deepEqual([last?.run_id, last?.event.type], [id, "run_end"]);
    for (const [at, { event, run_id }] of events.entries()) {
      if (event.type !== "run_start" || run_id === id) continue;
      const ordered = events.findIndex(
        (other) => other.event.type === "child_start" && other.event.child_id === run_id,
      );
      assert.ok(ordered >= 0 && ordered < at, run_id);
    }
  });

  it("yields the same for a tree that has ended, to a slow reader", async (t) => {
    const tree = await startNested(t);
    const { id } = await tree.run();
    const all: LoggedEvent[] = [];
    for await (const batch of followTree(tree.runtime.engine, id)) {
      await new Promise((resolve) => setImmediate(resolve));
      all.push(...batch);
    }
    const runs = byRun(all);
    assert.equal(runs.size, 7);
    for (const [run, seen] of runs) assert.deepEqual(seen, await tree.eventsOf(run), run);
  });

  it("leaves no listener when the reader stops early", async (t) => {
    const tree = await startNested(t);
    const { id } = await tree.run();
    for await (const batch of followTree(tree.runtime.engine, id)) {
      if (batch.some(({ event }) => event.type === "child_start")) break;
    }
  });

  it("rejects for an unknown run, and with the reason of its signal", async (t) => {
    const { runtime } = await startNested(t);
    await assert.rejects(collect(followTree(runtime.engine, "run_x")), { code: "not_found" });
    const signal = AbortSignal.abort(new Error("enough"));
    await assert.rejects(collect(followTree(runtime.engine, "run_x", { signal })), /enough/);
  });
});

type Logs = Readonly<Record<string, readonly RunEvent[]>>;

/** An engine of fixed logs. A log without its ending stays open until the signal aborts. */
function createFakeEngine(logs: Logs): Pick<Engine, "follow" | "status"> {
  return {
    async status(id) {
      const isEnded = logs[id]?.at(-1)?.type === "run_end";
      return logs[id] && ({ id, status: isEnded ? "ended" : "running" } as RunRecord);
    },
    async *follow(id, _after, signal) {
      const events = logs[id] ?? assert.fail(`there is no ${id}`);
      yield events.map((event, seq) => ({ run_id: id, seq, event }));
      if (events.at(-1)?.type === "run_end") return;
      await new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    },
  };
}

describe("following children with an irregular record", () => {
  it("does not wait for a child that ended and was never written down", async () => {
    const engine = createFakeEngine({
      run_1: [start("run_1", 1), childStart("run_1/a", "a", 2), childEnd("run_1/a", "a"), end(9)],
    });
    const events = await collect(followTree(engine, "run_1", { clock: createManualClock() }));
    assert.equal(events.length, 4);
  });

  it("waits for a child that is ordered and not written down yet", async () => {
    const clock = createManualClock();
    const logs: Record<string, RunEvent[]> = {
      run_1: [start("run_1", 1), childStart("run_1/a", "a", 2)],
    };
    const seen: string[] = [];
    const stopping = new AbortController();
    const reading = (async () => {
      const { signal } = stopping;
      for await (const batch of followTree(createFakeEngine(logs), "run_1", { clock, signal })) {
        seen.push(...batch.map(({ run_id, event }) => `${run_id} ${event.type}`));
      }
    })();
    await clock.advance(1000);
    assert.deepEqual(seen, ["run_1 run_start", "run_1 child_start"]);
    logs["run_1/a"] = [start("run_1/a", 3, "a"), end(4)];
    await clock.advance(100);
    assert.deepEqual(seen.slice(2), ["run_1/a run_start", "run_1/a run_end"]);
    stopping.abort(new Error("enough"));
    await assert.rejects(reading, /enough/);
    assert.equal(clock.sleeping, 0);
  });

  it("stops waiting for a child that no process runs, and then yields the root's ending", async () => {
    const clock = createManualClock();
    const engine = createFakeEngine({
      run_1: [start("run_1", 1), childStart("run_1/a", "a", 2), end(9)],
      "run_1/a": [start("run_1/a", 3, "a")],
    });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const batch of followTree(engine, "run_1", { clock })) {
        seen.push(...batch.map(({ run_id, event }) => `${run_id} ${event.type}`));
      }
    })();
    await clock.advance(1000);
    assert.deepEqual(seen, ["run_1 run_start", "run_1 child_start", "run_1/a run_start"]);
    await clock.advance(10_000);
    await reading;
    assert.deepEqual(seen.slice(3), ["run_1 run_end"]);
    assert.equal(clock.sleeping, 0);
  });
});
