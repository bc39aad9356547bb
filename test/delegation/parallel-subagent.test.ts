import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Account, createAccount } from "../../src/agent/account.ts";
import { NO_LIMITS, NOTHING } from "../../src/agent/limits.ts";
import { type AgentTask, SAFEGUARDS } from "../../src/agent/task.ts";
import { Failure } from "../../src/base/failure.ts";
import type { Json } from "../../src/base/json.ts";
import type { AgentDefinition } from "../../src/delegation/agents/definition.ts";
import type { ChildOrder, ChildReport } from "../../src/delegation/child.ts";
import type { DelegationNode } from "../../src/delegation/node.ts";
import { DELEGATION } from "../../src/delegation/settings.ts";
import type { SubagentEvent } from "../../src/delegation/subagent-events.ts";
import { createParallelSubagentTool } from "../../src/delegation/tools/parallel-subagent.ts";
import { NO_USAGE, toUsage } from "../../src/protocol/usage.ts";
import { type ToolContext, ToolOutput } from "../../src/tools/tool.ts";
import { untilTrue } from "../patience.ts";
import { FREE_MODEL } from "./family.ts";

const TASK: AgentTask = {
  ...SAFEGUARDS,
  model: "custom/test",
  model_reason: "asked for",
  provider: null,
  url: null,
  api_key_name: null,
  instructions: null,
  items: [],
  tools: ["parallel_subagent"],
  tool_choice: "auto",
  max_turns: 50,
  temperature: null,
  max_output_tokens: null,
  think: false,
  format: { type: "text" },
  root: "/",
  on_throw: "tell_model",
};

type Work = (order: ChildOrder, signal: AbortSignal) => Promise<Partial<ChildReport>>;

interface Bench {
  readonly node: DelegationNode;
  readonly orders: readonly ChildOrder[];
  readonly observed: readonly SubagentEvent[];
  /** The most children that ran at once. */
  readonly peak: number;
  call(input: Json, signal?: AbortSignal): Promise<Answer>;
}

interface Answer {
  readonly results: readonly (Record<string, unknown> & { readonly label: string })[];
  readonly total_duration_ms: number;
  readonly successful: number;
  readonly failed: number;
}

/**
 * A run whose children are made by `work`, over a clock that advances a millisecond with each look.
 */
function createBench(
  work: Work,
  { account = createAccount(NO_LIMITS), depth = 0, agents = [] as AgentDefinition[] } = {},
): Bench {
  const orders: ChildOrder[] = [];
  const observed: SubagentEvent[] = [];
  const count = { now: 0, running: 0, peak: 0 };
  const executor = {
    async run(order: ChildOrder, signal: AbortSignal): Promise<ChildReport> {
      orders.push(order);
      count.peak = Math.max(count.peak, ++count.running);
      try {
        return toReport(order, await work(order, signal));
      } finally {
        count.running--;
      }
    },
  };
  const node = {
    id: "run",
    path: "/root",
    task: { ...TASK, depth },
    account: account as Account,
    tools: [],
    agents,
    settings: DELEGATION,
    executors: { in_process: executor, child_process: executor, anywhere: executor },
    observe: (event: SubagentEvent) => void observed.push(event),
    emit: async () => {},
    queue: { wait: () => {}, leave: () => {} },
    check: async () => {},
    asksAbout: () => Promise.resolve(undefined),
    specs: [],
    modelOf: () => FREE_MODEL,
    now: () => ++count.now,
    open: new Set<Promise<void>>(),
    spentBelow: new Map(),
  };
  const tool = createParallelSubagentTool(node);
  return {
    node,
    orders,
    observed,
    get peak() {
      return count.peak;
    },
    async call(input, signal = new AbortController().signal) {
      const context = { signal, idempotencyKey: "run/tool:1.0" } as ToolContext;
      const output = await tool.run(tool.parse(input), context);
      assert.ok(output instanceof ToolOutput);
      return output.value as unknown as Answer;
    },
  };
}

function toReport({ key, task }: ChildOrder, partial: Partial<ChildReport>): ChildReport {
  return {
    id: `run/${key}`,
    ending: "completed",
    message: "",
    error: null,
    text: `done ${task.label}`,
    json: undefined,
    turns: 1,
    toolCalls: 0,
    usage: NO_USAGE,
    costUsd: 0,
    spent: NOTHING,
    ...partial,
  };
}

const task = (label: string, more: Json = {}): Json => ({
  label,
  task_prompt: `Do ${label}.`,
  ...(more as object),
});

