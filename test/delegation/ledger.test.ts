import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readCosts } from "../../src/delegation/ledger/costs.ts";
import { createRunFold, type RunFigures } from "../../src/delegation/ledger/run-figures.ts";
import { addUp, listNodes, readTree } from "../../src/delegation/ledger/tree.ts";
import { readTreeEvents } from "../../src/delegation/ledger/tree-events.ts";
import { createTreeTotals } from "../../src/delegation/ledger/tree-totals.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { addUsage } from "../../src/protocol/usage.ts";
import { compaction, USAGE } from "../responses/logged-run.ts";
import {
  call,
  childEnd,
  childStart,
  end,
  type Logs,
  record,
  start,
  tool,
} from "./ledger-record.ts";

function figuresOf(...events: RunEvent[]): RunFigures {
  const fold = createRunFold();
  for (const event of events) fold.read(event);
  return fold.figures;
}

const cut: RunEvent[] = call(1, 1, 2, 0).slice(0, 2);

describe("the figures of a run", () => {
  it("count a summary of its conversation as a call that is not a turn", () => {
    const [refused] = call(2, 1600, 2000, 0.5);
    assert.ok(refused);
    const log = [start("run_1", 1000), ...call(1, 1000, 1500, 0.25), compaction(2)];
    const figures = figuresOf(...log, ...call(2, 1600, 2000, 0.5));
    assert.deepEqual([figures.turns, figures.calls, figures.failed_calls], [2, 3, 0]);
    assert.deepEqual([figures.usage.total_tokens, figures.cost_usd], [3 * USAGE.total_tokens, 1]);
    const again = figuresOf(start("run_1", 1000), refused, compaction(2), ...call(2, 1, 2, 0.5));
    assert.deepEqual([again.turns, again.calls, again.failed_calls], [2, 3, 1]);
    const cutOnly = figuresOf(start("run_1", 1), compaction(2, { summary: "", cost_usd: 0 }));
    assert.equal(cutOnly.calls, 0);
  });

  it("are those of its finished calls, even if the ending differs", () => {
    const figures = figuresOf(
      start("run_1", 1000),
      ...call(1, 1000, 1500, 0.25),
      ...tool("read", 1500, 1600),
      ...call(2, 1600, 2000, 0.5),
      end(2100, { turns: 0, cost_usd: null, ending: "failed", message: "Broke." }),
    );
    assert.deepEqual(
      [figures.turns, figures.calls, figures.tool_calls, figures.usage.total_tokens],
      [2, 2, 1, 2 * USAGE.total_tokens],
    );
    assert.deepEqual([figures.cost_usd, figures.known_usd], [0.75, 0.75]);
    assert.deepEqual([figures.ending, figures.message], ["failed", "Broke."]);
    assert.deepEqual([figures.started_at_ms, figures.ended_at_ms], [1000, 2100]);
  });

  it("say that the cost is unknown if one call's is, and the known part", () => {
    const figures = figuresOf(...call(1, 1, 2, 0.25), ...call(2, 3, 4, null));
    assert.deepEqual([figures.cost_usd, figures.known_usd, figures.unknown_calls], [null, 0.25, 1]);
  });

  it("count a call that was interrupted and made again as two calls of one turn", () => {
    const resume: RunEvent = { type: "run_resume", epoch: 2, at_ms: 3 };
    const figures = figuresOf(...cut, resume, ...call(1, 4, 5, 0.25));
    assert.deepEqual([figures.turns, figures.calls, figures.failed_calls], [1, 2, 1]);
    assert.deepEqual([figures.cost_usd, figures.unknown_calls], [null, 1]);
  });

  it("do not count a request as free that was sent and interrupted before its answer", () => {
    const sent: RunEvent[] = [start("run_1", 1), { type: "turn_start", turn: 1, at_ms: 1 }];
    const cancelled = figuresOf(...sent, end(2, { ending: "cancelled", turns: 1, cost_usd: 0 }));
    assert.deepEqual([cancelled.cost_usd, cancelled.unknown_calls], [null, 1]);
    const refused = figuresOf(...sent, end(2, { ending: "failed", turns: 1, cost_usd: 0 }));
    assert.equal(refused.cost_usd, 0, "the vendor took nothing for it");
  });

  it("count an interrupted call of a free model as free", () => {
    const resume: RunEvent = { type: "run_resume", epoch: 2, at_ms: 3 };
    assert.equal(figuresOf(...cut, resume, ...call(1, 4, 5, 0)).cost_usd, 0);
    assert.equal(figuresOf(...cut, end(6, { cost_usd: 0 })).cost_usd, 0);
  });

  it("count a call that was refused before its answer as free", () => {
    const asked: RunEvent = { type: "turn_start", turn: 1, at_ms: 1 };
    const figures = figuresOf(asked, end(2, { ending: "failed", turns: 1, cost_usd: null }));
    assert.deepEqual([figures.cost_usd, figures.failed_calls], [0, 1]);
  });

  it("include the tokens of an interrupted call, which only the ending knows", () => {
    const usage = addUsage(USAGE, USAGE);
    const log = [...call(1, 1, 2, 0.25), ...call(2, 3, 4, 0).slice(0, 2)];
    const figures = figuresOf(
      ...log,
      end(5, { ending: "cancelled", turns: 2, usage, cost_usd: null }),
    );
    assert.deepEqual([figures.usage, figures.turns, figures.calls], [usage, 2, 2]);
    assert.deepEqual([figures.known_usd, figures.unknown_calls], [0.25, 1]);
  });

  it("do not count a call that was announced and never made", () => {
    const asked: RunEvent = { type: "turn_start", turn: 2, at_ms: 3 };
    for (const ending of ["budget", "cancelled", "timeout", "completed"] as const) {
      const last = end(5, { ending, turns: 1, usage: USAGE, cost_usd: 0.25 });
      const figures = figuresOf(...call(1, 1, 2, 0.25), asked, last);
      assert.deepEqual([figures.turns, figures.calls, figures.failed_calls], [1, 1, 0], ending);
      assert.equal(figures.cost_usd, 0.25, ending);
    }
  });

  it("include the cost of a call outside turns, such as a compaction's", () => {
    const usage = addUsage(USAGE, USAGE);
    const known = figuresOf(...call(1, 1, 2, 0.25), end(5, { turns: 1, usage, cost_usd: 0.75 }));
    assert.deepEqual([known.usage, known.cost_usd], [usage, 0.75]);
    const unknown = figuresOf(...call(1, 1, 2, 0.25), end(5, { turns: 1, usage, cost_usd: null }));
    assert.deepEqual([unknown.known_usd, unknown.unknown_calls], [0.25, 1]);
  });

  it("name the last action by the tool and the argument that says most", () => {
    const [begun] = tool("read", 1, 2);
    assert.equal(figuresOf(...(begun ? [begun] : [])).last_action, "read a.txt");
    assert.equal(figuresOf(...cut).last_action, "answering");
    assert.equal(figuresOf().last_action, "");
  });
});

