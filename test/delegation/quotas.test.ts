import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAccount } from "../../src/agent/account.ts";
import { NO_LIMITS, NOTHING } from "../../src/agent/limits.ts";
import type { ChildOrder, ChildReport, Executor } from "../../src/delegation/child.ts";
import { createTotalTime } from "../../src/delegation/executors/total-time.ts";
import { NO_USAGE } from "../../src/protocol/usage.ts";
import { respond } from "../../src/testing/index.ts";
import { reply } from "../../src/testing/reply.ts";
import { openChildAccount } from "./child-account.ts";
import { TASK } from "./child-process-fixture.ts";
import { calling, envelopesIn, playing, spawning } from "./family.ts";
import { startTree } from "./tree-fixture.ts";

const SAID = { usage: { input: 1000, output: 500 } };

describe("max_total_tokens of subagents", () => {
  it("does not limit a run that does not delegate", async (t) => {
    const tree = await startTree(
      t,
      respond(() => reply.text("Long.", SAID)),
      { delegation: { maxTotalTokens: 10 } },
    );
    const { end } = await tree.run();
    assert.deepEqual([end.ending, end.usage.total_tokens], ["completed", 1500]);
  });

  it("limits all children together, without what the root spends", async (t) => {
    const root = playing({ go: calling(spawning("one")) });
    const again = playing({ go: calling(spawning("two")) });
    let turn = 0;
    const engine = respond((request) => {
      const [first] = request.items;
      if (first?.type !== "message" || first.content !== "go") return reply.text("Mine.", SAID);
      turn++;
      if (turn === 1) return root.next(request) ?? reply.text("done");
      if (turn === 2) return again.next({ ...request, items: [first] }) ?? reply.text("done");
      return reply.text("Done.", SAID);
    });
    const tree = await startTree(t, engine, { delegation: { maxTotalTokens: 1510 } });
    const { end, events } = await tree.run({ tools: ["subagent"] });
    assert.equal(end.ending, "completed");
    const envelopes = envelopesIn(events);
    assert.equal(envelopes["one"]?.success, true, JSON.stringify(envelopes));
    assert.equal(envelopes["two"]?.success, false);
    assert.match(envelopes["two"]?.error ?? "", /^Not started: its first call may take .* tokens/);
  });

  it("counts what the journal says was spent", async () => {
    const account = createAccount(NO_LIMITS);
    account.family.limitAll({ tokens: 100 });
    account.family.charge({ tokens: 90, children: 1 });
    const child = { callKey: "a", ceiling: {}, enough: { tokens: 20 }, least: { tokens: 20 } };
    assert.equal(account.family.tryAdmit(child), undefined);
    const least = { ...child, enough: { tokens: 5 }, least: { tokens: 5 } };
    const admitted = account.family.tryAdmit(least);
    assert.ok((admitted?.limits.tokens ?? 100) <= 10);
    admitted?.charge({ tokens: 4 });
    admitted?.close();
    assert.equal(account.spent.tokens, 4);
    assert.equal(account.left.tokens, Number.POSITIVE_INFINITY);
  });
});

describe("max_total_time of subagents", () => {
  const COMPLETED: ChildReport = {
    id: "x",
    ending: "completed",
    message: "",
    error: null,
    text: "ok",
    json: undefined,
    turns: 1,
    toolCalls: 0,
    usage: NO_USAGE,
    costUsd: 0,
    spent: NOTHING,
  };
  const order = (key: string): ChildOrder => ({
    key,
    callKey: key,
    task: TASK,
    timeoutMs: 60_000,
    account: openChildAccount(NO_LIMITS),
  });

  it("passes once for those that run at once, not at all between them, and ends", async () => {
    let nowMs = 0;
    const given: number[] = [];
    const waiting: (() => void)[] = [];
    const executor: Executor = {
      async run({ timeoutMs }) {
        given.push(timeoutMs);
        await new Promise<void>((resolve) => waiting.push(resolve));
        return COMPLETED;
      },
    };
    const inTime = createTotalTime({ totalMs: 10_000, now: () => nowMs, parentId: "run_1" });
    const limited = inTime(executor);
    const signal = new AbortController().signal;
    const first = limited.run(order("a"), signal);
    nowMs = 3000;
    const second = limited.run(order("b"), signal);
    nowMs = 4000;
    for (const end of waiting.splice(0)) end();
    await Promise.all([first, second]);
    nowMs = 100_000;
    const third = limited.run(order("c"), signal);
    nowMs = 106_000;
    for (const end of waiting.splice(0)) end();
    await third;
    assert.deepEqual(given, [10_000, 7000, 6000]);
    const refused = await limited.run(order("d"), signal);
    assert.deepEqual([refused.id, refused.ending], ["run_1/d", "timeout"]);
    assert.match(refused.message, /^Not started: the 10 s of all subagents are used up\.$/);
  });
});
