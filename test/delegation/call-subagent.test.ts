import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createAccount } from "../../src/agent/account.ts";
import { NO_LIMITS, NOTHING } from "../../src/agent/limits.ts";
import type { ChildOrder, ChildReport, Executor } from "../../src/delegation/child.ts";
import type { DelegationNode } from "../../src/delegation/node.ts";
import { DELEGATION } from "../../src/delegation/settings.ts";
import type { SubagentEvent } from "../../src/delegation/subagent-events.ts";
import { createCallSubagentTool } from "../../src/delegation/tools/call-subagent.ts";
import type { RunEvent } from "../../src/protocol/run-events.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";
import { openGate } from "../../src/runtime/open-gate.ts";
import { SAFETY } from "../../src/runtime/safety-settings.ts";
import { defineBuiltin, text } from "../../src/tools/builtin-tool.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { createWorkspaceFolder } from "../tools/workspace-folder.ts";
import { TASK } from "./child-process-fixture.ts";
import { FREE_MODEL } from "./family.ts";

const COMPLETED: ChildReport = {
  id: "run_1/call-subagent-1.0",
  ending: "completed",
  message: "",
  error: null,
  text: "There are 3.",
  json: undefined,
  turns: 2,
  toolCalls: 0,
  usage: NO_USAGE,
  costUsd: null,
  spent: NOTHING,
};

interface Bench {
  /** What the executor was asked to run. */
  readonly orders: ChildOrder[];
  readonly observed: SubagentEvent[];
  readonly events: RunEvent[];
  /** The tool's answer through the gate, as the model gets it. */
  call(input: object): Promise<string>;
}

async function createBench(t: TestContext, report: Partial<ChildReport> = {}): Promise<Bench> {
  const folder = createWorkspaceFolder({});
  const orders: ChildOrder[] = [];
  const observed: SubagentEvent[] = [];
  const events: RunEvent[] = [];
  const executor: Executor = {
    async run(order) {
      orders.push(order);
      return { ...COMPLETED, ...report };
    },
  };
  const nowhere: Executor = { run: () => assert.fail("in this process") };
  const task = { ...TASK, root: folder.root, grant: [], depth: 0, label: null };
  const node: DelegationNode = {
    id: "run_1",
    path: "/root",
    task,
    account: createAccount(NO_LIMITS),
    tools: [named("read"), named("grep")],
    settings: DELEGATION,
    executors: { in_process: nowhere, child_process: executor, anywhere: nowhere },
    observe: (event) => observed.push(event),
    emit: async (batch) => events.push(...batch),
    queue: { wait: () => {}, leave: () => {} },
    now: () => 1,
    open: new Set(),
    spentBelow: new Map(),
    agents: [],
    check: async () => {},
    asksAbout: () => Promise.resolve(undefined),
    specs: [],
    modelOf: () => FREE_MODEL,
  };
  const gate = await openGate(task, [createCallSubagentTool(node)], { ...SAFETY, env: {} });
  t.after(async () => {
    await gate.close();
    folder[Symbol.dispose]();
  });
  return {
    orders,
    observed,
    events,
    async call(input) {
      const context = {
        signal: new AbortController().signal,
        idempotencyKey: "run_1/tool:1.0",
        take() {},
        decided: async () => {},
      };
      const call = { name: "call_subagent", arguments: JSON.stringify(input) };
      const { output, failed, thrown } = await gate.call(call, context);
      assert.equal(typeof output, "string");
      assert.equal(failed, String(output).startsWith("Error: "), "marked as what it is");
      assert.ok(!thrown);
      return String(output);
    },
  };
}

function named(name: string): Tool {
  return defineBuiltin({
    name,
    description: "A test's.",
    parameters: { path: text("Which.") },
    readOnly: true,
    effect: "read",
    run: async () => "",
  });
}