const TREE: Logs = {
  run_1: [
    start("run_1", 1000),
    ...call(1, 1000, 1200, 0.5),
    childStart("run_1/a", "count", 1300),
    childStart("run_1/b", "count", 1310),
    childStart("run_1/gone", "gone", 1320),
    childEnd("run_1/a", "count", { at_ms: 2000 }),
    childEnd("run_1/b", "count", { at_ms: 2500, ending: "failed" }),
    childEnd("run_1/gone", "gone", { at_ms: 2600, cost_usd: null, turns: 3 }),
    ...call(2, 2700, 2900, 0.25),
    end(3000, { turns: 2 }),
  ],
  "run_1/a": [
    start("run_1/a", 1305, "count"),
    ...call(1, 1400, 1500, 0.125),
    childStart("run_1/a/deep", "deep", 1600),
    end(1990),
  ],
  "run_1/b": [start("run_1/b", 1315, "count"), ...tool("read", 1700, 1800, true), end(2400)],
  "run_1/a/deep": [start("run_1/a/deep", 1610, "deep"), ...tool("read", 1650, 1660)],
};

describe("a tree from the record", () => {
  it("has every run below its parent, in the order they started", async () => {
    const tree = await readTree(await record(TREE), "run_1");
    assert.deepEqual(
      listNodes(tree).map(({ id, depth, label, ending, status }) => [
        ...[id, depth, label, ending, status],
      ]),
      [
        ["run_1", 0, null, "completed", "ended"],
        ["run_1/a", 1, "count", "completed", "ended"],
        ["run_1/a/deep", 2, "deep", null, "running"],
        ["run_1/b", 1, "count", "completed", "ended"],
        ["run_1/gone", 1, "gone", "completed", "unrecorded"],
      ],
    );
  });

  it("counts a child that left no log by what its parent reports", async () => {
    const tree = await readTree(await record(TREE), "run_1");
    const gone = tree.children.find(({ id }) => id === "run_1/gone");
    assert.deepEqual(
      [gone?.turns, gone?.cost_usd, gone?.path, gone?.ended_at_ms],
      [3, null, "/root/gone", 2600],
    );
  });

  it("adds up everything in it, the unfinished too", async () => {
    const total = addUp(listNodes(await readTree(await record(TREE), "run_1")));
    assert.deepEqual([total.runs, total.unfinished, total.tool_calls], [5, 1, 2]);
    assert.deepEqual([total.known_usd, total.cost_usd, total.unknown_calls], [0.875, null, 3]);
    assert.equal(total.usage.total_tokens, 4 * USAGE.total_tokens);
  });

  it("can begin at a child", async () => {
    const tree = await readTree(await record(TREE), "run_1/a");
    assert.deepEqual(
      listNodes(tree).map(({ id, depth }) => [id, depth]),
      [
        ["run_1/a", 0],
        ["run_1/a/deep", 1],
      ],
    );
  });

  it("is missing when the run is", async () => {
    await assert.rejects(readTree(await record({}), "run_x"), { code: "not_found" });
  });

  it("is read whole from a log of many pages", async () => {
    const delta: RunEvent = { type: "text_delta", index: 0, part: 0, delta: "x" };
    const turns = Array.from({ length: 900 }, (_, at) => [delta, ...call(at + 1, 1, 2, 1)]);
    const tree = await readTree(await record({ run_1: turns.flat() }), "run_1");
    assert.deepEqual([tree.calls, tree.known_usd], [900, 900]);
  });
});

