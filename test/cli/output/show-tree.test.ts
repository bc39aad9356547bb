import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Options } from "../../../src/cli/command.ts";
import { showCost } from "../../../src/cli/commands/runs-cost.ts";
import { exportRun } from "../../../src/cli/commands/runs-export.ts";
import { showTree } from "../../../src/cli/output/show-tree.ts";
import { createManualClock } from "../../../src/testing/index.ts";
import {
  asked,
  call,
  childEnd,
  childStart,
  decided,
  end,
  record,
  start,
  tool,
} from "../../delegation/ledger-record.ts";
import { createFakeIo } from "../fake-io.ts";

const TREE = {
  run_1: [
    start("run_1", 1000),
    ...call(1, 1000, 1200, 0.5),
    childStart("run_1/a-1.0", "a", 1300),
    childStart("run_1/b-1.1", "b\x1b[2J", 1300),
    childEnd("run_1/a-1.0", "a", { at_ms: 2000 }),
    end(3000, { turns: 1 }),
  ],
  "run_1/a-1.0": [start("run_1/a-1.0", 1300, "a"), ...call(1, 1400, 1500, 0), end(1900)],
  "run_1/b-1.1": [
    start("run_1/b-1.1", 1300, "b\x1b[2J"),
    ...call(1, 1400, 1500, null),
    ...tool("read", 1600, 1700),
  ],
};

const words = (options: Options) => {
  const io = createFakeIo();
  return { io, call: { options, words: [] } };
};

describe("runs tree", () => {
  it("shows state, figures and last action of each, and marks those that have not ended", async () => {
    const { io, call } = words({});
    await showTree(await record(TREE), "run_1", { io, call, clock: createManualClock(9700) });
    assert.deepEqual(io.written.stdout.trimEnd().split("\n"), [
      "run_1  the prompt",
      "root: completed · 1 turn · 1,234 tokens · 2.0 s · $0.50 · last: answering",
      "├─ a [a-1.0]: completed · 1 turn · 1,234 tokens · 0.6 s · free · last: answering",
      "└─ b [b-1.1]: NOT ENDED · 1 turn · 1 tool call · 1,234 tokens · 0.4 s · cost unknown · last: read a.txt · silent 8 s",
      "total: 3 runs · 1 not ended · 3 turns · 1 tool call · 3,702 tokens · $0.50 + unknown",
    ]);
  });

  it("shows those that wait for their start, with their names and what they wait for", async () => {
    const arguments_ = JSON.stringify({ tasks: [{ label: "a" }, { label: "c" }, { label: "d" }] });
    const asked = { type: "tool_start", call_id: "1", name: "parallel_subagent" } as const;
    const children = [{ child_id: "run_1/c-1.0.1", label: "c" }];
    const logs = {
      run_1: [
        start("run_1", 1000),
        { ...asked, arguments: arguments_, at_ms: 1000 },
        { type: "child_queue", why: "place", children, at_ms: 1000 } as const,
        childStart("run_1/a-1.0.0", "a", 1000),
      ],
      "run_1/a-1.0.0": [start("run_1/a-1.0.0", 1000, "a"), end(1400)],
    };
    for (const [state, expected] of [
      ["running", ["c [c-1.0.1]: QUEUED for a place", "d: QUEUED"]],
      ["interrupted", ["c [c-1.0.1]: NOT STARTED", "d: NOT STARTED"]],
    ] as const) {
      const { io, call } = words({});
      const stateOf = async () => state;
      const clock = createManualClock(2000);
      await showTree(await record(logs), "run_1", { io, call, clock, stateOf });
      const lines = io.written.stdout.trimEnd().split("\n");
      assert.deepEqual(lines.slice(3, 5), [`├─ ${expected[0]}`, `└─ ${expected[1]}`]);
      assert.match(lines.at(-1) ?? "", /^total: 2 runs · 2 not started · 1 not ended · /);
      // It began at 1,000 and said something then: one that works has worked since.
      assert.match(lines[1] ?? "", state === "running" ? / · 1\.0 s · / : / · 0\.0 s · /);
    }
    const { io, call } = words({ json: true });
    await showTree(await record(logs), "run_1", { io, call, clock: createManualClock(2000) });
    assert.deepEqual(JSON.parse(io.written.stdout).queued, [
      { id: "run_1/c-1.0.1", label: "c", why: "place" },
      { id: null, label: "d", why: null },
    ]);
  });

  it("shows those that were never started, with the reason", async () => {
    const why = "its first call may take 4,731 tokens, and the budget has 0 tokens left for it.";
    const answer = {
      success: false,
      output: "",
      error: `Not started: ${why}`,
      metadata: { subagent_label: "c\x1b[2J" },
    };
    const called = { call_id: "1", name: "subagent", at_ms: 1000 } as const;
    const item = {
      type: "function_call_output",
      call_id: "1",
      output: JSON.stringify(answer),
    } as const;
    const logs = {
      run_1: [
        start("run_1", 1000),
        childStart("run_1/a-1.0", "a", 1000),
        {
          type: "tool_start",
          ...called,
          arguments: '{"label":"c","task_prompt":"Look."}',
        } as const,
        { type: "tool_end", ...called, item, failed: true } as const,
        childEnd("run_1/a-1.0", "a", { at_ms: 1400 }),
        end(2000),
      ],
      "run_1/a-1.0": [start("run_1/a-1.0", 1000, "a"), end(1400)],
    };
    const { io, call } = words({});
    await showTree(await record(logs), "run_1", { io, call, clock: createManualClock(2000) });
    const lines = io.written.stdout.trimEnd().split("\n");
    assert.match(lines[2] ?? "", /^├─ a \[a-1\.0\]: completed /);
    assert.equal(lines[3], `└─ c: not started · ${why}`);
    assert.match(lines.at(-1) ?? "", /^total: 2 runs · 1 not started · /);
    const json = words({ json: true });
    await showTree(await record(logs), "run_1", { ...json, clock: createManualClock(2000) });
    assert.deepEqual(JSON.parse(json.io.written.stdout).refused, [{ label: "c\x1b[2J", why }]);
  });

  it("says what a run waits for a person's answer about, in place of its silence", async () => {
    const { io, call } = words({});
    const shell = asked("shell", 1800, '{"command":"rm -rf \\u001b[2Jbuild"}');
    const logs = { ...TREE, "run_1/b-1.1": [...TREE["run_1/b-1.1"], shell] };
    await showTree(await record(logs), "run_1", { io, call, clock: createManualClock(9700) });
    assert.match(
      io.written.stdout,
      /\n└─ b \[b-1\.1\]: NOT ENDED .* · cost unknown · waits for approval: shell rm -rf build\n/,
    );
    const answered = { ...logs, "run_1/b-1.1": [...logs["run_1/b-1.1"], decided("shell", 1900)] };
    const after = words({});
    await showTree(await record(answered), "run_1", { ...after, clock: createManualClock(9700) });
    assert.match(after.io.written.stdout, /\[b-1\.1\].* · last: read a\.txt · silent 8 s\n/);
  });

  it("names each as commands accept it, whatever run the shown tree begins with", async () => {
    const logs = {
      ...TREE,
      "run_1/a-1.0/in-2.1": [start("run_1/a-1.0/in-2.1", 1300, "in"), end(1400)],
    };
    for (const id of ["run_1", "run_1/a-1.0"]) {
      const { io, call } = words({});
      await showTree(await record(logs), id, { io, call, clock: createManualClock(9700) });
      assert.match(io.written.stdout, /└─ in \[a-1\.0\/in-2\.1\]: completed/);
    }
  });

  it("gives the same as JSON, children inside their parents", async () => {
    const { io, call } = words({ json: true });
    await showTree(await record(TREE), "run_1", { io, call, clock: createManualClock(9700) });
    const tree = JSON.parse(io.written.stdout);
    assert.deepEqual([tree.total.runs, tree.total.unfinished, tree.total.cost_usd], [3, 1, null]);
    const [a, b] = tree.children;
    assert.deepEqual(
      [a.id, a.parent_id, a.ending, a.seconds, a.silent_seconds],
      [...["run_1/a-1.0", "run_1", "completed", 0.6], null],
    );
    assert.deepEqual([b.ending, b.silent_seconds, b.last_action], [null, 8, "read a.txt"]);
  });
});

