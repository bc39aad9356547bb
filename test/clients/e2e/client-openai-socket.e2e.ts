/** The WebSocket client of the `openai` package against the built server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI from "openai";
import type { ResponsesServerEvent } from "openai/resources/responses/responses";
import { ResponsesWS } from "openai/resources/responses/ws";
import { reply, script } from "../../../src/testing/index.ts";
import { type ClientBench, KEY, serveScript, TIMEOUT } from "./client-fixture.ts";

const model = "scripted";

describe("the openai package over a WebSocket", () => {
  it("accepts turn after turn, even if they are not stored", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(
        reply.calls([{ name: "weather", arguments: { city: "Paris" } }]),
        reply.text("18 degrees."),
      ),
    );
    using socket = openSocket(bench);
    const tools = [WEATHER];
    const first = await socket.ask({ model, store: false, tools, input: "How warm is it?" });
    const done = first.at(-1);
    assert.ok(done?.type === "response.completed");
    const [call] = done.response.output;
    assert.ok(call?.type === "function_call");
    assert.equal(call.arguments, '{"city":"Paris"}');
    const second = await socket.ask({
      model,
      store: false,
      tools,
      previous_response_id: done.response.id,
      input: [{ type: "function_call_output", call_id: call.call_id, output: "18" }],
    });
    assert.equal(textOf(second), "18 degrees.");
    assert.deepEqual(
      bench.asked[1]?.messages.map(({ role }) => role),
      ["user", "assistant", "tool"],
    );
    for (const events of [first, second]) {
      assert.equal(events[0]?.type, "response.created");
      assert.deepEqual(
        events.map((event) => "sequence_number" in event && event.sequence_number),
        events.map((_, at) => at),
      );
    }
  });

  it("reports an error by its code, and continues", TIMEOUT, async () => {
    await using bench = await serveScript(script(reply.text("Hello.")));
    using socket = openSocket(bench);
    const refused = socket.ask({ model, input: "Hi", previous_response_id: "resp_nobodys" });
    await assert.rejects(refused, (thrown: { error?: { error?: { code?: string } } }) => {
      assert.equal(thrown.error?.error?.code, "previous_response_not_found");
      return true;
    });
    assert.equal(textOf(await socket.ask({ model, input: "Hi" })), "Hello.");
  });

  it("is refused without a key", TIMEOUT, async () => {
    await using bench = await serveScript(script());
    using socket = openSocket(bench, "wrong");
    await assert.rejects(socket.ask({ model, input: "Hi" }), /401/);
  });
});

const WEATHER = {
  type: "function" as const,
  name: "weather",
  strict: true,
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};

type Request = Omit<Parameters<ResponsesWS["send"]>[0] & { type: "response.create" }, "type">;

interface Socket extends Disposable {
  /** Every event of one turn. Rejects if the connection breaks. */
  ask(request: Request): Promise<ResponsesServerEvent[]>;
}

function openSocket({ baseURL }: ClientBench, apiKey = KEY): Socket {
  const socket = new ResponsesWS(new OpenAI({ baseURL, apiKey }));
  const messages = socket.stream();
  return {
    async ask(request) {
      socket.send({ type: "response.create", ...request });
      const events: ResponsesServerEvent[] = [];
      for (;;) {
        const { value, done } = await messages.next();
        if (done || value.type === "close") throw new Error("closed");
        if (value.type === "error") throw value.error;
        if (value.type !== "message") continue;
        events.push(value.message);
        if (ENDINGS.has(value.message.type)) return events;
      }
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

const ENDINGS: ReadonlySet<string> = new Set([
  ...["response.completed", "response.incomplete", "response.failed", "error"],
]);

function textOf(events: readonly ResponsesServerEvent[]): string {
  return events
    .map((event) => (event.type === "response.output_text.delta" ? event.delta : ""))
    .join("");
}