describe("costs of a tree", () => {
  it("by agent put runs of one label together, with the time they took", async () => {
    const rows = await readCosts(await record(TREE), ["run_1"], "agent");
    assert.deepEqual(
      rows.map(({ key, calls, known_usd, cost_usd, seconds }) => [
        ...[key, calls, known_usd, cost_usd, seconds],
      ]),
      [
        ["root", 2, 0.75, 0.75, 2],
        ["count", 1, 0.125, 0.125, 0.685 + 1.085],
        ["gone", 3, 0, null, 1.28],
        ["deep", 0, 0, 0, 0.05],
      ],
    );
    const [root] = rows;
    assert.deepEqual(
      [root?.input_tokens, root?.cached_tokens, root?.output_tokens],
      [2400, 400, 68],
    );
  });

  it("by run separate those of one label, by the names that commands take", async () => {
    const rows = await readCosts(await record(TREE), ["run_1"], "run");
    const keys = rows.map(({ key }) => key).sort();
    assert.deepEqual(keys, ["a", "a/deep", "b", "gone", "root"]);
    const other = { run_2: [start("run_2", 1000), end(2000)] };
    const both = await readCosts(await record({ ...TREE, ...other }), ["run_1", "run_2"], "run");
    assert.ok(both.some(({ key }) => key === "run_1/a/deep") && both.length === 6);
  });

  it("by model count the time between question and answer", async () => {
    const rows = await readCosts(await record(TREE), ["run_1"], "model");
    assert.deepEqual(
      rows.map(({ key, calls, known_usd, unknown_calls, seconds }) => [
        ...[key, calls, known_usd, unknown_calls, seconds],
      ]),
      [["openai/gpt-x", 6, 0.875, 3, 0.5]],
    );
  });

  it("by tool count calls, failures and time, and no tokens", async () => {
    const [row, ...others] = await readCosts(await record(TREE), ["run_1"], "tool");
    assert.deepEqual(others, []);
    assert.deepEqual([row?.key, row?.calls, row?.failed, row?.seconds], ["read", 2, 1, 0.11]);
    assert.deepEqual([row?.input_tokens, row?.cost_usd, row?.known_usd], [null, null, null]);
  });

  it("are those of several trees together", async () => {
    const store = await record({ run_1: call(1, 1, 2, 1), run_2: call(1, 1, 2, 2) });
    const [row] = await readCosts(store, ["run_1", "run_2"], "agent");
    assert.deepEqual([row?.key, row?.calls, row?.cost_usd], ["root", 2, 3]);
  });
});