/** Lets everything run that can run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the parallel_subagent tool", () => {
  it("gives one result for each task, in the order of the tasks, whichever ends first", async () => {
    const bench = createBench(async ({ task: { label } }) => {
      if (label === "a") await settle();
      return { usage: toUsage({ input: 3, output: 4 }), turns: 2 };
    });
    const answer = await bench.call({ tasks: [task("a"), task("b")] });
    assert.deepEqual(
      answer.results.map(({ duration_ms, ...result }) => result),
      ["a", "b"].map((label) => ({
        label,
        success: true,
        output: `done ${label}`,
        error: null,
        tokens_used: 7,
        completion_status: "complete",
      })),
    );
    assert.deepEqual([answer.successful, answer.failed], [2, 0]);
    assert.ok(answer.total_duration_ms > 0);
    assert.ok(answer.results.every(({ duration_ms }) => Number(duration_ms) > 0));
    assert.deepEqual(
      bench.observed.map(({ event }) => event),
      ["spawn", "spawn", "complete", "complete"],
    );
  });

  it("runs as many at once as the setting or the call says", async () => {
    const tasks = Array.from({ length: 12 }, (_, at) => task(`t${at}`));
    for (const [max_concurrent, peak] of [
      [null, 12],
      [3, 3],
      [100, 12],
    ] as const) {
      const bench = createBench(async () => {
        await settle();
        return {};
      });
      const { results } = await bench.call({ tasks, max_concurrent });
      assert.deepEqual([results.length, bench.peak], [12, peak]);
    }
  });

  it("lets the siblings of a failed task continue", async () => {
    const bench = createBench(async ({ task: { label } }) => {
      if (label === "a") return { ending: "failed", message: "401", text: "" };
      if (label === "b") throw new Failure("internal", "The log is gone.");
      await settle();
      return {};
    });
    const answer = await bench.call({ tasks: [task("a"), task("b"), task("c")] });
    assert.deepEqual(
      answer.results.map(({ success, error }) => [success, error]),
      [
        [false, "Subagent execution failed: 401"],
        [false, "The log is gone."],
        [true, null],
      ],
    );
    assert.deepEqual([answer.successful, answer.failed], [1, 2]);
  });

  for (const [ending, message, events] of [
    ["max_turns", "The run stopped at its limit of 3 turns.", ["max_turns_exceeded"]],
    ["budget", "Its share of $0.02 is used up.", []],
  ] as const) {
    it(`reports partial work as incomplete, and why: ${ending}`, async () => {
      const bench = createBench(async () => ({ ending, message, text: "half" }));
      const { results } = await bench.call({ tasks: [task("a")] });
      const names = ["success", "output", "error", "completion_status", "incomplete_reason"];
      assert.deepEqual(
        names.map((name) => results[0]?.[name]),
        [true, "half", null, "incomplete", message],
      );
      assert.deepEqual(
        bench.observed.map(({ event }) => event),
        ["spawn", ...events, "complete"],
      );
    });

    it(`reports a task without any text as failed: ${ending}`, async () => {
      const bench = createBench(async () => ({ ending, message, text: "" }));
      const { results, failed } = await bench.call({ tasks: [task("a")] });
      assert.deepEqual(
        [results[0]?.["success"], results[0]?.["error"], failed],
        [false, `Subagent execution failed: ${message}`, 1],
      );
    });
  }

  it("counts what everything below a task has used", async () => {
    const bench = createBench(async () => ({
      usage: toUsage({ input: 1, output: 1 }),
      spent: { ...NOTHING, tokens: 50 },
    }));
    const { results } = await bench.call({ tasks: [task("a")] });
    assert.equal(results[0]?.["tokens_used"], 50);
  });

  it("with fail_fast cancels running tasks, keeps their results, and starts no others", async () => {
    const bench = createBench(async ({ task: { label } }, signal) => {
      if (label === "b") {
        await settle();
        return { ending: "failed", message: "crash", text: "" };
      }
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { ending: "cancelled", message: "The run was cancelled.", text: "so far" };
    });
    const tasks = ["a", "b", "c", "d"].map((label) => task(label));
    const answer = await bench.call({ tasks, max_concurrent: 3, fail_fast: true });
    assert.deepEqual(
      answer.results.map(({ label, success, output, error }) => [label, success, output, error]),
      [
        ["a", false, "so far", "Cancelled: `b` failed (fail_fast)"],
        ["b", false, "", "Subagent execution failed: crash"],
        ["c", false, "so far", "Cancelled: `b` failed (fail_fast)"],
        ["d", false, "", "Not started: `b` failed (fail_fast)"],
      ],
    );
    assert.equal(bench.orders.length, 3);
    assert.equal(answer.failed, 4);
  });

  it("with fail_fast keeps the results that were there before", async () => {
    const bench = createBench(async ({ task: { label } }) =>
      label === "b" ? { ending: "failed", message: "x" } : {},
    );
    const tasks = ["a", "b", "c"].map((label) => task(label));
    const { results } = await bench.call({ tasks, max_concurrent: 1, fail_fast: true });
    assert.deepEqual(
      results.map(({ success }) => success),
      [true, false, false],
    );
  });

  it("is cancelled with its run, after every child has ended", async () => {
    const stop = new AbortController();
    let ended = 0;
    const bench = createBench(async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await settle();
      ended++;
      throw new Failure("cancelled", "The run was cancelled.");
    });
    const call = bench.call({ tasks: [task("a"), task("b")] }, stop.signal);
    await settle();
    stop.abort(new Failure("cancelled", "The run was cancelled."));
    await assert.rejects(call, { code: "cancelled" });
    assert.equal(ended, 2);
  });

  it("gives every child an equal share of the budget, and returns the rest", async () => {
    const account = createAccount({ ...NO_LIMITS, tokens: 40_000, children: 10 });
    // No child ends before all have begun: what one returns is for the others.
    const bench: Bench = createBench(
      async () => {
        await untilTrue(() => bench.orders.length === 3, "all three have begun");
        return {};
      },
      { account },
    );
    await bench.call({ tasks: ["a", "b", "c"].map((label) => task(label)) });
    assert.deepEqual(
      bench.orders.map(({ task: { limits } }) => limits.tokens),
      [10_000, 10_000, 10_000],
    );
    assert.deepEqual([account.left.tokens, account.spent.children], [40_000, 3]);
  });

  it("gives an error to a task that the budget does not cover, and runs the others", async () => {
    const account = createAccount({ ...NO_LIMITS, children: 2 });
    const bench = createBench(async () => ({}), { account });
    const { results } = await bench.call({ tasks: ["a", "b", "c"].map((label) => task(label)) });
    assert.deepEqual(
      results.map(({ error }) => error),
      [null, null, "The budget of 2 subagents is used up."],
    );
  });

  it("has a place of its own for each child, even if labels look alike", async () => {
    const bench = createBench(async () => ({}));
    await bench.call({ tasks: [task("a b"), task("a-b")] });
    assert.deepEqual(
      bench.orders.map(({ key }) => key),
      ["a-b-1.0.0", "a-b-1.0.1"],
    );
    assert.deepEqual([...bench.node.spentBelow.keys()], ["run/tool:1.0"]);
  });

  it("tells each task at the deepest level that it cannot be started", async () => {
    const bench = createBench(async () => ({}), { depth: 3 });
    const { results } = await bench.call({ tasks: [task("a"), task("b")] });
    assert.match(String(results[1]?.["error"]), /^Maximum subagent recursion depth \(3\) exceeded/);
    assert.equal(bench.orders.length, 0);
  });

  const REFUSED: readonly (readonly [string, Json, string])[] = [
    ["no tasks", { tasks: [] }, "At least one task required"],
    ["tasks left out", {}, "At least one task required"],
    ["tasks that are not a list", { tasks: "a" }, "Invalid input: `tasks` must be a list"],
    ["no object", "a", "Invalid input: the arguments must be an object"],
    ["unknown fields", { tasks: [], tasky: 1 }, "Invalid input: unknown field `tasky`"],
    ["two tasks of one label", { tasks: [task("a"), task("a")] }, "Duplicate label: a"],
    [
      "none at once",
      { tasks: [task("a")], max_concurrent: 0 },
      "max_concurrent must be between 1 and 100",
    ],
    [
      "a fail_fast that is neither",
      { tasks: [task("a")], fail_fast: "no" },
      "Invalid input: `fail_fast` must be true or false",
    ],
    [
      "every task that is wrong, all at once",
      { tasks: [task("a"), { label: "b", task_prompt: " " }, task("c", { max_turns: 51 })] },
      "tasks[1]: task_prompt cannot be empty; tasks[2]: max_turns must be between 1 and 50",
    ],
    [
      "an unknown agent",
      { tasks: [task("a", { agent: "x" })] },
      "tasks[0]: Unknown agent: x. Agents: none",
    ],
  ];
  for (const [what, input, message] of REFUSED) {
    it(`refuses ${what} before anything is started`, async () => {
      const bench = createBench(async () => ({}));
      await assert.rejects(bench.call(input), { code: "invalid_request", message });
      assert.equal(bench.orders.length, 0);
    });
  }

  it("gives a task to the agent it names, and lists the agents", async () => {
    const agent: AgentDefinition = {
      name: "counter",
      description: "Counts.",
      path: "counter.md",
      model: "custom/small",
      tools: [],
      budget: { turns: 3 },
      outputSchema: { type: "object" },
      schemaFile: undefined,
      instructions: "Count.",
    };
    const bench = createBench(async () => ({ json: { count: 3 } }), { agents: [agent] });
    const { spec } = createParallelSubagentTool(bench.node);
    assert.match(spec.description ?? "", /counter: Counts\.$/);
    assert.match(JSON.stringify(spec.parameters), /"enum":\["counter"\]/);
    const { results } = await bench.call({ tasks: [task("a", { agent: "counter" })] });
    assert.equal(results[0]?.["output"], '{"count":3}');
    const [order] = bench.orders;
    assert.deepEqual(
      [order?.task.model, order?.task.instructions, order?.task.max_turns, order?.task.format.type],
      ["custom/small", "Count.", 3, "json_schema"],
    );
  });
});
