/**
 * The contract of every provider, on every wire. Each wire calls this with its own upstream; the embedded
 * provider calls the part that needs no network.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure, type FailureCode } from "../../src/base/failure.ts";
import type { FunctionCall, Item } from "../../src/protocol/items.ts";
import type { ModelEnd, ModelEvent } from "../../src/protocol/model-events.ts";
import type { ModelRequest, Provider, WholeAnswer } from "../../src/providers/provider.ts";
import { collectAnswer } from "../../src/providers/whole-answer.ts";
import {
  FAULTS,
  type Faults,
  reply,
  type Script,
  script,
  type Upstream,
} from "../../src/testing/index.ts";
import { patience } from "../patience.ts";
import { assertEventOrder } from "./event-order.ts";

export interface Opened {
  readonly provider: Provider;
  readonly upstream: Upstream;
}

/**
 * Starts an upstream that plays the script, and a provider that talks to it. With `isSilent` its limits are
 * short, because nothing else will end the wait.
 */
export type OpenUpstream = (
  engine: Script,
  options?: { readonly faults?: Faults; readonly isSilent?: boolean },
) => Promise<Opened>;

export const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "test-model",
  instructions: "Be brief.",
  items: [{ type: "message", role: "user", content: "Hello" }],
  tools: [],
  tool_choice: "auto",
  parallel_tool_calls: undefined,
  temperature: undefined,
  top_p: undefined,
  max_output_tokens: undefined,
  reasoning: { effort: "none", summary: undefined },
  format: { type: "text" },
  previous: undefined,
  ...more,
});

export async function eventsOf(provider: Provider, asked: ModelRequest): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  const signal = patience();
  for await (const batch of provider.stream(asked, { signal })) events.push(...batch);
  assertEventOrder(events);
  return events;
}

function answerOf(provider: Provider, asked: ModelRequest): Promise<WholeAnswer> {
  const signal = patience();
  return provider.answer?.(asked, { signal }) ?? collectAnswer(provider.stream(asked, { signal }));
}

/** Servers create new ones for every answer. */
function withoutIds(item: Item): object {
  const { id: _, call_id: _call, ...rest } = item as Item & { id?: string; call_id?: string };
  return rest;
}

export const textOf = (events: readonly ModelEvent[]): string =>
  events.map((event) => (event.type === "text_delta" ? event.delta : "")).join("");

export const itemsOf = (events: readonly ModelEvent[]): Item[] =>
  events.flatMap((event) => (event.type === "item_end" ? [event.item] : []));

const endOf = (events: readonly ModelEvent[]): ModelEnd => {
  const last = events.at(-1);
  return last?.type === "end" ? last : assert.fail("no end");
};

export const WEATHER = {
  type: "function" as const,
  name: "weather",
  description: "The weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: false,
};

export const TWO_CALLS = reply.calls([
  { name: "weather", arguments: { city: "Oslo" } },
  { name: "weather", arguments: { city: "Köln" } },
]);

/** Limits of an API compared with the others. If a trait is missing, the API has the feature. */
export interface Traits {
  /** A field for a refusal; without one it is shown as plain text. */
  readonly hasRefusals?: boolean;
  /** A mode for a JSON object without a schema; without one it is refused before anything is sent. */
  readonly hasJsonObject?: boolean;
  readonly hasDocuments?: boolean;
  /** Counts of cached and reasoning tokens. */
  readonly countsParts?: boolean;
  readonly countsReasoning?: boolean;
  /** A word in every body that asks for a schema. */
  readonly schemaWord?: string;
  /** Faults that leave nothing readable in this framing, although another would survive them. */
  readonly breakingFaults?: readonly string[];
}

