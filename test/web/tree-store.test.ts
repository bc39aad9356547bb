import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LoggedEvent } from "../../src/protocol/run-events.ts";
import { toEventViews } from "../../src/runtime/record/event-view.ts";
import { toSkeleton } from "../../src/runtime/record/skeleton.ts";
import type { TreeRow } from "../../src/runtime/record/views.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { createScriptedProvider, reply } from "../../src/testing/index.ts";
import { toFoldedTimeline, toSpan, toTimeline, toVisible } from "../../web/views/run/timeline.ts";
import { createTreeStore, toNode, toPlace } from "../../web/views/run/tree-store.ts";

const call = (label: string) => ({
  name: "subagent",
  arguments: JSON.stringify({ label, task_prompt: `Work as ${label}` }),
});

/** A root that starts two children, each of which starts one more and reads a file that is not there. */
function answerTo(words: string): ReturnType<typeof reply.text> {
  const hasResults = words.includes("function_call_output");
  if (words.includes("Work as deep")) return reply.text("deep");
  if (!words.includes("Work as")) {
    return hasResults ? reply.text("Done.") : reply.calls([call("one"), call("two")]);
  }
  const reading = { name: "read", arguments: '{"path":"none"}' };
  return hasResults ? reply.text("A child's word.") : reply.calls([call("deep"), reading]);
}

describe("a live tree in the console", () => {
  it("comes to what the server tells of the same events, whatever their order among runs", async (t) => {
    const provider = {
      name: "delegating",
      async *stream(request: { items: unknown }, one: never) {
        const answer = answerTo(JSON.stringify(request.items));
        yield* createScriptedProvider(answer).stream(request as never, one);
      },
    };
    const runtime = await createRuntime({ env: {}, provider: provider as never });
    t.after(() => runtime.close());
    const seen: LoggedEvent[] = [];
    runtime.engine.watch((logged) => seen.push(logged));
    const run = await runtime.run({ model: "test/m", input: "Begin", tools: ["subagent", "read"] });
    await run.result();
    const record = await runtime.openRecord();
    const piece = await record.tree({ tenant: undefined }, run.id, null);
    const store = createTreeStore();
    const [root] = piece.rows;
    assert.ok(root && piece.rows.length > 12, `${piece.rows.length} rows`);
    store.append([toOpen(root)]);
    for (const logged of seen) store.apply(logged.run_id, toEventViews([logged]));
    const shape = ({ id, parent, depth, kind, name, status, end }: ReturnType<typeof toNode>) =>
      [id, parent, depth, kind, name, status, end === null].join(" ");
    assert.deepEqual(store.nodes.map(shape), piece.rows.map(toNode).map(shape));
    assert.deepEqual(
      store.nodes.map(({ tokens }) => tokens),
      piece.rows.map(toNode).map(({ tokens }) => tokens),
    );
    const again = store.nodes.length;
    for (const logged of seen) store.apply(logged.run_id, toEventViews([logged]));
    assert.equal(store.nodes.length, again, "events that are told twice add nothing");
  });

  it("does not need a recursion for a tree that is deep", () => {
    assert.deepEqual(toSkeleton([], []), []);
    const rows = Array.from({ length: 20_000 }, (_, at) =>
      row(`r${at}`, at === 0 ? null : `r${at - 1}`, at),
    );
    const store = createTreeStore();
    store.append(rows);
    assert.equal(toVisible(store.nodes, new Set()).length, 20_000);
    assert.equal(toVisible(store.nodes, new Set(["r5"])).length, 6);
  });
});

function toOpen(node: TreeRow): TreeRow {
  const [id, parent, depth, kind, name, start] = node;
  return [id, parent, depth, kind, name, start, null, null, null, null, "running", null];
}

function row(id: string, parent: string | null, depth: number, [start, end] = [0, 10]): TreeRow {
  const kind = parent === null ? "run" : "call";
  return [id, parent, depth, kind, id, start ?? 0, end ?? 0, null, null, null, "ok", null];
}

describe("the timeline of a tree", () => {
  const nodes = [
    row("run", null, 0, [0, 1000]),
    row("run:1", "run", 1, [0, 100]),
    row("run:2", "run", 1, [900, 1000]),
  ].map(toNode);

  it("places moments within the run, or within the node that it is zoomed to", () => {
    const whole = toTimeline(toSpan(nodes, undefined, 0));
    assert.deepEqual([whole.toX(0), whole.toX(500), whole.toX(1000)], [0, 0.5, 1]);
    const zoomed = toTimeline(toSpan(nodes, nodes[1], 0));
    assert.deepEqual([zoomed.toX(50), zoomed.toX(900)], [0.5, 1]);
    const open = toSpan([{ ...(nodes[0] as (typeof nodes)[number]), end: null }], undefined, 4000);
    assert.equal(open.to, 4000);
  });

  it("folds a stretch in which nothing worked, and keeps the order of everything else", () => {
    const folded = toFoldedTimeline(toSpan(nodes, undefined, 0), nodes, 1000);
    assert.equal(folded.folded, 1);
    const xs = [0, 100, 500, 900, 950, 1000].map((ms) => folded.toX(ms));
    assert.deepEqual(
      xs,
      [...xs].sort((a, b) => a - b),
    );
    assert.ok((xs[1] ?? 0) > 0.45 && (xs[3] ?? 1) < 0.55, xs.join(" "));
    assert.deepEqual([xs[0], xs[5]], [0, 1]);
  });

  it("tells a step from a run by its id, also where labels have colons", () => {
    assert.deepEqual(toPlace("run_1/a:b-1.0"), { run: "run_1/a:b-1.0", seq: undefined });
    assert.deepEqual(toPlace("run_1/a-1.0:12"), { run: "run_1/a-1.0", seq: 12 });
  });
});