describe("runs cost", () => {
  it("is a table by agent by default", async () => {
    const { io, call } = words({});
    await showCost(await record(TREE), "run_1", { io, call, limit: 20 });
    assert.deepEqual(io.written.stdout.trimEnd().split("\n"), [
      "agent  calls  failed  input  cached  output   time          cost",
      "root       1       0  1,200     200      34  2.0 s         $0.50",
      "a          1       0  1,200     200      34  0.6 s          free",
      "b          1       0  1,200     200      34  0.4 s  cost unknown",
    ]);
  });

  it("uses the newest runs with their trees if no run is named", async () => {
    const store = await record({ run_0: call(1, 1, 2, 8), ...TREE });
    for (const [limit, runs] of [
      [20, ["run_1", "run_0"]],
      [1, ["run_1"]],
    ] as const) {
      const { io, call } = words({ json: true, by: "model" });
      await showCost(store, undefined, { io, call, limit });
      assert.deepEqual(JSON.parse(io.written.stdout).runs, runs);
    }
  });

  it("by tool has calls, failures and time", async () => {
    const { io, call } = words({ by: "tool" });
    await showCost(await record(TREE), "run_1", { io, call, limit: 20 });
    assert.equal(io.written.stdout, "tool  calls  failed   time\nread      1       0  0.1 s\n");
  });

  it("`runs cost --by` refuses an unknown key", async () => {
    const { io, call } = words({ by: "day" });
    await assert.rejects(showCost(await record(TREE), "run_1", { io, call, limit: 1 }), {
      code: "invalid_request",
      message: "--by takes one of agent, run, model, tool, user, session, not `day`.",
    });
  });
});

describe("runs export", () => {
  it("is a Markdown session by default", async () => {
    const { io, call } = words({});
    await exportRun(await record(TREE), "run_1", { io, call });
    assert.match(io.written.stdout, /^# Session\n[\s\S]*\n## Subagent a \[a-1\.0\]\n/);
  });

  it("is every event of the tree as JSON lines, with run and parent", async () => {
    const { io, call } = words({ format: "jsonl" });
    await exportRun(await record(TREE), "run_1", { io, call });
    const lines = io.written.stdout.trimEnd().split("\n");
    const events = lines.map((line) => JSON.parse(line));
    const all = Object.values(TREE).reduce((count, log) => count + log.length, 0);
    assert.equal(events.length, all);
    for (const { run_id, parent_id, path, type } of events) {
      const isRoot = run_id === "run_1";
      assert.equal(parent_id, isRoot ? null : "run_1", `${run_id} ${type}`);
      assert.equal(path, run_id.replace("run_1", "/root"));
    }
  });

  it("refuses another format, and an unknown run", async () => {
    const { io, call } = words({ format: "pdf" });
    const store = await record(TREE);
    await assert.rejects(exportRun(store, "run_1", { io, call }), { code: "invalid_request" });
    await assert.rejects(exportRun(store, "run_x", words({})), { code: "not_found" });
  });
});
