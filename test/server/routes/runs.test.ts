/** The API of runs over HTTP: real runs in a real file, real keys. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { z } from "zod";
import type { ModelRequest, Provider } from "../../../src/providers/provider.ts";
import { RUN_ANSWERS } from "../../../src/server/openapi/run-answers.ts";
import { createScriptedProvider, type Reply, reply } from "../../../src/testing/index.ts";
import { until } from "../../patience.ts";
import { createWorkspaceFolder } from "../../tools/workspace-folder.ts";
import { framesOf, type RunsBench, startRuns } from "./runs-fixture.ts";

const START = { model: "test/model", input: "Begin here", tools: ["subagent"] };

/** Starts two children, which answer at once, and then says `Done.` */
const delegating: Provider = answering((request) => {
  if (isChild(request)) return reply.text("A child's word.");
  return hasResults(request) ? reply.text("Done.") : reply.calls([child("one"), child("two")]);
});

function answering(answer: (request: ModelRequest) => Reply | Promise<Reply>): Provider {
  return {
    name: "answering",
    async *stream(request, call) {
      yield* createScriptedProvider(await answer(request)).stream(request, call);
    },
  };
}

const child = (label: string) => ({
  name: "subagent",
  arguments: JSON.stringify({ label, task_prompt: `Work as ${label}` }),
});
const hasResults = ({ items }: ModelRequest): boolean =>
  items.some(({ type }) => type === "function_call_output");
const isChild = ({ items: [first] }: ModelRequest): boolean =>
  JSON.stringify(first).includes("Work as");

const fits = (name: keyof typeof RUN_ANSWERS, body: unknown): void =>
  void (RUN_ANSWERS[name] as z.ZodType).parse(body);

async function runOne(bench: RunsBench, more: object = {}): Promise<string> {
  const run = await bench.runtime.run({ ...START, ...more });
  await run.result();
  return run.id;
}

