import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { createAccount } from "../../src/agent/account.ts";
import { AGENT_CALLS, type MadeCall } from "../../src/agent/calls.ts";
import { type Limits, NO_LIMITS, NOTHING } from "../../src/agent/limits.ts";
import { runToolCalls, type ToolParts } from "../../src/agent/tool-calls.ts";
import type { FunctionCall } from "../../src/protocol/items.ts";
import { createManualClock } from "../../src/testing/index.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { createGate } from "../../src/tools/gate/gate.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { toGateParts } from "../tools/workspace-folder.ts";
import { createJournal, createJournaledContext, type Journal } from "./journaled-context.ts";

interface Setup {
  readonly journal?: Journal;
  readonly limits?: Partial<Limits>;
  readonly parallelCalls?: number;
  readonly parts?: Partial<ToolParts>;
}

async function open(tools: readonly Tool[], setup: Setup = {}) {
  const { journal = createJournal(), limits, parallelCalls } = setup;
  const given = await toGateParts(".", tools);
  const account = createAccount({ ...NO_LIMITS, ...limits });
  const counted: number[] = [];
  const parts: ToolParts = {
    context: createJournaledContext(journal),
    gate: createGate({
      ...given,
      ...(parallelCalls ? { limits: { ...given.limits, parallelCalls } } : {}),
    }),
    clock: createManualClock(1000),
    task: { on_throw: "tell_model" } as ToolParts["task"],
    account,
    spentBelow: () => undefined,
    onCall: () => counted.push(1),
    ...setup.parts,
  };
  const run = (...calls: FunctionCall[]): Promise<MadeCall[]> =>
    runToolCalls(parts, 1, AGENT_CALLS.findOwn(calls));
  return { run, account, journal, counted };
}

const call = (name: string, n: number, call_id = `call_${n}`): FunctionCall => ({
  type: "function_call",
  call_id,
  name,
  arguments: JSON.stringify({ n }),
});

/** `at` is called with each number that the tool is called with. */
function tool(name: string, at: (n: number) => Promise<void> | void, readOnly = true): Tool {
  return defineTool({
    name,
    description: name,
    parameters: z.object({ n: z.number() }),
    readOnly,
    async run({ n }) {
      await at(n);
      return `${name} ${n}`;
    },
  });
}

const outputsOf = (made: readonly MadeCall[]): unknown[] => made.map(({ item }) => item.output);

describe("the calls of a turn", () => {
  it("have their results in call order, whichever was done first", async () => {
    let openFirst = (): void => {};
    const first = new Promise<void>((resolve) => {
      openFirst = resolve;
    });
    const read = tool("read", (n) => (n === 1 ? first : openFirst()));
    const { run } = await open([read]);
    assert.deepEqual(outputsOf(await run(call("read", 1), call("read", 2))), ["read 1", "read 2"]);
  });

  it("are two calls even if the server gave both the same id", async () => {
    const seen: number[] = [];
    const { run } = await open([tool("read", (n) => void seen.push(n))]);
    const made = await run(call("read", 1, "same"), call("read", 2, "same"));
    assert.deepEqual(outputsOf(made), ["read 1", "read 2"]);
    assert.deepEqual(seen, [1, 2]);
  });

  it("run at most as many at once as the settings allow", async () => {
    let inside = 0;
    let most = 0;
    const read = tool("read", async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
    });
    const { run } = await open([read], { parallelCalls: 2 });
    await run(...[1, 2, 3, 4, 5].map((n) => call("read", n)));
    assert.equal(most, 2);
  });

  it("wait for a call before them that changes something", async () => {
    const log: string[] = [];
    const later = (name: string) => async (n: number) => {
      log.push(`${name} ${n}`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`/${name} ${n}`);
    };
    const tools = [tool("read", later("read")), tool("write", later("write"), false)];
    const { run } = await open(tools);
    await run(call("read", 1), call("read", 2), call("write", 3), call("read", 4));
    const written = log.indexOf("write 3");
    assert.ok(written > log.indexOf("/read 1") && written > log.indexOf("/read 2"));
    assert.ok(log.indexOf("read 4") > log.indexOf("/write 3"));
  });

  it("are logged: that each begins, is decided on, and ends with its result", async () => {
    const { run, journal } = await open([tool("read", () => {})]);
    await run(call("read", 1));
    assert.deepEqual(
      journal.events.map(({ type }) => type),
      ["tool_start", "tool_decision", "tool_end"],
    );
    const end = journal.events.at(-1);
    assert.ok(end?.type === "tool_end" && !end.failed && "output" in end.item);
    assert.equal(end.item.output, "read 1");
  });

  it("end the run with the tool's error if the task says so, after the others of their group", async () => {
    const seen: number[] = [];
    const boom = tool("boom", (n) => {
      seen.push(n);
      if (n === 1) throw new Error("it broke");
    });
    const task = { on_throw: "end" } as ToolParts["task"];
    const { run } = await open([boom], { parts: { task } });
    await assert.rejects(run(call("boom", 1), call("boom", 2)), {
      code: "tool_failed",
      message: /it broke/,
    });
    assert.deepEqual(seen, [1, 2]);
  });
});