describe("the totals of a tree that is being read", () => {
  it("count a child by its own log, or by its parent's report if it has none", () => {
    const totals = createTreeTotals();
    const read = (run_id: string, ...events: RunEvent[]): void => {
      for (const [seq, event] of events.entries()) totals.read({ run_id, seq, event });
    };
    read("run_1", start("run_1", 1), childStart("run_1/a", "a", 2), childStart("run_1/b", "b", 2));
    assert.deepEqual([totals.totals.runs, totals.totals.unfinished], [3, 3]);
    read("run_1/a", start("run_1/a", 3, "a"), ...call(1, 3, 4, 0.5), end(5));
    read(
      "run_1",
      childEnd("run_1/a", "a", { cost_usd: 9 }),
      childEnd("run_1/b", "b", { turns: 4 }),
    );
    read("run_1", end(9));
    const { runs, unfinished, turns, known_usd } = totals.totals;
    assert.deepEqual([runs, unfinished, turns, known_usd], [3, 0, 5, 0.5]);
  });
});

describe("the events of a tree in one order", () => {
  it("are complete, each run's in its order", async () => {
    const store = await record(TREE);
    const seen = new Map<string, number>();
    for await (const { run_id, seq } of readTreeEvents(store, "run_1")) {
      assert.equal(seq, seen.get(run_id) ?? 0, run_id);
      seen.set(run_id, seq + 1);
    }
    const expected = Object.entries(TREE).map(([id, events]) => [id, events.length] as const);
    assert.deepEqual(new Map(expected.sort()), new Map([...seen].sort()));
  });

  it("go by time, and a child's stand between its start and its end", async () => {
    const order: string[] = [];
    for await (const { run_id, event } of readTreeEvents(await record(TREE), "run_1")) {
      if (event.type === "text_delta") continue;
      order.push(`${run_id} ${event.type}${"child_id" in event ? ` ${event.child_id}` : ""}`);
    }
    const place = (words: string): number => {
      const at = order.indexOf(words);
      assert.ok(at >= 0, `${words} in ${order.join("\n")}`);
      return at;
    };
    assert.ok(place("run_1 child_start run_1/a") < place("run_1/a run_start"));
    assert.ok(place("run_1/a run_end") < place("run_1 child_end run_1/a"));
    assert.ok(place("run_1/a turn_end") < place("run_1/b tool_start"), "side by side");
    assert.ok(place("run_1/b run_end") < place("run_1 child_end run_1/b"));
    assert.equal(order.at(-1), "run_1 run_end");
  });

  it("keep a child before its end when the clocks of two processes differ", async () => {
    const late: Logs = {
      run_1: [childStart("run_1/a", "a", 10), childEnd("run_1/a", "a", { at_ms: 20 }), end(30)],
      "run_1/a": [start("run_1/a", 90, "a"), end(99)],
    };
    const order: string[] = [];
    for await (const { run_id, event } of readTreeEvents(await record(late), "run_1")) {
      order.push(`${run_id} ${event.type}`);
    }
    assert.deepEqual(order, [
      ...["run_1 child_start", "run_1/a run_start", "run_1/a run_end"],
      ...["run_1 child_end", "run_1 run_end"],
    ]);
  });
});
