import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelEvent } from "../../src/protocol/model-events.ts";
import { type ModelRequest, TEXT_FORMAT } from "../../src/providers/provider.ts";
import { type AnswerReply, reply } from "../../src/testing/reply.ts";
import {
  createScriptedProvider,
  type ScriptedProvider,
} from "../../src/testing/scripted-provider.ts";
import { patience } from "../patience.ts";

const REQUEST: ModelRequest = {
  model: "scripted",
  instructions: undefined,
  items: [{ type: "message", role: "user", content: "Hello" }],
  tools: [],
  tool_choice: "auto",
  parallel_tool_calls: undefined,
  temperature: undefined,
  top_p: undefined,
  max_output_tokens: undefined,
  reasoning: { effort: undefined, summary: undefined },
  format: TEXT_FORMAT,
  previous: undefined,
};

async function eventsOf(
  provider: ScriptedProvider,
  signal: AbortSignal = patience(),
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const batch of provider.stream(REQUEST, { signal })) events.push(...batch);
  return events;
}

/** The order that `model-events.ts` promises, and that the deltas add up to the finished item. */
function assertOrder(events: readonly ModelEvent[]): void {
  assert.equal(events[0]?.type, "start");
  assert.equal(events.at(-1)?.type, "end");
  const open = new Map<number, string>();
  for (const event of events.slice(1, -1)) {
    assert.ok("index" in event, `${event.type} is out of place`);
    if (event.type === "item_start") {
      assert.ok(!open.has(event.index));
      open.set(event.index, "");
    } else if (event.type === "item_end") {
      const said = open.get(event.index) ?? assert.fail("an item ends that never began");
      assert.ok(JSON.stringify(event.item).includes(JSON.stringify(said).slice(1, -1)));
      open.delete(event.index);
    } else if ("delta" in event) {
      open.set(
        event.index,
        (open.get(event.index) ?? assert.fail("a delta before its item")) + event.delta,
      );
    }
  }
  assert.equal(open.size, 0);
}

describe("scripted provider", () => {
  const answers: Record<string, AnswerReply> = {
    text: reply.text("A sentence of some length."),
    empty: reply.text(""),
    reasoning: reply.reasoning("Let me think about it.", reply.text("Done.")),
    calls: reply.calls([
      { name: "read", arguments: { path: "a.txt" } },
      { name: "read", arguments: "{not json" },
    ]),
    "calls after text": reply.calls([{ name: "read", arguments: {} }], { text: "I look." }),
    refusal: reply.refusal("I would rather not do that."),
    length: reply.length("This was cut by the"),
  };
  for (const [name, answer] of Object.entries(answers)) {
    it(`keeps the order of events: ${name}`, async () => {
      assertOrder(await eventsOf(createScriptedProvider(answer)));
    });
  }

  it("reports how each reply ends", async () => {
    const ends = await Promise.all(
      Object.values(answers).map(async (answer) => {
        const end = (await eventsOf(createScriptedProvider(answer))).at(-1);
        return end?.type === "end" ? end.reason : undefined;
      }),
    );
    assert.deepEqual(ends, [
      "stop",
      "stop",
      "stop",
      "tool_calls",
      "tool_calls",
      "refusal",
      "length",
    ]);
  });

  it("gives small pieces, and one piece when asked", async () => {
    const count = async (answer: AnswerReply): Promise<number> => {
      const events = await eventsOf(createScriptedProvider(answer));
      return events.filter((event) => event.type === "text_delta").length;
    };
    assert.equal(await count(reply.text("fourteen chars")), 2);
    assert.equal(await count(reply.text("fourteen chars", { pieceLength: 100 })), 1);
  });

  it("never cuts a character in two", async () => {
    const events = await eventsOf(createScriptedProvider(reply.text("🙂🙂🙂", { pieceLength: 1 })));
    const deltas = events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : []));
    assert.deepEqual(deltas, ["🙂", "🙂", "🙂"]);
  });

  it("keeps given call ids and generates the others", async () => {
    const calls = reply.calls([
      { name: "a", arguments: {}, call_id: "call_mine" },
      { name: "b", arguments: {} },
    ]);
    const events = await eventsOf(createScriptedProvider(calls));
    const ids = events.flatMap((event) =>
      event.type === "item_end" && event.item.type === "function_call" ? [event.item.call_id] : [],
    );
    assert.deepEqual(ids, ["call_mine", "call_1"]);
  });

  it("reports the usage it is given", async () => {
    const answer = reply.text("Hi", { usage: { input: 10, output: 3 } });
    const end = (await eventsOf(createScriptedProvider(answer))).at(-1);
    assert.equal(end?.type === "end" && end.usage.total_tokens, 13);
  });

  it("records requests, gives replies in order and rejects further requests", async () => {
    const provider = createScriptedProvider(reply.text("one"));
    await eventsOf(provider);
    await assert.rejects(eventsOf(provider), {
      code: "provider_failed",
      message: "script exhausted",
    });
    assert.deepEqual(provider.requests, [REQUEST, REQUEST]);
  });

  it("stops with a failure after its text", async () => {
    const provider = createScriptedProvider(reply.failure("out of memory", { text: "So far" }));
    const seen: ModelEvent[] = [];
    await assert.rejects(
      async () => {
        for await (const batch of provider.stream(REQUEST, { signal: patience() })) {
          seen.push(...batch);
        }
      },
      { code: "provider_failed", message: "out of memory" },
    );
    assert.equal(seen.at(-1)?.type, "text_delta");
  });

  it("says nothing more until it is cancelled", async () => {
    const control = new AbortController();
    const provider = createScriptedProvider(reply.silence("Wait"));
    const stream = provider.stream(REQUEST, { signal: control.signal });
    await stream.next();
    await stream.next();
    await stream.next();
    const hanging = stream.next();
    control.abort();
    await assert.rejects(hanging, { code: "cancelled" });
  });

  const statuses: [number, string][] = [
    [400, "provider_rejected"],
    [401, "provider_unauthorized"],
    [429, "provider_overloaded"],
    [500, "provider_failed"],
    [529, "provider_overloaded"],
  ];
  for (const [status, code] of statuses) {
    it(`turns HTTP ${status} into ${code}`, async () => {
      const provider = createScriptedProvider(reply.status(status, "no", { "retry-after": "2" }));
      await assert.rejects(eventsOf(provider), { code, retryAfterMs: 2000 });
    });
  }

  it("a scripted provider rejects replies of raw bytes", async () => {
    await assert.rejects(eventsOf(createScriptedProvider(reply.raw("data: x\n\n"))), {
      code: "invalid_request",
    });
  });
});