describe("the budget of calls", () => {
  it("pays for each call that is made", async () => {
    const { run, account, counted } = await open([tool("read", () => {})]);
    await run(call("read", 1), call("read", 2));
    assert.deepEqual([account.spent.tool_calls, counted.length], [2, 2]);
  });

  it("refuses the calls that it does not cover, and tells the model", async () => {
    const seen: number[] = [];
    const write = tool("write", (n) => void seen.push(n), false);
    const { run, account } = await open([write], { limits: { tool_calls: 1 } });
    const [done, refused] = await run(call("write", 1), call("write", 2));
    assert.equal(done?.item.output, "write 1");
    assert.match(String(refused?.item.output), /budget/);
    assert.equal(refused?.item.status, "incomplete");
    assert.deepEqual(seen, [1]);
    assert.equal(account.spent.tool_calls, 1);
  });

  it("is not charged for a tool that does not exist", async () => {
    const { run, account } = await open([tool("read", () => {})]);
    const [made] = await run(call("nope", 1));
    assert.match(String(made?.item.output), /Unknown tool `nope`/);
    assert.equal(account.spent.tool_calls, 0);
  });

  it("includes what the children of a call have spent", async () => {
    const spentBelow: ToolParts["spentBelow"] = (key) =>
      key === "run_1/tool:1.0" ? { ...NOTHING, tokens: 70, children: 1 } : undefined;
    const journal = createJournal();
    const { run } = await open([tool("read", () => {})], { journal, parts: { spentBelow } });
    await run(call("read", 1), call("read", 2));
    const next = await open([tool("read", () => {})], { journal });
    await next.run(call("read", 1), call("read", 2));
    const { tokens, children, tool_calls } = next.account.spent;
    assert.deepEqual({ tokens, children, tool_calls }, { tokens: 70, children: 1, tool_calls: 2 });
  });
});

describe("calls after a takeover", () => {
  it("are not made again if the journal has their results, and are paid for again", async () => {
    const journal = createJournal();
    const seen: number[] = [];
    const read = tool("read", (n) => void seen.push(n));
    const first = await (await open([read], { journal })).run(call("read", 1), call("read", 2));
    const next = await open([read], { journal });
    assert.deepEqual(await next.run(call("read", 1), call("read", 2)), first);
    assert.deepEqual(seen, [1, 2]);
    assert.deepEqual([next.account.spent.tool_calls, next.counted.length], [2, 2]);
  });

  it("are made if the journal lacks them, beside those that it has", async () => {
    const journal = createJournal();
    const seen: number[] = [];
    const read = tool("read", (n) => void seen.push(n));
    await (await open([read], { journal })).run(call("read", 1), call("read", 2));
    journal.steps.delete("tool:1.1");
    const next = await open([read], { journal });
    assert.deepEqual(outputsOf(await next.run(call("read", 1), call("read", 2))), [
      "read 1",
      "read 2",
    ]);
    assert.deepEqual(seen, [1, 2, 2]);
  });

  it("are paid for once if their children had begun", async () => {
    const findChildren: ToolParts["findChildren"] = async (keys) => new Set(keys.slice(0, 1));
    const { run, account } = await open([tool("read", () => {})], { parts: { findChildren } });
    await run(call("read", 1), call("read", 2));
    assert.equal(account.spent.tool_calls, 2);
  });

  it("end the run with the error that the journal has, if the task says so", async () => {
    const journal = createJournal();
    const task = { on_throw: "end" } as ToolParts["task"];
    const boom = tool("boom", () => {
      throw new Error("it broke");
    });
    await assert.rejects((await open([boom], { journal, parts: { task } })).run(call("boom", 1)));
    const next = await open([tool("boom", () => {})], { journal, parts: { task } });
    await assert.rejects(next.run(call("boom", 1)), { code: "tool_failed" });
  });
});
