/** A budget that several responses spend at once, through a whole server. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type Account, createAccount, type Hold, takeDrawn } from "../../../src/agent/account.ts";
import { holdCall } from "../../../src/agent/call-cost.ts";
import { NO_LIMITS } from "../../../src/agent/limits.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { toRunId } from "../../../src/responses/fold/response-object.ts";
import { createMemorySpending } from "../../../src/store/memory/memory-spending.ts";
import {
  createScriptedProvider,
  type Reply,
  reply,
  respond,
  type ScriptEngine,
  script,
} from "../../../src/testing/index.ts";
import {
  createGuardBench,
  errorOf,
  type GuardBench,
  openFileBench,
  startGuarded,
} from "./guard-fixture.ts";

/** A model that takes every token it may, and answers when it is told to. */
function createGreedyModel(): { engine: ScriptEngine; asked(): number; answer(): void } {
  let asked = 0;
  let answer = (): void => {};
  const gate = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const engine: ScriptEngine = async function* (request, { signal }) {
    asked++;
    await gate;
    const usage = { input: 0, output: request.max_output_tokens ?? 1_000_000 };
    const said: Reply = reply.text("Yes.", { usage });
    yield* createScriptedProvider(said).stream(request, { signal, run: "" });
  };
  return { engine, asked: () => asked, answer };
}

/** Lets others have their turn. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function read({ spending, clock }: GuardBench, keyId: string): Promise<number> {
  return (await spending.read(keyId, clock.now())).day.tokens;
}

describe("a budget that responses share", () => {
  for (const store of [true, false]) {
    it(`is not exceeded by those that run at once${store ? ", stored" : ""}`, async (t) => {
      const bench = createGuardBench();
      const model = createGreedyModel();
      const server = await startGuarded(t, bench, model.engine);
      const { token, key } = await bench.makeKey({ limits: { tokens_per_day: 1000 } });
      let refusals = 0;
      const sent = Array.from({ length: 40 }, async () => {
        const answer = await server.send({ token, body: { input: "Hi", store } });
        if (answer.status === 429) refusals++;
        return answer;
      });
      while (model.asked() + refusals < 40) await turn();
      model.answer();
      const answers = await Promise.all(sent);
      const [taken, refused] = [200, 429].map((status) =>
        answers.filter((answer) => answer.status === status),
      );
      assert.equal((taken?.length ?? 0) + (refused?.length ?? 0), 40);
      assert.ok(model.asked() >= 4, `${model.asked()} had something`);
      for (const answer of refused ?? []) {
        assert.equal(errorOf(answer).code, "insufficient_quota");
        assert.equal(answer.headers["retry-after"], "1");
        assert.equal(answer.headers["x-should-retry"], undefined);
      }
      const used = await read(bench, key.id);
      assert.ok(used > 500 && used <= 1000, `${used} tokens`);
      assert.deepEqual(await bench.spending.readHolds(key.id), []);
    });
  }

  it("is held by each for what it needs, where it says so", async (t) => {
    const bench = createGuardBench();
    const model = createGreedyModel();
    const server = await startGuarded(t, bench, model.engine);
    const { token, key } = await bench.makeKey({ limits: { tokens_per_day: 3000 } });
    const body = { input: "Hi", max_output_tokens: 50 };
    const sent = Array.from({ length: 20 }, () => server.send({ token, body }));
    while ((await bench.spending.readHolds(key.id)).length < 20) await turn();
    const held = (await bench.spending.readHolds(key.id)).map(({ tokens }) => tokens);
    assert.ok(held.length === 20 && held.every((tokens) => tokens < 150), String(held));
    model.answer();
    for (const { status } of await Promise.all(sent)) assert.equal(status, 200);
    assert.equal(await read(bench, key.id), 20 * 50);
  });

  it("is not held by what is refused, nor by what waits in a queue", async (t) => {
    const bench = createGuardBench();
    const model = createGreedyModel();
    const server = await startGuarded(t, bench, model.engine, { settings: { maxBackground: 1 } });
    const { token, key } = await bench.makeKey({ limits: { tokens_per_day: 3000 } });
    const wrong = await server.send({ token, body: { input: "Hi", previous_response_id: "no" } });
    assert.equal(wrong.status, 400);
    const long = await server.send({ token, body: { input: "many words ".repeat(2000) } });
    assert.equal(errorOf(long).code, "insufficient_quota");
    assert.deepEqual(await bench.spending.readHolds(key.id), []);
    for (let count = 0; count < 3; count++) {
      const { status } = await server.send({ token, body: { input: "Hi", background: true } });
      assert.equal(status, 200);
    }
    while (model.asked() < 1) await turn();
    const held = await bench.spending.readHolds(key.id);
    assert.equal(held.filter(({ tokens }) => tokens > 0).length, 1);
    model.answer();
    await server.runtime.engine.idle();
    assert.deepEqual(await bench.spending.readHolds(key.id), []);
  });

  it("is booked once for a response that another process continues", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "offshoot-budget-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const storePath = join(folder, "runs.db");
    const bench = await openFileBench(t, storePath);
    const { token, key } = await bench.makeKey({ limits: { tokens_per_day: 3000 } });
    const usage = { input: 100, output: 10 };
    const calls = [{ name: "offshoot__bash_read", arguments: { filepath: "a.txt" } }];
    const answers = [reply.calls(calls, { usage }), reply.silence()];
    const own = { type: "mcp", server_label: "offshoot", require_approval: "never" };
    const body = { input: "Hi", background: true, tools: [own] };
    const cut = respond(() => answers.shift() ?? reply.text("Done.", { usage }));
    const first = await startGuarded(t, bench, cut, { storePath });
    const made = await first.send({ token, body });
    const { id } = JSON.parse(made.text) as { id: string };
    while (first.upstream.requests.length < 2) await turn();
    await first.runtime.close();
    assert.equal(await read(bench, key.id), 0);
    // Its task names the model's address: the first one's upstream answers it.
    const second = await startGuarded(t, bench, script(), { storePath });
    await second.responses.start();
    await second.runtime.engine.result(toRunId(id));
    assert.equal(await read(bench, key.id), 220);
  });

  it("counts what a response that is not stored has used in this minute", async (t) => {
    const bench = createGuardBench();
    const usage = { input: 100, output: 10 };
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Yes.", { usage })),
    );
    const { token } = await bench.makeKey({ limits: { tokens_per_minute: 100 } });
    const body = { input: "Hi", store: false };
    assert.equal((await server.send({ token, body })).status, 200);
    assert.equal((await server.send({ token, body })).status, 429);
  });

  it("is there again for a run that was taken over, and goes with it", async () => {
    const bench = createGuardBench();
    const { key } = await bench.makeKey({ limits: { usd_total: 8 } });
    const { openPurse, charge } = bench.guard.budgets;
    const open = async (runId: string) => createAccount(NO_LIMITS, await openPurse(key.id, runId));
    const take = async (account: Account, amount: { usd: number }) =>
      await takeDrawn(account, { least: amount, most: amount }, () => account.hold(amount));
    await take(await open("run_1"), { usd: 6 });
    assert.equal((await open("run_1")).left.usd, 6);
    const other = await open("run_2");
    await assert.rejects(take(other, { usd: 2.5 }), { code: "budget_exceeded" });
    await charge(key.id, { tokens: 0, usd: 1 }, "run_1");
    await take(other, { usd: 2.5 });
    const { id } = (await bench.makeKey({ limits: { requests_per_day: 3 } })).key;
    assert.equal(await openPurse(id, "run_3"), undefined);
  });
});

/** Something that one of several responses does: asks a model, is answered, ends. */
interface Act {
  readonly what: "ask" | "answer" | "end";
  readonly run: number;
  readonly input: number;
  readonly output: number | undefined;
  /** The used share of the reservation. */
  readonly share: number;
  /** Use that was not foreseen. */
  readonly more: number;
}