export function describeProvider(name: string, open: OpenUpstream, traits: Traits = {}): void {
  const { hasRefusals = true, hasJsonObject = true, hasDocuments = true } = traits;
  const {
    countsParts = true,
    countsReasoning = countsParts,
    schemaWord = '"json_schema"',
  } = traits;
  // In parallel, because the time is spent waiting for limits.
  describe(name, { concurrency: 8 }, () => {
    it("gives text in pieces and whole", async () => {
      const { provider, upstream } = await open(script(reply.text("Grüße, Welt! 👋")));
      const events = await eventsOf(provider, request());
      assert.equal(textOf(events), "Grüße, Welt! 👋");
      assert.ok(events.filter(({ type }) => type === "text_delta").length > 1);
      assert.equal(endOf(events).reason, "stop");
      await upstream.close();
    });

    it("gives a client that does not stream the same answer as a stream", async () => {
      const answers = [reply.text("Grüße."), TWO_CALLS, reply.length("Once upon a")];
      for (const said of answers) {
        const { provider, upstream } = await open(script(said, said));
        const asked = request({ tools: [WEATHER], whole: true });
        const { events, failure } = await answerOf(provider, asked);
        assertEventOrder(events);
        assert.equal(failure, undefined);
        const streamed = await eventsOf(provider, asked);
        assert.deepEqual(itemsOf(events).map(withoutIds), itemsOf(streamed).map(withoutIds));
        assert.equal(endOf(events).reason, endOf(streamed).reason);
        assert.deepEqual(endOf(events).usage, endOf(streamed).usage);
        await upstream.close();
      }
    });

    it("rejects for a client that does not stream if there was no output, after a retry", async () => {
      const refused = reply.status(503, "busy");
      const { provider, upstream } = await open(script(refused, refused, reply.text("Late.")));
      await assert.rejects(answerOf(provider, request({ whole: true })), Failure);
      assert.ok(upstream.requests.length >= 2);
      await upstream.close();
    });

    it("gives reasoning before the text", async () => {
      const { provider, upstream } = await open(script(reply.reasoning("Hm.", reply.text("Yes."))));
      const events = await eventsOf(
        provider,
        request({ reasoning: { effort: "high", summary: "detailed" } }),
      );
      const thought = events.map((event) => (event.type === "reasoning_delta" ? event.delta : ""));
      assert.equal(thought.join(""), "Hm.");
      assert.deepEqual(
        itemsOf(events).map(({ type }) => type),
        ["reasoning", "message"],
      );
      await upstream.close();
    });

    it("accepts two parallel calls, and their results", async () => {
      const { provider, upstream } = await open(script(TWO_CALLS, reply.text("Cold in both.")));
      const first = request({ tools: [WEATHER] });
      const asked = await eventsOf(provider, first);
      const calls = itemsOf(asked) as FunctionCall[];
      assert.deepEqual(
        calls.map((call) => JSON.parse(call.arguments)),
        [{ city: "Oslo" }, { city: "Köln" }],
      );
      assert.equal(endOf(asked).reason, "tool_calls");
      const answer = await eventsOf(provider, withResults(first, asked, calls));
      assert.equal(textOf(answer), "Cold in both.");
      await upstream.close();
    });

    it("makes the round trip of reasoning through a tool loop", async () => {
      const { provider, upstream } = await open(
        script(reply.reasoning("Think.", TWO_CALLS), reply.text("Done.")),
      );
      const first = request({
        tools: [WEATHER],
        reasoning: { effort: "high", summary: "detailed", sealed: true },
      });
      const asked = await eventsOf(provider, first);
      const calls = itemsOf(asked).filter(
        (item): item is FunctionCall => item.type === "function_call",
      );
      assert.equal(textOf(await eventsOf(provider, withResults(first, asked, calls))), "Done.");
      await upstream.close();
    });

    it("sends images and documents", async () => {
      const { provider, upstream } = await open(script(reply.text("A cat.")));
      const image_url = "data:image/png;base64,iVBORw0KGgo=";
      const file_data = "data:application/pdf;base64,JVBERi0=";
      const content = [
        { type: "input_image" as const, image_url, detail: "auto" as const },
        ...(hasDocuments ? [{ type: "input_file" as const, filename: "a.pdf", file_data }] : []),
        { type: "input_text" as const, text: "What is it?" },
      ];
      const events = await eventsOf(
        provider,
        request({ items: [{ type: "message", role: "user", content }] }),
      );
      assert.equal(textOf(events), "A cat.");
      const sent = upstream.requests[0]?.text ?? "";
      // Some APIs take the data and its type apart.
      assert.ok(sent.includes("iVBORw0KGgo="));
      assert.equal(sent.includes("JVBERi0="), hasDocuments);
      await upstream.close();
    });

    it("asks for structured output in the API's own form", async () => {
      const { provider, upstream } = await open(script(reply.text('{"a":1}')));
      const schema = {
        type: "object",
        properties: { a: { type: "number" } },
        required: ["a"],
        additionalProperties: false,
      };
      const format = { type: "json_schema" as const, name: "out", schema, strict: true };
      assert.equal(textOf(await eventsOf(provider, request({ format }))), '{"a":1}');
      assert.ok(upstream.requests[0]?.text.includes(schemaWord));
      await upstream.close();
    });

    it("asks for a JSON object, or reports before anything is sent that it cannot", async () => {
      const { provider, upstream } = await open(script(reply.text("{}")));
      const asked = eventsOf(provider, request({ format: { type: "json_object" } }));
      if (hasJsonObject) assert.equal(textOf(await asked), "{}");
      else await assert.rejects(asked, code("invalid_request"));
      assert.equal(upstream.requests.length, hasJsonObject ? 1 : 0);
      await upstream.close();
    });

    it("asks for a schema that strict mode refuses", async () => {
      const { provider, upstream } = await open(script(reply.text('{"a":1}')));
      const schema = { type: "object", properties: { a: { type: "number" } } };
      const format = { type: "json_schema" as const, name: "out", schema, strict: true };
      assert.equal(textOf(await eventsOf(provider, request({ format }))), '{"a":1}');
      await upstream.close();
    });

    it("distinguishes a refusal and a length limit from an answer", async () => {
      const { provider, upstream } = await open(
        script(reply.refusal("No."), reply.length("Once upon")),
      );
      const refused = await eventsOf(provider, request());
      assert.equal(endOf(refused).reason, hasRefusals ? "refusal" : "stop");
      const cut = await eventsOf(provider, request({ max_output_tokens: 16 }));
      assert.equal(endOf(cut).reason, "length");
      assert.equal(textOf(cut), "Once upon");
      await upstream.close();
    });

    it("the end of an answer counts its tokens", async () => {
      const usage = { input: 120, cached: 100, output: 30, reasoning: 20 };
      const { provider, upstream } = await open(script(reply.text("Ok.", { usage })));
      const counted = endOf(await eventsOf(provider, request())).usage;
      assert.equal(counted.input_tokens, 120);
      assert.equal(counted.input_tokens_details.cached_tokens, countsParts ? 100 : 0);
      assert.equal(counted.output_tokens, 30);
      assert.equal(counted.output_tokens_details.reasoning_tokens, countsReasoning ? 20 : 0);
      assert.equal(counted.total_tokens, 150);
      await upstream.close();
    });

    it("stops if it is cancelled in the middle, and closes the connection", async () => {
      const { provider, upstream } = await open(script(reply.silence("Some words")));
      const abort = new AbortController();
      const stream = provider.stream(request(), { signal: abort.signal });
      await assert.rejects(async () => {
        for await (const batch of stream)
          if (batch.some(({ type }) => type === "text_delta")) abort.abort();
      }, code("cancelled"));
      const recorded = await upstream.waitForRequest(1);
      await recorded.ended;
      assert.equal(recorded.aborted, true);
      await upstream.close();
    });

    it("closes the connection if the reader stops", async () => {
      const { provider, upstream } = await open(script(reply.silence("Some words")));
      for await (const _ of provider.stream(request(), { signal: patience() })) break;
      const recorded = await upstream.waitForRequest(1);
      await recorded.ended;
      assert.equal(recorded.aborted, true);
      await upstream.close();
    });

    describeFaults(open, traits);
  });
}

