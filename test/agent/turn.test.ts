import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAccount } from "../../src/agent/account.ts";
import { holdCall } from "../../src/agent/call-cost.ts";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import {
  type ModelAnswer,
  type ModelTurn,
  runTurn,
  type TurnAnswer,
  textOf,
  toAnswer,
  toSettled,
  whyRefused,
} from "../../src/agent/turn.ts";
import { Failure } from "../../src/base/failure.ts";
import type { Item } from "../../src/protocol/items.ts";
import type { ModelEnd, ModelEvent } from "../../src/protocol/model-events.ts";
import { NO_USAGE, toUsage, type Usage } from "../../src/protocol/usage.ts";
import type { ModelRequest, Provider } from "../../src/providers/provider.ts";
import { createManualClock, createScriptedProvider, reply } from "../../src/testing/index.ts";
import { createJournal, createJournaledContext, type Journal } from "./journaled-context.ts";

const REQUEST: ModelRequest = {
  model: "m",
  instructions: undefined,
  items: [{ type: "message", role: "user", content: "Hello" }],
  tools: [],
  format: { type: "text" },
  tool_choice: "auto",
  parallel_tool_calls: undefined,
  temperature: undefined,
  top_p: undefined,
  max_output_tokens: 100,
  reasoning: { effort: undefined, summary: undefined },
  previous: undefined,
};

interface Asked {
  readonly journal?: Journal;
  readonly turn?: Partial<ModelTurn>;
  readonly costOf?: (usage: Usage) => number | undefined;
}

/** One turn with a budget of ten dollars. */
async function ask(provider: Provider, { journal = createJournal(), turn, costOf }: Asked = {}) {
  const account = createAccount({ ...NO_LIMITS, usd: 10, tokens: 100_000 });
  const prices = { costOf: costOf ?? (() => 0.5) };
  const broken: Usage[] = [];
  let text = "";
  const answer: Promise<TurnAnswer> = runTurn(
    {
      context: createJournaledContext(journal),
      provider,
      clock: createManualClock(1000),
      ...prices,
    },
    {
      number: 1,
      notices: [],
      hold: async (signal) => await holdCall(account, REQUEST, { ...prices, signal }),
      onText: (delta) => {
        text += delta;
      },
      onBroken: (usage) => broken.push(usage),
      ...turn,
    },
  );
  const [done] = await Promise.allSettled([answer]);
  const types = journal.events.map(({ type }) => type);
  return { done, account, broken, text, types, journal };
}

/** A provider that sends a batch, and then throws or ends. */
function sending(batch: readonly ModelEvent[], thrown?: Error): Provider {
  return {
    name: "sending",
    async *stream(_, { onSend }) {
      onSend?.(undefined);
      yield batch;
      if (thrown) throw thrown;
    },
  };
}

const refusing = (failure: Failure): Provider => ({
  name: "refusing",
  // biome-ignore lint/correctness/useYield: it fails before its first event.
  async *stream() {
    throw failure;
  },
});

describe("a turn", () => {
  it("is logged from its start to its end, with its notices before the model's words", async () => {
    const notice = { type: "notice", code: "hook", message: "Hello." } as const;
    const { types, journal } = await ask(createScriptedProvider(reply.text("Hi.")), {
      turn: { notices: [notice], number: 3 },
    });
    assert.deepEqual(types.slice(0, 2), ["turn_start", "notice"]);
    assert.equal(types.at(-1), "turn_end");
    assert.ok(!types.includes("end" as (typeof types)[number]));
    const numbers = journal.events.flatMap((event) => ("turn" in event ? [event.turn] : []));
    assert.deepEqual(numbers, [3, 3]);
  });

  it("tells the text piece by piece, and the answer has all of it", async () => {
    const { text, done } = await ask(createScriptedProvider(reply.text("Hello to you all.")));
    assert.equal(text, "Hello to you all.");
    assert.ok(done.status === "fulfilled" && "items" in done.value);
    assert.equal(textOf(done.value.items), text);
  });

  it("takes from the budget what it cost, and returns the rest", async () => {
    const { account } = await ask(createScriptedProvider(reply.text("Hi.")));
    assert.deepEqual([account.spent.usd, account.spent.turns, account.left.usd], [0.5, 1, 9.5]);
  });

  it("is not asked again when an earlier owner of the run has its answer", async () => {
    const journal = createJournal();
    const first = await ask(createScriptedProvider(reply.text("Once.")), { journal });
    const again = await ask(createScriptedProvider(), { journal });
    assert.deepEqual(again.done, first.done);
    assert.equal(again.account.spent.usd, 0);
  });

  it("costs nothing when the vendor has refused it before it read anything", async () => {
    const failure = new Failure("provider_unauthorized", "Wrong key.");
    const { account, done, broken } = await ask(refusing(failure));
    assert.equal(done.status === "rejected" && done.reason, failure);
    assert.deepEqual([account.spent.usd, account.left.usd, broken.length], [0, 10, 0]);
  });

  it("costs what it used when it breaks off in the middle", async () => {
    const said: ModelEvent[] = [
      { type: "item_start", index: 0, item: message("") },
      { type: "text_delta", index: 0, part: 0, delta: "Half a" },
    ];
    const thrown = new Failure("provider_failed", "The line broke.");
    const { account, broken, done, text } = await ask(sending(said, thrown));
    assert.equal(done.status === "rejected" && done.reason, thrown);
    assert.equal(text, "Half a");
    assert.equal(broken.length, 1);
    assert.ok((broken[0]?.total_tokens ?? 0) > 0);
    assert.equal(account.spent.tokens, broken[0]?.total_tokens);
    assert.equal(account.spent.turns, 1);
  });

  it("fails when the provider stops without an ending", async () => {
    const { done } = await ask(sending([{ type: "text_delta", index: 0, part: 0, delta: "a" }]));
    assert.equal(done.status === "rejected" && done.reason.code, "provider_broke_protocol");
  });

  const tooLong = new Failure("context_exceeded", "Too many tokens.");

  it("returns that the conversation is too long, if it may be shortened", async () => {
    const { done, account } = await ask(refusing(tooLong), { turn: { mayShorten: true } });
    assert.deepEqual(done, { status: "fulfilled", value: { too_long: "Too many tokens." } });
    assert.equal(account.spent.usd, 0);
  });

  it("fails because the conversation is too long, if it may not be shortened", async () => {
    const { done } = await ask(refusing(tooLong));
    assert.equal(done.status === "rejected" && done.reason, tooLong);
  });

  it("is a turn of its own when it is asked again with a shorter conversation", async () => {
    const journal = createJournal();
    await ask(refusing(tooLong), { journal, turn: { mayShorten: true } });
    const shorter = { mayShorten: true, isAgain: true };
    const { done } = await ask(createScriptedProvider(reply.text("Short.")), {
      journal,
      turn: shorter,
    });
    assert.ok(done.status === "fulfilled" && "items" in done.value);
  });
});

