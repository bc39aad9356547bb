/**
 * What the Open Responses standard's own suite asks of a server, case by case and with the same meaning,
 * over HTTP and WebSocket. Each answer is held against both descriptions besides.
 */

import assert from "node:assert/strict";
import { it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { type Reply, reply } from "../../src/testing/index.ts";
import { readEvents } from "../server/server-bench.ts";
import { connectSocket, type SocketEvent } from "../server/socket/socket-bench.ts";
import { checkEvents, checkResponse } from "./check.ts";
import { findFaults } from "./oracles.ts";
import { createPdf } from "./pdf.ts";

/** The tests; `url` gives the server's address once it listens. */
export function describeOpenResponses(url: () => string): void {
  for (const [what, { body, type }] of Object.entries(PLAIN)) {
    describePlain(url, { what, body, type });
  }
  describeHttp(url);
  describeSocket(url);
}

/** A model for it: calls what it is offered, and else says something. */
export function answerOpenResponses({ tools }: ModelRequest): Reply {
  const [tool] = tools;
  if (tool?.type !== "function") return reply.text("Hello there, friend.");
  return reply.calls([{ name: tool.name, arguments: { location: "San Francisco, CA" } }]);
}

const user = (content: unknown): object => ({ type: "message", role: "user", content });

const WEATHER = {
  ...{ type: "function", name: "get_weather", description: "Current weather of a place" },
  parameters: {
    type: "object",
    properties: { location: { type: "string", description: "City and state" } },
    required: ["location"],
  },
};

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Plain requests that must end well, and what must be in the answer. */
const PLAIN: Readonly<Record<string, { readonly body: object; readonly type: string }>> = {
  "a message": { body: { input: [user("Say hello in three words.")] }, type: "message" },
  "a message of the system before it": {
    body: {
      input: [
        { type: "message", role: "system", content: "You are a pirate." },
        user("Say hello."),
      ],
    },
    type: "message",
  },
  "a tool to call": {
    body: { input: [user("What is the weather in San Francisco, CA?")], tools: [WEATHER] },
    type: "function_call",
  },
  "a picture": {
    body: {
      input: [
        user([
          { type: "input_text", text: "What is in this picture?" },
          { type: "input_image", image_url: `data:image/png;base64,${PIXEL}` },
        ]),
      ],
    },
    type: "message",
  },
  "a document": {
    body: {
      input: [
        user([
          { type: "input_text", text: "What is its title?" },
          {
            ...{ type: "input_file", filename: "fixture.pdf" },
            file_data: `data:application/pdf;base64,${createPdf("A Title")}`,
          },
        ]),
      ],
    },
    type: "message",
  },
  "a conversation of several turns": {
    body: {
      input: [
        user("My name is Alice."),
        { type: "message", role: "assistant", content: "Hello Alice!" },
        user("What is my name?"),
      ],
    },
    type: "message",
  },
};

function describePlain(
  url: () => string,
  { what, body, type }: { what: string; body: object; type: string },
): void {
  it(`answers ${what}`, async () => {
    const made = await create(url(), body);
    assert.ok(made.output.some((item) => item.type === type));
  });

  it(`streams the answer to ${what}`, async () => {
    const events = readEvents(await post(url(), { ...body, stream: true }, EVENT_STREAM));
    checkEvents(events);
    assert.equal(events.at(-1)?.type, "response.completed");
  });
}

function describeHttp(url: () => string): void {
  it("goes on with an earlier response", async () => {
    const first = await create(url(), { input: "Remember the word papaya." });
    const more = { previous_response_id: first.id, input: "Which word?" };
    assert.equal((await create(url(), more)).previous_response_id, first.id);
  });

  it("takes the result of a call that it has asked for", async () => {
    const tool_choice = { type: "function", name: WEATHER.name };
    const asked = { input: "The weather in San Francisco, CA?", tools: [WEATHER], tool_choice };
    const first = await create(url(), asked);
    const call = first.output.find((item) => item.type === "function_call");
    assert.ok(call?.type === "function_call");
    const result = { type: "function_call_output", call_id: call.call_id, output: "64 degrees" };
    const second = await create(url(), { previous_response_id: first.id, input: [result] });
    assert.ok(second.output.some(({ type }) => type === "message"));
  });

  it("does not fail for a search that it is not allowed to make", async () => {
    const tools = [{ type: "web_search", external_web_access: false }];
    await create(url(), { input: "What is new?", tools, tool_choice: { type: "web_search" } });
  });

  it("ends a stream with [DONE], repeats the type as the event's name and gives no ids", async () => {
    const text = await post(url(), { input: "Count from 1 to 5.", stream: true }, EVENT_STREAM);
    const frames = text.split("\n\n").slice(0, -1);
    assert.equal(frames.at(-1), "data: [DONE]");
    for (const frame of frames.slice(0, -1)) {
      const [, name] = /^event: (.+)\ndata: /.exec(frame) ?? [];
      const data = frame.slice(frame.indexOf("data: ") + "data: ".length);
      assert.equal((JSON.parse(data) as { type: string }).type, name);
    }
  });
}

/** A plain answer, valid and completed. */
async function create(url: string, body: object): Promise<EmittedResponse> {
  const made = JSON.parse(await post(url, body, "application/json")) as EmittedResponse;
  checkResponse(made);
  assert.equal(made.status, "completed");
  return made;
}

const EVENT_STREAM = "text/event-stream";

async function post(url: string, body: object, type: string): Promise<string> {
  const init = { method: "POST", body: JSON.stringify(body) };
  const answered = await fetch(`${url}/v1/responses`, init);
  const text = await answered.text();
  assert.equal(answered.status, 200, text);
  assert.ok(answered.headers.get("content-type")?.startsWith(type));
  return text;
}

function describeSocket(url: () => string): void {
  it("answers over a WebSocket, with the events of a stream", async () => {
    const [events] = await session(url(), [{ input: [user("Count from 1 to 3.")] }]);
    completed(events);
  });

  it("answers one after the other on one WebSocket", async () => {
    const turns = await session(url(), [
      { store: false, input: "Say: first" },
      { store: false, input: "Say: second" },
    ]);
    const ids = turns.map((events) => completed(events).id);
    assert.equal(new Set(ids).size, 2);
  });

  it("goes on with a response that is not stored, on its own WebSocket", async () => {
    const [, second] = await session(url(), [
      { store: false, input: "Remember the word cobalt." },
      (first) => ({ store: false, previous_response_id: first, input: "Which word?" }),
    ]);
    completed(second);
  });

  it("takes in a request that is not to be answered yet", async () => {
    const [warm, second] = await session(url(), [
      { store: false, generate: false, input: "Get ready." },
      (first) => ({ store: false, previous_response_id: first, input: "Now." }),
    ]);
    assert.deepEqual(completed(warm).output, []);
    assert.ok(completed(second).output.length > 0);
  });

  it("says which earlier response it does not know", async () => {
    const missing = "resp_missing_for_certain";
    const [events] = await session(url(), [
      { store: false, previous_response_id: missing, input: "Go on." },
    ]);
    assert.equal(errorOf(events), "previous_response_not_found");
  });

  it("forgets a response that was gone on with in vain", async () => {
    const output = { type: "function_call_output", call_id: "call_missing", output: "Nothing." };
    const [first, failed, again] = await session(url(), [
      { store: false, input: "Remember the word ember." },
      (id) => ({ store: false, previous_response_id: id, input: [output] }),
      (id) => ({ store: false, previous_response_id: id, input: "Go on." }),
    ]);
    completed(first);
    const { type } = failed?.at(-1) ?? assert.fail();
    assert.ok(type === "error" || type === "response.failed", type);
    assert.equal(errorOf(again), "previous_response_not_found");
  });
}

/** A request, or one that names the response of the first turn. */
type Step = object | ((firstId: string) => object);

async function session(url: string, steps: readonly Step[]): Promise<SocketEvent[][]> {
  const socket = await connectSocket(url);
  const turns: SocketEvent[][] = [];
  for (const step of steps) {
    const first = turns[0]?.at(-1)?.response?.id ?? "";
    const body = typeof step === "function" ? step(first) : step;
    const events = { type: "response.create", model: "unused", ...body };
    const { model: _, ...checked } = events;
    assert.deepEqual(findFaults("open-responses", "WebSocketResponseCreateEvent", events), []);
    turns.push(await socket.turn(checked));
  }
  socket.raw.close();
  return turns;
}

function completed(events: readonly SocketEvent[] | undefined): EmittedResponse {
  checkEvents(events ?? []);
  const response = events?.at(-1)?.response as unknown as EmittedResponse;
  checkResponse(response);
  assert.equal(response.status, "completed");
  return response;
}

/** The code of a turn that failed, in the standard's own envelope. */
function errorOf(events: readonly SocketEvent[] | undefined): string | undefined {
  const last = events?.at(-1);
  assert.equal(last?.type, "error", JSON.stringify(last));
  assert.deepEqual(findFaults("open-responses", "WebSocketErrorEvent", last), []);
  return last?.error?.code;
}
