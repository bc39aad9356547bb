import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond, script } from "../../../src/testing/index.ts";
import {
  createHeldModel,
  lastAsked,
  type SocketEvent,
  startSocketServer,
} from "./socket-fixture.ts";

const idOf = (events: readonly SocketEvent[]): string => events.at(-1)?.response?.id ?? "";
const textOf = (events: readonly SocketEvent[]): string =>
  events.at(-1)?.response?.output_text ?? "";

describe("a turn on a socket", () => {
  it("tells the events that a stream of HTTP has, each as a message", async (t) => {
    const server = await startSocketServer(
      t,
      respond(() => reply.text("One two three.")),
    );
    const socket = await server.connect();
    const events = await socket.turn({ input: "Count" });
    const streamed = await server.stream({ input: "Count" });
    assert.deepEqual(
      events.map(({ type, sequence_number }) => [type, sequence_number]),
      streamed.map(({ type, sequence_number }) => [type, sequence_number]),
    );
    assert.equal(textOf(events), "One two three.");
    const kept = await server.ask("GET", `/v1/responses/${idOf(events)}`);
    assert.deepEqual(kept, { status: 200, body: events.at(-1)?.response });
  });

  it("takes the body in a field of its own, and what only HTTP has a use for", async (t) => {
    const server = await startSocketServer(t, script(reply.text("Hello.")));
    const socket = await server.connect();
    const response = { input: "Hi", stream: false, stream_options: null, background: false };
    const events = await socket.turn({ event_id: "event_1", response });
    assert.equal(textOf(events), "Hello.");
    assert.deepEqual(events.at(-1)?.response, {
      ...events.at(-1)?.response,
      metadata: {},
      background: false,
    });
  });

  it("continues a response that is not stored, and a stored one", async (t) => {
    const server = await startSocketServer(
      t,
      script(reply.text("A."), reply.text("B."), reply.text("C."), reply.text("D.")),
    );
    const socket = await server.connect();
    const first = await socket.turn({ input: "1", store: true });
    const second = await socket.turn({
      input: "2",
      store: false,
      previous_response_id: idOf(first),
    });
    const third = await socket.turn({
      input: "3",
      store: false,
      previous_response_id: idOf(second),
    });
    assert.equal(third.at(-1)?.response?.previous_response_id, idOf(second));
    const whole = ["user: 1", "assistant: A.", "user: 2", "assistant: B.", "user: 3"];
    assert.deepEqual(lastAsked(server), whole);
    const fourth = await socket.turn({
      input: "4",
      store: true,
      previous_response_id: idOf(third),
    });
    assert.deepEqual(lastAsked(server), [...whole, "assistant: C.", "user: 4"]);
    assert.equal((await server.ask("GET", `/v1/responses/${idOf(fourth)}`)).status, 200);
    assert.equal((await server.ask("GET", `/v1/responses/${idOf(third)}`)).status, 404);
  });

  it("continues with a call's result", async (t) => {
    const call = reply.calls([{ name: "add", arguments: { a: 1 }, call_id: "call_1" }]);
    const server = await startSocketServer(
      t,
      script(reply.reasoning("Adding.", call), reply.text("2")),
    );
    const socket = await server.connect();
    const tools = [{ type: "function", name: "add", parameters: { type: "object" } }];
    const first = await socket.turn({ input: "1+1", store: false, tools });
    const output = { type: "function_call_output", call_id: "call_1", output: "2" };
    const second = await socket.turn({
      input: [output],
      store: false,
      tools,
      previous_response_id: idOf(first),
    });
    assert.equal(textOf(second), "2");
    assert.deepEqual(lastAsked(server), ["user: 1+1", "assistant: ", "tool: 2"]);
  });

  it("remembers for its own connection alone, and only the last response", async (t) => {
    const server = await startSocketServer(
      t,
      respond(() => reply.text("Yes.")),
    );
    const socket = await server.connect();
    const other = await server.connect();
    const first = await socket.turn({ input: "1", store: false });
    const asked = { input: "2", store: false, previous_response_id: idOf(first) };
    const [refused] = await other.turn(asked);
    assert.equal(refused?.error?.code, "previous_response_not_found");
    assert.equal(refused?.status, 400);
    assert.equal(refused?.error?.param, "previous_response_id");
    assert.equal((await socket.turn(asked)).at(-1)?.type, "response.completed");
    assert.equal((await socket.turn(asked)).at(-1)?.error?.code, "previous_response_not_found");
  });

  it("forgets what a failed turn continued", async (t) => {
    const server = await startSocketServer(
      t,
      script(reply.text("Yes."), reply.status(400, "{}"), reply.text("No.")),
    );
    const socket = await server.connect();
    const first = await socket.turn({ input: "1", store: false });
    const asked = { input: "2", store: false, previous_response_id: idOf(first) };
    const failed = await socket.turn(asked);
    assert.equal(failed.at(-1)?.type, "error");
    assert.equal(failed.at(-1)?.status, 400);
    const [refused] = await socket.turn(asked);
    assert.equal(refused?.error?.code, "previous_response_not_found");
    const fresh = await socket.turn({ input: "All of it", store: false });
    assert.equal(textOf(fresh), "No.");
  });

  it("prepares a turn without an answer, and asks the model nothing", async (t) => {
    const server = await startSocketServer(t, script(reply.text("Hello.")));
    const socket = await server.connect();
    const warm = await socket.turn({
      model: "m",
      input: "Hi",
      store: false,
      generate: false,
      instructions: "Short.",
    });
    assert.deepEqual(
      warm.map(({ type }) => type),
      ["response.created", "response.in_progress", "response.completed"],
    );
    assert.deepEqual(warm.at(-1)?.response?.output, []);
    assert.equal(warm.at(-1)?.response?.usage?.total_tokens, 0);
    assert.equal(server.upstream.requests.length, 0);
    const asked = { model: "m", input: [], store: false, instructions: "Short." };
    const events = await socket.turn({ ...asked, previous_response_id: idOf(warm) });
    assert.equal(textOf(events), "Hello.");
    assert.deepEqual(lastAsked(server), ["system: Short.", "user: Hi"]);
    const unknown = await socket.turn({ generate: false, previous_response_id: "resp_none" });
    assert.equal(unknown[0]?.error?.code, "previous_response_not_found");
  });

  it("answers a mistake with an error, and continues", async (t) => {
    const server = await startSocketServer(t, script(reply.text("Hello.")));
    const socket = await server.connect();
    const wrong: [unknown, string, string | null][] = [
      ["{", "invalid_request", null],
      ["[]", "invalid_request", "type"],
      [{ type: "response.cancel" }, "invalid_request", "type"],
      [{ type: "response.create" }, "invalid_request", "input"],
      [{ type: "response.create", input: 7 }, "invalid_request", "input"],
      [{ type: "response.create", input: "x", stream_id: 7 }, "invalid_request", "stream_id"],
      ["[".repeat(500), "invalid_request", null],
    ];
    for (const [message, code, param] of wrong) {
      socket.send(message);
      const { type, status, error } = await socket.next();
      assert.deepEqual({ type, status }, { type: "error", status: 400 });
      assert.equal(error?.code, code, JSON.stringify(message));
      assert.equal(error?.param, param, JSON.stringify(message));
      assert.equal(error?.type, "invalid_request_error");
    }
    socket.raw.send(Buffer.from("{}"), { binary: true });
    assert.equal((await socket.next()).error?.message, "Messages must be text.");
    socket.send({ type: "response.processed", response_id: "resp_1" });
    assert.equal(textOf(await socket.turn({ input: "Hi" })), "Hello.");
  });
});

