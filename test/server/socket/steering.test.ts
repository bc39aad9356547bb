import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MODEL_RETRY } from "../../../src/base/retry.ts";
import { reply } from "../../../src/testing/index.ts";
import {
  createHeldModel,
  lastAsked,
  type SocketEvent,
  startSocketServer,
} from "./socket-fixture.ts";

const idOf = (events: readonly SocketEvent[]): string => events.at(-1)?.response?.id ?? "";

function steerOf(event: SocketEvent | undefined): { id: string; previous_response_id: string } {
  return event?.["steer"] as { id: string; previous_response_id: string };
}

describe("steering a response", () => {
  for (const store of [true, false]) {
    it(`continues with the message, ${store ? "stored" : "not stored"}`, async (t) => {
      const model = createHeldModel((text) => reply.text(`${text}!`));
      const server = await startSocketServer(t, model.engine);
      const socket = await server.connect();
      const asked = { input: "One", store, instructions: "Loud.", stream_id: "s" };
      socket.send({ type: "response.create", ...asked });
      const [created] = await socket.until("response.created");
      const id = created?.response?.id ?? "";
      await model.asked("One");
      for (const input of ["Two", [{ role: "user", content: "Three" }]]) {
        socket.send({ type: "response.steer", previous_response_id: id, input });
        const accepted = (await socket.until("response.steer.accepted")).at(-1);
        assert.match(steerOf(accepted).id, /^steer_/);
        assert.equal(steerOf(accepted).previous_response_id, id);
        assert.equal(accepted?.stream_id, "s");
      }
      for (const text of ["One", "Three"]) model.release(text);
      await socket.until("response.completed");
      const next = await socket.until("response.completed");
      assert.equal(next.at(-1)?.response?.output_text, "Three!");
      assert.equal(next[0]?.response?.previous_response_id, id);
      assert.deepEqual(lastAsked(server), [
        ...["system: Loud.", "user: One", "assistant: One!", "user: Two", "user: Three"],
      ]);
      socket.send({ type: "response.steer", previous_response_id: id, input: "Late" });
      assert.equal((await socket.next()).error?.code, "response_already_completed");
    });
  }

  it("waits for the results that a response needs first", async (t) => {
    const calls = reply.calls([{ name: "add", arguments: {}, call_id: "call_1" }]);
    const model = createHeldModel((text) => (text === "Add" ? calls : reply.text("Done.")));
    const server = await startSocketServer(t, model.engine);
    const socket = await server.connect();
    const tools = [{ type: "function", name: "add", parameters: { type: "object" } }];
    socket.send({ type: "response.create", input: "Add", store: false, tools });
    const [created] = await socket.until("response.created");
    const id = created?.response?.id ?? "";
    socket.send({ type: "response.steer", previous_response_id: id, input: "And be quick." });
    await socket.until("response.steer.accepted");
    model.release("Add");
    await socket.until("response.completed");
    const pending = await socket.next();
    assert.equal(pending.type, "response.steer.pending");
    const needed = [{ type: "function_call_output", call_id: "call_1", name: "add" }];
    assert.deepEqual(pending["required_input"], needed);
    model.release("And be quick.");
    const output = { type: "function_call_output", call_id: "call_1", output: "2" };
    const done = await socket.turn({
      input: [output],
      store: false,
      tools,
      previous_response_id: id,
    });
    assert.equal(done.at(-1)?.response?.output_text, "Done.");
    assert.deepEqual(lastAsked(server).slice(-2), ["tool: 2", "user: And be quick."]);
  });

  it("gives back what it cannot take", async (t) => {
    const model = createHeldModel(() => reply.text("Yes."));
    const server = await startSocketServer(t, model.engine);
    const socket = await server.connect();
    const steer = (previous_response_id: string, input: unknown): void =>
      socket.send({ type: "response.steer", previous_response_id, input });
    steer("resp_none", "Hi");
    const unknown = await socket.next();
    assert.equal(unknown.type, "response.steer.failed");
    assert.equal(unknown.error?.code, "response_not_found");
    assert.deepEqual(unknown["steer"], { previous_response_id: "resp_none", input: "Hi" });
    const context_management = [{ type: "compaction", compact_threshold: 100_000 }];
    socket.send({ type: "response.create", input: "A", context_management, stream_id: "a" });
    steer(idOf(await socket.until("response.created")), "Hi");
    const fixed = (await socket.until("response.steer.failed")).at(-1);
    assert.equal(fixed?.error?.code, "steering_not_supported");
    socket.send({ type: "response.create", input: "B", stream_id: "b" });
    const id = idOf(await socket.until("response.created"));
    steer(id, [{ role: "system", content: "Obey." }]);
    const wrong = (await socket.until("response.steer.failed")).at(-1);
    assert.equal(wrong?.error?.code, "invalid_input");
  });

  it("gives back what was taken for a response that failed", async (t) => {
    const model = createHeldModel(() => reply.failure("It broke."));
    const retry = { ...MODEL_RETRY, attempts: 1 };
    const server = await startSocketServer(t, model.engine, { retry });
    const socket = await server.connect();
    socket.send({ type: "response.create", input: "A" });
    const previous_response_id = idOf(await socket.until("response.created"));
    socket.send({ type: "response.steer", previous_response_id, input: "More" });
    const [accepted] = (await socket.until("response.steer.accepted")).slice(-1);
    model.release("A");
    await socket.until("error");
    const failed = await socket.next();
    assert.equal(failed.error?.code, "response_not_active");
    const { id } = steerOf(accepted);
    assert.deepEqual(failed["steer"], { id, previous_response_id, input: "More" });
  });
});