/** The next request of the loop: everything so far, and a result for each call. */
function withResults(
  first: ModelRequest,
  asked: readonly ModelEvent[],
  calls: readonly FunctionCall[],
): ModelRequest {
  const output = itemsOf(asked);
  const results = calls.map(
    ({ call_id }): Item => ({ type: "function_call_output", call_id, output: "cold" }),
  );
  const { continuation } = endOf(asked);
  const covered = first.items.length + output.length;
  return {
    ...first,
    items: [...first.items, ...output, ...results],
    previous: continuation ? { at: continuation, covered } : undefined,
  };
}

const LONG = "The quick brown fox jumps over the lazy dog, naïve as ever. ".repeat(6);

function describeFaults(open: OpenUpstream, { breakingFaults = [] }: Traits): void {
  for (const { name, expect: usual, create } of FAULTS) {
    const expect = breakingFaults.includes(name) ? "error" : usual;
    it(`survives the fault "${name}": ${expect}`, async () => {
      const fault = create();
      const isCalls = name === "duplicate ids";
      const answers = Array.from({ length: 6 }, () => (isCalls ? TWO_CALLS : reply.text(LONG)));
      const { provider, upstream } = await open(script(...answers), {
        faults: fault,
        isSilent: name === "silence" || name === "no answer",
      });
      const asked = request(isCalls ? { tools: [WEATHER] } : {});
      if (expect === "error") {
        await assert.rejects(
          eventsOf(provider, asked),
          (thrown) => thrown instanceof Failure && thrown.code !== "internal",
        );
      } else if (isCalls) {
        assert.equal(itemsOf(await eventsOf(provider, asked)).length, 2);
      } else {
        assert.equal(textOf(await eventsOf(provider, asked)), LONG);
      }
      await upstream.close();
    });
  }
}

function code(expected: FailureCode): (thrown: unknown) => boolean {
  return (thrown) => {
    assert.ok(thrown instanceof Failure, String(thrown));
    assert.equal(thrown.code, expected);
    return true;
  };
}
