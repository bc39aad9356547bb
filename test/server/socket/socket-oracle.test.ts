/** The events of a socket, compared with both published descriptions. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MODEL_RETRY } from "../../../src/base/retry.ts";
import { reply, script, startMessagesUpstream } from "../../../src/testing/index.ts";
import { checkEvents, checkPublished } from "../../conformance/check.ts";
import { findFaults } from "../../conformance/oracles.ts";
import { startSocketServer } from "./socket-fixture.ts";

describe("what a socket says", () => {
  it("is published: turns, preparations and streams", async (t) => {
    const server = await startSocketServer(
      t,
      script(reply.reasoning("So.", reply.text("Yes.")), reply.text("No.")),
    );
    const socket = await server.connect();
    checkEvents(await socket.turn({ input: "Well?", store: false }));
    checkEvents(await socket.turn({ model: "m", input: "Hi", generate: false }));
    const events = await socket.turn({ input: "And?", stream_id: "s" });
    assert.ok(events.every(({ stream_id }) => stream_id === "s"));
    checkEvents(events.map(({ stream_id: _, ...event }) => event));
  });

  it("is published: errors, before a turn and in it", async (t) => {
    const retry = { ...MODEL_RETRY, attempts: 1 };
    const server = await startSocketServer(t, script(reply.failure("It broke.")), { retry });
    const socket = await server.connect();
    const before = await socket.turn({ input: "Hi", previous_response_id: "resp_none" });
    const within = await socket.turn({ input: "Hi" });
    for (const event of [before.at(-1), within.at(-1)]) {
      assert.deepEqual(findFaults("open-responses", "WebSocketErrorEvent", event), []);
    }
    assert.equal(within.at(-1)?.status, 502);
  });

  it("is published: items that are injected or not", async (t) => {
    const server = await startSocketServer(t, script());
    const socket = await server.connect();
    const input = [{ type: "message", role: "user", content: "Hi" }];
    socket.send({ type: "response.inject", response_id: "resp_none", input });
    checkPublished("BetaResponseInjectFailedEvent", await socket.next());
  });

  it("contains the reasoning that a model needs to continue, stored or not", async (t) => {
    const call = reply.calls([{ name: "add", arguments: {}, call_id: "call_1" }]);
    const upstream = await startMessagesUpstream({
      engine: script(reply.reasoning("Adding.", call), reply.text("Two.")),
    });
    t.after(() => upstream.close());
    const usual = {
      model: "anthropic/claude-sonnet-4-5",
      provider: "anthropic",
      url: upstream.url,
      api_key_name: "TEST_KEY",
    };
    const server = await startSocketServer(t, script(), {
      settings: { models: { named: [], usual } },
      env: { TEST_KEY: "key" },
    });
    const socket = await server.connect();
    const tools = [{ type: "function", name: "add", parameters: { type: "object" } }];
    const asked = { store: false, tools, reasoning: { effort: "low" } };
    const first = await socket.turn({ ...asked, input: "1+1" });
    const output = { type: "function_call_output", call_id: "call_1", output: "2" };
    const previous_response_id = first.at(-1)?.response?.id;
    const second = await socket.turn({ ...asked, input: [output], previous_response_id });
    assert.equal(second.at(-1)?.response?.output_text, "Two.", JSON.stringify(second.at(-1)));
  });
});