const END: ModelEnd = {
  type: "end",
  reason: "stop",
  usage: toUsage({ input: 10, output: 5 }),
  continuation: undefined,
};
const message = (text: string): Item => ({ type: "message", role: "assistant", content: text });

describe("the answer of a turn", () => {
  it("leaves out places of items that the vendor never finished", () => {
    const items: Item[] = [];
    items[0] = message("a");
    items[3] = message("b");
    assert.equal(textOf(toAnswer(items, END, () => 1).items), "ab");
    assert.equal(toAnswer(items, END, () => 1).items.length, 2);
  });

  const priced: readonly (readonly [
    string,
    Partial<ModelEnd>,
    number | undefined,
    number | null,
  ])[] = [
    ["what the vendor says it cost", { cost_usd: 0.2 }, 0.9, 0.2],
    ["zero, if the vendor says so", { cost_usd: 0 }, 0.9, 0],
    ["the price of its tokens otherwise", {}, 0.9, 0.9],
    ["nothing known, without a price", {}, undefined, null],
  ];
  for (const [what, told, price, cost] of priced) {
    it(`costs ${what}`, () => {
      assert.equal(toAnswer([], { ...END, ...told }, () => price).cost_usd, cost);
    });
  }

  it("takes all that was reserved when the cost is unknown", () => {
    const answer: ModelAnswer = { ...toAnswer([], END, () => undefined) };
    const hold = { most: { turns: 1, tokens: 0, usd: 3, tool_calls: 0, children: 0 } };
    assert.equal(toSettled(answer, hold, { costOf: () => undefined }).usd, 3);
    assert.equal(toSettled(answer, hold, { costOf: () => 0.1 }).usd, 0.1);
  });

  it("is priced by its tokens alone, without the calls of the vendor's own tools", () => {
    const seen = new Set<object | undefined>();
    const usage = { ...NO_USAGE, native_calls: { web_search: 2 } };
    const answer: ModelAnswer = { ...toAnswer([], END, () => undefined), usage };
    toSettled(
      answer,
      { most: { ...toAmounts(1) } },
      {
        costOf: (given) => {
          seen.add(given.native_calls);
          return 1;
        },
      },
    );
    assert.deepEqual([...seen], [undefined]);
  });
});

const toAmounts = (usd: number) => ({ turns: 0, tokens: 0, usd, tool_calls: 0, children: 0 });

describe("the words of a refusal", () => {
  const refusal = (...words: string[]): Item => ({
    type: "message",
    role: "assistant",
    content: words.map((one) => ({ type: "refusal" as const, refusal: one })),
  });
  const cases: readonly (readonly [string, readonly Item[], string])[] = [
    ["its own", [refusal("I cannot.")], "The model declined to answer: I cannot."],
    [
      "those of all its parts",
      [refusal("No. ", " Never.")],
      "The model declined to answer: No. Never.",
    ],
    ["none if it has said none", [refusal("  ")], "The model declined to answer."],
    ["none if it has only answered", [message("Sure.")], "The model declined to answer."],
  ];
  for (const [what, items, told] of cases) {
    it(`are ${what}`, () => assert.equal(whyRefused(items), told));
  }

  it("are clipped", () => {
    assert.ok(whyRefused([refusal("no ".repeat(5000))]).length < 1100);
  });
});