const acts = fc.array(
  fc.record<Act>({
    what: fc.constantFrom("ask", "answer", "end"),
    run: fc.nat({ max: 6 }),
    input: fc.nat({ max: 60 }),
    output: fc.option(fc.integer({ min: 16, max: 300 }), { nil: undefined }),
    share: fc.constantFrom(0, 0.5, 1),
    more: fc.nat({ max: 20 }),
  }),
  { minLength: 20, maxLength: 60, size: "max" },
);

interface Running {
  readonly account: Account;
  readonly holds: Hold[];
}

/**
 * Plays responses of one key, and returns how much was booked and how much of that was not foreseen.
 */
async function play(bench: GuardBench, done: readonly Act[]): Promise<[number, number]> {
  const { key } = await bench.makeKey({ limits: { tokens_per_day: 1000 } });
  const { openPurse, charge } = bench.guard.budgets;
  const running = new Map<string, Running>();
  let unforeseen = 0;
  const end = async (id: string, { account, holds }: Running): Promise<void> => {
    for (const hold of holds) hold.release();
    running.delete(id);
    await charge(key.id, { tokens: account.spent.tokens, usd: 0 }, id);
  };
  for (const act of done) {
    const id = `run_${act.run}`;
    const account = createAccount(NO_LIMITS, await openPurse(key.id, id));
    const one = running.get(id) ?? { account, holds: [] };
    running.set(id, one);
    if (act.what === "ask") await ask(one, act);
    if (act.what === "answer") unforeseen += answer(one, act);
    if (act.what === "end") await end(id, one);
  }
  for (const [id, one] of running) await end(id, one);
  assert.deepEqual(await bench.spending.readHolds(key.id), []);
  return [await read(bench, key.id), unforeseen];
}

async function ask({ account, holds }: Running, { input, output }: Act): Promise<void> {
  const items = [{ type: "message", role: "user", content: "x".repeat(input * 3) }] as const;
  const request = { ...REQUEST, items, max_output_tokens: output };
  try {
    const { hold } = await holdCall(account, request, { costOf: () => 0 });
    holds.push(hold);
  } catch (thrown) {
    assert.equal((thrown as { code?: string }).code, "budget_exceeded");
  }
}

function answer({ holds }: Running, { share, more }: Act): number {
  const hold = holds.pop();
  hold?.settle({ tokens: Math.floor(hold.most.tokens * share) + more });
  return hold ? more : 0;
}

describe("responses that run at once, whatever comes in which order", () => {
  it("book at most the budget, plus what their calls took beyond the estimate", async () => {
    await fc.assert(
      fc.asyncProperty(acts, async (done) => {
        const [used, unforeseen] = await play(
          createGuardBench({}, { spending: createMemorySpending() }),
          done,
        );
        assert.ok(used <= 1000 + unforeseen, `${used} tokens, ${unforeseen} unforeseen`);
      }),
    );
  });
});

const REQUEST: ModelRequest = {
  model: "m",
  instructions: undefined,
  items: [],
  tools: [],
  format: { type: "text" },
  tool_choice: "auto",
  parallel_tool_calls: undefined,
  temperature: undefined,
  top_p: undefined,
  max_output_tokens: undefined,
  reasoning: { effort: undefined, summary: undefined },
  previous: undefined,
};