describe("the streams of a socket", () => {
  it("runs turns of one stream in order, and those of another beside them", async (t) => {
    const model = createHeldModel((text) => reply.text(`${text}!`));
    const server = await startSocketServer(t, model.engine);
    const socket = await server.connect();
    const ask = (input: string, stream_id?: string): void =>
      socket.send({ type: "response.create", input, store: false, stream_id });
    ask("a1", "a");
    ask("a2", "a");
    ask("b1", "b");
    await Promise.all([model.asked("a1"), model.asked("b1")]);
    for (const text of ["a2", "b1"]) model.release(text);
    const first = await socket.until("response.completed");
    assert.equal(textOf(first), "b1!");
    model.release("a1");
    assert.equal(textOf(await socket.until("response.completed")), "a1!");
    const last = await socket.until("response.completed");
    assert.equal(textOf(last), "a2!");
    assert.ok(last.every(({ stream_id }) => stream_id === "a"));
  });

  it("forks a new stream from a response of another", async (t) => {
    const server = await startSocketServer(
      t,
      respond(() => reply.text("Yes.")),
    );
    const socket = await server.connect();
    const parent = await socket.turn({ input: "1", store: false, stream_id: "main" });
    const child = { input: "2", store: false, previous_response_id: idOf(parent) };
    for (const stream_id of ["x", "y"]) await socket.turn({ ...child, stream_id });
    assert.deepEqual(lastAsked(server), ["user: 1", "assistant: Yes.", "user: 2"]);
  });

  it("refuses more streams and more waiting messages than it takes", async (t) => {
    const model = createHeldModel((text) => reply.text(text));
    const settings = { maxStreams: 2, maxWaiting: 1 };
    const server = await startSocketServer(t, model.engine, { socket: { settings } });
    const socket = await server.connect();
    const ask = (input: string, stream_id: string): void =>
      socket.send({ type: "response.create", input, stream_id });
    ask("a", "1");
    ask("b", "2");
    ask("c", "3");
    const { error, stream_id } = (await socket.until("error")).at(-1) ?? {};
    assert.deepEqual([error?.code, stream_id], ["websocket_stream_limit_reached", "3"]);
    ask("waits", "1");
    ask("too many", "1");
    assert.equal((await socket.until("error")).at(-1)?.status, 429);
    for (const text of ["a", "b", "waits"]) model.release(text);
    for (let count = 0; count < 3; count++) await socket.until("response.completed");
  });
});