describe("the call_subagent tool", () => {
  it("answers with what its child process said, and with nothing around it", async (t) => {
    const bench = await createBench(t);
    assert.equal(await bench.call({ prompt: "Count." }), "There are 3.");
    assert.deepEqual(
      bench.events.map(({ type }) => type),
      ["child_start", "child_end"],
    );
    assert.deepEqual(
      bench.observed.map(({ event }) => event),
      ["spawn", "complete"],
    );
  });

  it("passes on its parent's model, provider, address and key name", async (t) => {
    const bench = await createBench(t);
    await bench.call({ prompt: "Count.", system_prompt: "Be exact.", tool_subset: ["read"] });
    const [order] = bench.orders;
    const { model, provider, url, api_key_name } = order?.task ?? {};
    const mine = [TASK.model, TASK.provider, TASK.url, TASK.api_key_name];
    assert.deepEqual([model, provider, url, api_key_name], mine);
    assert.deepEqual(order?.task.items, [{ type: "message", role: "user", content: "Count." }]);
    assert.deepEqual([order?.task.instructions, order?.task.tools], ["Be exact.", ["read"]]);
    assert.deepEqual([order?.task.summary_prompt, order?.task.depth], [null, 1]);
  });

  it("accepts another name of a tool that its parent has", async (t) => {
    const bench = await createBench(t);
    const tool_subset = ["bash_read", "bash_ripgrep", "read"];
    assert.equal(await bench.call({ prompt: "Count.", tool_subset }), "There are 3.");
    assert.deepEqual(bench.orders[0]?.task.tools, ["read", "grep"]);
  });

  it("gives no tools if none are named", async (t) => {
    const bench = await createBench(t);
    await bench.call({ prompt: "Count." });
    await bench.call({ prompt: "Count.", tool_subset: null, system_prompt: null });
    assert.deepEqual(
      bench.orders.map(({ task }) => task.tools),
      [[], []],
    );
  });

  const WRONG: readonly [name: string, input: object, answer: string][] = [
    [
      "unknown tools, all of them, in order",
      { prompt: "Count.", tool_subset: ["zebra", "read", "ant"] },
      "Error: Unknown tool names: ant, zebra",
    ],
    [
      "a tool that delegates",
      { prompt: "Count.", tool_subset: ["call_subagent"] },
      "Error: Unknown tool names: call_subagent",
    ],
    ["no prompt", {}, "Error: prompt cannot be empty"],
    ["an empty prompt", { prompt: " \n" }, "Error: prompt cannot be empty"],
    [
      "an argument that there is not",
      { prompt: "Count.", model: "dearer" },
      "Error: Invalid input: unknown field `model`",
    ],
    [
      "tools that are not a list",
      { prompt: "Count.", tool_subset: "read" },
      "Error: Invalid input: `tool_subset` must be a list of tool names",
    ],
  ];
  for (const [name, input, answer] of WRONG) {
    it(`refuses ${name}, and starts nothing`, async (t) => {
      const bench = await createBench(t);
      assert.equal(await bench.call(input), answer);
      assert.deepEqual([bench.orders, bench.events, bench.observed], [[], [], []]);
    });
  }

  it("reports a failure as an error with the exit code, never as an answer", async (t) => {
    const message = "Subagent exited with code 1: custom answered 401: No such key.";
    const bench = await createBench(t, { ending: "failed", message, text: "" });
    assert.equal(await bench.call({ prompt: "Count." }), `Error: ${message}`);
    assert.deepEqual(
      bench.observed.map(({ event }) => event),
      ["spawn", "error"],
    );
  });

  it("marks what a child had said before it failed as unfinished", async (t) => {
    const message = "Subagent exited with code 3: The run stopped at its limit of 2 turns.";
    const bench = await createBench(t, { ending: "max_turns", message, text: "So far 2." });
    const answer = await bench.call({ prompt: "Count." });
    assert.equal(answer, `Error: ${message}\nIt did not finish. What it had said:\nSo far 2.`);
    assert.deepEqual(
      bench.observed.map(({ event }) => event),
      ["spawn", "max_turns_exceeded", "error"],
    );
  });

  it("does not accept an empty text as an answer", async (t) => {
    const bench = await createBench(t, { text: " " });
    assert.match(await bench.call({ prompt: "Count." }), /^Error: Subagent exited with code 0: /);
  });
});