describe("the API of runs", () => {
  it("lists runs with what their trees used, in pages", async (t) => {
    const bench = await startRuns(t, { provider: delegating });
    const token = await bench.key();
    const ids = [await runOne(bench), await runOne(bench), await runOne(bench)];
    const first = await bench.ask("/v1/runs?limit=2", { token });
    assert.equal(first.status, 200, first.text);
    fits("RunList", first.body);
    assert.equal(first.headers["cache-control"], "no-store");
    const second = await bench.ask(`/v1/runs?limit=2&after=${first.body.next}`, { token });
    const listed = [...first.body.data, ...second.body.data];
    assert.deepEqual(listed.map(({ id }) => id).sort(), [...ids].sort());
    assert.equal(second.body.next, null);
    // Two turns of its own, one of each child.
    assert.equal(listed[0].totals.calls, 4);
    assert.deepEqual([listed[0].turns, listed[0].tool_calls], [2, 2]);
    const none = await bench.ask("/v1/runs?status=failed&search=begin", { token });
    assert.deepEqual(none.body.data, []);
    const found = await bench.ask("/v1/runs?status=completed&search=BEGIN", { token });
    assert.equal(found.body.data.length, 3);
  });

  it("says what is wrong with a query", async (t) => {
    const bench = await startRuns(t, { provider: delegating });
    const token = await bench.key();
    for (const query of ["status=x", "limit=0", "limit=101", "day=18.11.2026", "after=zzz"]) {
      const { status, body } = await bench.ask(`/v1/runs?${query}`, { token });
      assert.equal(status, 400, query);
      assert.ok(body.error.message.length > 20, body.error.message);
    }
    const { status } = await bench.ask("/v1/runs/run_none", { token });
    assert.equal(status, 404);
  });

  it("shows one run, and its tree with children below the calls that asked for them", async (t) => {
    const bench = await startRuns(t, { provider: delegating });
    const token = await bench.key();
    const id = await runOne(bench);
    const one = await bench.ask(`/v1/runs/${id}`, { token });
    fits("Run", one.body);
    assert.deepEqual(
      [one.body.start.type, one.body.end.type, one.body.end.event.output_text, one.body.is_held],
      ["run_start", "run_end", "Done.", false],
    );
    const tree = await bench.ask(`/v1/runs/${id}/tree`, { token });
    fits("RunTree", tree.body);
    const shown = tree.body.rows.map(([node, parent, depth, kind, name]: unknown[]) => [
      ...[
        depth,
        kind,
        kind === "turn" ? name : parent === null ? "" : String(node).split("/").at(-1),
      ],
    ]);
    const [, call1 = "", child1 = "", , , child2 = ""] = tree.body.rows
      .slice(1)
      .map(([node]: [string]) => node);
    assert.deepEqual(
      shown.map(([depth, kind]: unknown[]) => `${depth} ${kind}`),
      [
        ...["0 run", "1 turn", "1 call", "2 run", "3 turn"],
        ...["1 call", "2 run", "3 turn", "1 turn"],
      ],
    );
    assert.ok(call1.startsWith(`${id}:`) && child1.startsWith(`${id}/one-`), `${call1} ${child1}`);
    assert.ok(child2.startsWith(`${id}/two-`), child2);
    const below = await bench.ask(`/v1/runs/${encodeURIComponent(child1)}`, { token });
    assert.equal(below.body.parent_id, id);
  });

  it("gives the log with joined deltas, shortened texts, and the rest of them in pieces", async (t) => {
    const long = "word ".repeat(40_000);
    const bench = await startRuns(t, {
      provider: answering(() => reply.text(long, { pieceLength: 500 })),
    });
    const token = await bench.key();
    const id = await runOne(bench);
    const { body } = await bench.ask(`/v1/runs/${id}/events`, { token });
    fits("RunEventList", body);
    const deltas = body.data.filter(({ type }: { type: string }) => type === "text_delta");
    assert.equal(deltas.length, 1, "one event for all deltas of an item");
    const end = body.data.find(({ type }: { type: string }) => type === "item_end");
    const [clipped] = end.clipped;
    assert.deepEqual([clipped.kind, clipped.length], ["text", long.length]);
    assert.ok(JSON.stringify(end).length < 66_000);
    let read = "";
    for (let from: number | null = 0; from !== null; ) {
      const at = `${end.seq}?path=${encodeURIComponent(clipped.path)}&from=${from}`;
      const piece = await bench.ask(`/v1/runs/${id}/events/${at}`, { token });
      fits("RunText", piece.body);
      read += piece.body.text;
      from = piece.body.next;
    }
    assert.equal(read, long);
    const page = await bench.ask(`/v1/runs/${id}/events?types=turn_start,run_end`, { token });
    assert.deepEqual(
      page.body.data.map(({ type }: { type: string }) => type),
      ["turn_start", "run_end"],
    );
  });

  it("follows a whole tree as one stream, including children that begin meanwhile", async (t) => {
    let goOn = (): void => {};
    const waits = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const provider = answering(async (request) => {
      if (isChild(request)) return reply.text("A child's word.");
      if (hasResults(request)) return reply.text("Done.");
      await waits;
      return reply.calls([child("one")]);
    });
    const bench = await startRuns(t, { provider });
    const token = await bench.key();
    const run = await bench.runtime.run(START);
    const following = bench.ask(`/v1/runs/${run.id}/follow?tree=true`, { token });
    goOn();
    const frames = framesOf((await following).text);
    for (const frame of frames) fits("RunFrame", frame);
    const runs = new Set(frames.map(({ run_id }) => run_id));
    assert.equal(runs.size, 2);
    for (const id of runs) {
      const seqs = frames
        .filter(({ run_id }) => run_id === id)
        .flatMap(({ events }) => events)
        .flatMap(({ seq, last_seq }) =>
          Array.from({ length: last_seq - seq + 1 }, (_, at) => seq + at),
        );
      assert.deepEqual(
        seqs,
        seqs.map((_, at) => at),
        "all of them, once, in order",
      );
    }
    const rest = await bench.ask(`/v1/runs/${run.id}/follow?after=2`, { token });
    assert.equal(framesOf(rest.text)[0].events[0].seq, 3);
  });

  it("sums usage from rows alone, by day and by key of the sum", async (t) => {
    const bench = await startRuns(t, { provider: delegating });
    const token = await bench.key();
    await runOne(bench);
    const usage = await bench.ask("/v1/usage?by=agent", { token });
    fits("Usage", usage.body);
    const rows = usage.body.data.map(({ key, calls }: { key: string; calls: number }) => [
      key,
      calls,
    ]);
    assert.deepEqual(rows.sort(), [
      [null, 2],
      ["one", 1],
      ["two", 1],
    ]);
    const tools = await bench.ask("/v1/usage/tools", { token });
    fits("ToolUsage", tools.body);
    assert.deepEqual([tools.body.data[0].tool, tools.body.data[0].calls], ["subagent", 2]);
    const wrong = await bench.ask("/v1/usage?by=colour", { token });
    assert.match(wrong.body.error.message, /colour.*model, agent/);
  });

  it("compares two runs and names the first difference", async (t) => {
    let count = 0;
    const provider = answering(() => reply.text(++count === 2 ? "Other." : "Same."));
    const bench = await startRuns(t, { provider });
    const token = await bench.key();
    const a = await runOne(bench);
    const b = await runOne(bench);
    const c = await runOne(bench);
    const other = await bench.ask(`/v1/runs/${a}/compare?with=${b}`, { token });
    fits("RunComparison", other.body);
    const { rows, first_difference } = other.body;
    assert.deepEqual(
      [rows[first_difference].kind, rows[first_difference].state],
      ["turn", "different"],
    );
    const same = await bench.ask(`/v1/runs/${a}/compare?with=${c}`, { token });
    assert.equal(same.body.first_difference, null);
  });

  it("steers and stops a run that works", async (t) => {
    const asked: string[] = [];
    const provider = answering(async (request) => {
      asked.push(JSON.stringify(request.items));
      if (asked.length === 1) return reply.calls([{ name: "subagent", arguments: "{}" }]);
      await new Promise(() => {});
      return reply.text("never");
    });
    const bench = await startRuns(t, { provider });
    const token = await bench.key();
    const run = await bench.runtime.run(START);
    const post = { method: "POST", token };
    const steered = await bench.ask(`/v1/runs/${run.id}/steer`, {
      ...post,
      body: { text: "Hurry" },
    });
    fits("SteeredRun", steered.body);
    const empty = await bench.ask(`/v1/runs/${run.id}/steer`, { ...post, body: {} });
    assert.equal(empty.status, 400);
    const stopped = await bench.ask(`/v1/runs/${run.id}/cancel`, post);
    assert.equal(stopped.status, 200, stopped.text);
    assert.equal((await run.result()).ending, "cancelled");
    const { body } = await bench.ask(`/v1/runs/${run.id}`, { token });
    assert.deepEqual([body.status, body.ending], ["ended", "cancelled"]);
  });

  it("replays a run: the same log, or another one after a change", async (t) => {
    const bench = await startRuns(t, { provider: delegating });
    const token = await bench.key();
    const id = await runOne(bench);
    const same = await bench.ask(`/v1/runs/${id}/replay`, { method: "POST", token });
    fits("RunReplay", same.body);
    assert.deepEqual(
      [same.body.runs, same.body.divergence, same.body.ending],
      [3, null, "completed"],
    );
  });

  it("lists what waits for an answer, takes the first, and tells the second", async (t) => {
    const provider = answering((request) =>
      hasResults(request)
        ? reply.text("Done.")
        : reply.calls([{ name: "write", arguments: '{"path":"a.txt","content":"one\\ntwo"}' }]),
    );
    const folder = createWorkspaceFolder();
    t.after(() => folder[Symbol.dispose]());
    const bench = await startRuns(t, { provider, approvalWaitMs: 60_000 });
    const token = await bench.key({ scopes: ["runs", "approve"] });
    const run = await bench.runtime.run({ ...START, tools: ["write"], root: folder.root });
    const open = await until(async () => {
      const { body } = await bench.ask("/v1/approvals", { token });
      return body.data.length > 0 ? body : undefined;
    }, "the question");
    fits("QuestionList", open);
    const [asked] = open.data;
    assert.deepEqual([asked.run_id, asked.tool, asked.title], [run.id, "write", "Begin here"]);
    assert.match(asked.diff, /\+\+\+ a\.txt\n\+one\n\+two/);
    const waiting = await bench.ask("/v1/runs?status=waiting", { token });
    assert.deepEqual(
      waiting.body.data.map(({ id, status }: { id: string; status: string }) => [id, status]),
      [[run.id, "waiting"]],
    );
    const answer = { question: asked.question, answer: "no", reason: "not now" };
    const post = { method: "POST", token, body: answer };
    const taken = await bench.ask(`/v1/runs/${run.id}/answer`, post);
    fits("RunAnswer", taken.body);
    assert.equal(taken.body.outcome, "taken");
    const asking = `/v1/runs/${run.id}/questions/${encodeURIComponent(asked.question)}`;
    const decided = await bench.ask(asking, { token });
    fits("Question", decided.body);
    assert.equal(decided.body.verdict, "deny");
    assert.equal((await bench.ask(`/v1/runs/${run.id}/questions/none`, { token })).status, 404);
    const late = await bench.ask(`/v1/runs/${run.id}/answer`, post);
    assert.equal(late.status, 409, late.text);
    await run.result();
    assert.deepEqual((await bench.ask("/v1/approvals", { token })).body.data, []);
  });
});
