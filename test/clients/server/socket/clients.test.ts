import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI from "openai";
import type { ResponsesServerEvent } from "openai/resources/responses/responses";
import { ResponsesWS } from "openai/resources/responses/ws";
import { reply, script } from "../../../../src/testing/index.ts";
import {
  createHeldModel,
  type SocketServer,
  startSocketServer,
} from "../../../server/socket/socket-fixture.ts";

function clientOf({ url }: SocketServer): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "key" });
}

/** The events of one turn, from the official client. */
async function turn(
  socket: ResponsesWS,
  body: Omit<Parameters<ResponsesWS["send"]>[0] & { type: "response.create" }, "type">,
): Promise<ResponsesServerEvent[]> {
  socket.send({ type: "response.create", ...body });
  const events: ResponsesServerEvent[] = [];
  for await (const event of socket) {
    if (event.type === "error") throw event.error;
    if (event.type !== "message") continue;
    events.push(event.message);
    if (event.message.type === "response.completed") return events;
  }
  throw new Error("The socket closed.");
}

describe("the official client on a socket", () => {
  it("holds a conversation that is not stored, with tools", async (t) => {
    const calls = reply.calls([{ name: "add", arguments: { a: 1 }, call_id: "call_1" }]);
    const server = await startSocketServer(t, script(calls, reply.text("Two.")));
    const socket = new ResponsesWS(clientOf(server));
    t.after(() => socket.close());
    const tools = [
      { type: "function" as const, name: "add", parameters: { type: "object" }, strict: false },
    ];
    const first = await turn(socket, { model: "m", input: "1+1?", store: false, tools });
    const done = first.at(-1);
    assert.ok(done?.type === "response.completed");
    const [call] = done.response.output;
    assert.ok(call?.type === "function_call");
    const output = { type: "function_call_output" as const, call_id: call.call_id, output: "2" };
    const second = await turn(socket, {
      model: "m",
      store: false,
      tools,
      input: [output],
      previous_response_id: done.response.id,
    });
    const end = second.at(-1);
    assert.ok(end?.type === "response.completed");
    assert.equal(end.response.output_text, "Two.");
  });

  it("reports errors in the client's own form", async (t) => {
    const server = await startSocketServer(t, script());
    const socket = new ResponsesWS(clientOf(server));
    t.after(() => socket.close());
    const asked = { model: "m", input: "Hi", previous_response_id: "resp_none" };
    await assert.rejects(turn(socket, asked), (error: Error & { error?: unknown }) => {
      const { error: body } = error.error as { error: { code: string } };
      return body.code === "previous_response_not_found" && /resp_none/.test(error.message);
    });
  });

  it("the official client steers a response over a socket", async (t) => {
    const model = createHeldModel((text) => reply.text(`${text}!`));
    const server = await startSocketServer(t, model.engine);
    const socket = new ResponsesWS(clientOf(server));
    t.after(() => socket.close());
    socket.on("response.created", ({ response }) => {
      if (response.previous_response_id) return model.release("Go on");
      socket.send({
        type: "response.steer",
        previous_response_id: response.id,
        input: "Go on",
      });
    });
    socket.on("response.steer.accepted", () => model.release("Begin"));
    const texts = await new Promise<string[]>((resolve) => {
      const ended: string[] = [];
      socket.on("response.completed", ({ response }) => {
        if (ended.push(response.output_text) === 2) resolve(ended);
      });
      socket.send({ type: "response.create", model: "m", input: "Begin" });
    });
    assert.deepEqual(texts, ["Begin!", "Go on!"]);
  });
});
