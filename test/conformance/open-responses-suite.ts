/**
 * The cases of the Open Responses standard's own suite, with the same meaning, over HTTP and WebSocket.
 * Each answer is also checked against both descriptions. Tests with an id in brackets are the suite's own
 * cases; the others test more of the same.
 */

import assert from "node:assert/strict";
import { it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { type Reply, reply } from "../../src/testing/index.ts";
import { readEvents } from "../server/server-fixture.ts";
import { connectSocket, type SocketEvent } from "../server/socket/socket-fixture.ts";
import { checkError, checkEvents, checkResponse } from "./check.ts";
import { findFaults } from "./oracles.ts";
import { createPdf } from "./pdf.ts";

/** The server's address, and the model of every request. */
export interface SuiteServer {
  readonly url: string;
  readonly model: string;
}

/** The tests; `server` is called once it listens. */
export function describeOpenResponses(server: () => SuiteServer): void {
  for (const [id, { name, run }] of Object.entries(CASES)) {
    it(`${name} (${id})`, () => run(server()));
  }
  for (const [what, { body, type }] of Object.entries(PLAIN)) {
    it(`answers ${what}`, () => answers(server(), body, type));
    it(`streams the answer to ${what}`, () => streams(server(), body));
  }
  describeMore(server);
}

/** A model for it: calls the offered tools, or else answers with text. */
export function answerOpenResponses({ tools }: ModelRequest): Reply {
  const [tool] = tools;
  if (tool?.type !== "function") return reply.text("Hello there, friend.");
  return reply.calls([{ name: tool.name, arguments: { location: "San Francisco, CA" } }]);
}

const user = (content: unknown): object => ({ type: "message", role: "user", content });

const WEATHER = {
  type: "function",
  name: "get_weather",
  description: "Current weather of a place",
  parameters: {
    type: "object",
    properties: { location: { type: "string", description: "City and state" } },
    required: ["location"],
  },
};

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const SYSTEM = [
  { type: "message", role: "system", content: "You are a pirate." },
  user("Say hello."),
];

const PICTURE = [
  user([
    { type: "input_text", text: "What is in this picture?" },
    { type: "input_image", image_url: `data:image/png;base64,${PIXEL}` },
  ]),
];

const TURNS = [
  user("My name is Alice."),
  { type: "message", role: "assistant", content: "Hello Alice!" },
  user("What is my name?"),
];

/** An assistant's intermediate and final answers. */
const PHASES = ["commentary", "final_answer"] as const;

const said = (phase: string): object => ({
  type: "message",
  role: "assistant",
  phase,
  content: `The ${phase}: four.`,
});

const ASKS_WEATHER = {
  input: [user("What is the weather in San Francisco, CA?")],
  tools: [WEATHER],
};

interface SuiteCase {
  readonly name: string;
  readonly run: (server: SuiteServer) => Promise<void>;
}

/** The cases of the suite by its own ids. */
const CASES = {
  "basic-response": {
    name: "answers a message",
    run: (server) => answers(server, { input: [user("Say hello in three words.")] }),
  },
  "assistant-phase": {
    name: "takes what an assistant said on its way, and at last",
    run: (server) => answers(server, { input: [...PHASES.map(said), user("Repeat the number.")] }),
  },
  "response-output-phase-schema": {
    name: "describes answers that tell on their way from at last",
    run: async (server) => {
      const made = await create(server, { input: "Say hello." });
      const message = made.output.find(({ type }) => type === "message") ?? assert.fail();
      checkResponse({ ...made, output: PHASES.map((phase) => ({ ...message, phase })) });
    },
  },
  "streaming-response": {
    name: "streams an answer",
    run: (server) => streams(server, { input: [user("Count from 1 to 5.")] }),
  },
  "websocket-response": {
    name: "answers over a WebSocket, with the events of a stream",
    run: async (server) => {
      const [events] = await session(server, [{ input: [user("Count from 1 to 3.")] }]);
      completed(events);
    },
  },
  "websocket-sequential-responses": {
    name: "answers one after the other on one WebSocket",
    run: async (server) => {
      const turns = await session(server, [
        { store: false, input: "Say: first" },
        { store: false, input: "Say: second" },
      ]);
      assert.equal(new Set(turns.map((events) => completed(events).id)).size, 2);
    },
  },
  "websocket-continuation": {
    name: "continues a response that is not stored, on its own WebSocket",
    run: async (server) => {
      const [, second] = await session(server, [
        { store: false, input: "Remember the word cobalt." },
        (first) => ({ store: false, previous_response_id: first, input: "Which word?" }),
      ]);
      completed(second);
    },
  },
  "websocket-reconnect-store-false-recovery": {
    name: "does not know a response that is not stored on another WebSocket, which stays open",
    run: async (server) => {
      const [lost] = await session(server, [{ store: false, input: "Remember: copper." }]);
      const previous_response_id = completed(lost).id;
      const [refused, recovered] = await session(server, [
        { store: false, previous_response_id, input: "Go on." },
        { store: false, input: [user("Begin again.")] },
      ]);
      assert.equal(errorOf(refused), "previous_response_not_found");
      completed(recovered);
    },
  },
  "websocket-generate-false": {
    name: "takes in a request that is not to be answered yet",
    run: async (server) => {
      const [warm, second] = await session(server, [
        { store: false, generate: false, input: "Get ready." },
        (first) => ({ store: false, previous_response_id: first, input: "Now." }),
      ]);
      assert.deepEqual(completed(warm).output, []);
      assert.ok(completed(second).output.length > 0);
    },
  },
  "websocket-previous-response-not-found": {
    name: "says which earlier response it does not know",
    run: async (server) => {
      const previous_response_id = "resp_missing_for_certain";
      const [events] = await session(server, [
        { store: false, previous_response_id, input: "Go on." },
      ]);
      assert.equal(errorOf(events), "previous_response_not_found");
    },
  },
  "websocket-failed-continuation-evicts-cache": {
    name: "forgets a response that was gone on with in vain",
    run: forgetsAfterFailure,
  },
  "websocket-compact-new-chain": {
    name: "begins a WebSocket's conversation with a compacted one",
    run: async (server) => {
      const { output } = await compact(server, { input: TURNS });
      const input = [...output, user("Go on from here.")];
      const step = { store: false, input, tools: [] };
      const [events] = await session(server, [step], { isChecked: false });
      completed(events);
    },
  },
  "system-prompt": {
    name: "answers under a message of the system",
    run: (server) => answers(server, { input: SYSTEM }),
  },
  "tool-calling": {
    name: "calls a tool that it is offered",
    run: (server) => answers(server, ASKS_WEATHER, "function_call"),
  },
  "image-input": {
    name: "answers a question about a picture",
    run: (server) => answers(server, { input: PICTURE }),
  },
  "multi-turn": {
    name: "answers in a conversation of several turns",
    run: (server) => answers(server, { input: TURNS }),
  },
  "compact-response": {
    name: "compacts a conversation",
    run: async (server) => {
      const input = TURNS.slice(0, 2);
      const { output } = await compact(server, { input, prompt_cache_key: "suite" });
      assert.ok(output.some(({ type }) => type === "compaction"));
    },
  },
  "compact-missing-model": {
    name: "refuses to compact without a model",
    run: async ({ url }) => {
      const answered = await send(url, "/responses/compact", { input: TURNS });
      const body = JSON.parse(answered.text) as unknown;
      checkError({ status: answered.status, body }, { status: 400, param: "model" });
    },
  },
} as const satisfies Record<string, SuiteCase>;

/** Requests beyond the suite, sent plain and streamed, and the required content of the answer. */
const PLAIN: Readonly<Record<string, { readonly body: object; readonly type: string }>> = {
  "a message of the system before it": { body: { input: SYSTEM }, type: "message" },
  "a tool to call": { body: ASKS_WEATHER, type: "function_call" },
  "a picture": { body: { input: PICTURE }, type: "message" },
  "a conversation of several turns": { body: { input: TURNS }, type: "message" },
  "a document": {
    body: {
      input: [
        user([
          { type: "input_text", text: "What is its title?" },
          {
            type: "input_file",
            filename: "fixture.pdf",
            file_data: `data:application/pdf;base64,${createPdf("A Title")}`,
          },
        ]),
      ],
    },
    type: "message",
  },
};

async function answers(server: SuiteServer, body: object, type = "message"): Promise<void> {
  const made = await create(server, body);
  assert.ok(made.output.some((item) => item.type === type));
}

async function streams(server: SuiteServer, body: object): Promise<void> {
  const events = readEvents(await post(server, { ...body, stream: true }, EVENT_STREAM));
  checkEvents(events);
  const last = events.at(-1);
  assert.ok(last?.type === "response.completed");
  checkResponse(last.response);
}

async function forgetsAfterFailure(server: SuiteServer): Promise<void> {
  const output = { type: "function_call_output", call_id: "call_missing", output: "Nothing." };
  const [first, failed, again] = await session(server, [
    { store: false, input: "Remember the word ember." },
    (id) => ({ store: false, previous_response_id: id, input: [output] }),
    (id) => ({ store: false, previous_response_id: id, input: "Go on." }),
  ]);
  completed(first);
  const { type } = failed?.at(-1) ?? assert.fail();
  assert.ok(type === "error" || type === "response.failed", type);
  assert.equal(errorOf(again), "previous_response_not_found");
}

function describeMore(server: () => SuiteServer): void {
  it("continues an earlier response", async () => {
    const first = await create(server(), { input: "Remember the word papaya." });
    const more = { previous_response_id: first.id, input: "Which word?" };
    assert.equal((await create(server(), more)).previous_response_id, first.id);
  });

  it("accepts the result of a call that it has made", async () => {
    const tool_choice = { type: "function", name: WEATHER.name };
    const first = await create(server(), { ...ASKS_WEATHER, tool_choice });
    const call = first.output.find((item) => item.type === "function_call");
    assert.ok(call?.type === "function_call");
    const result = { type: "function_call_output", call_id: call.call_id, output: "64 degrees" };
    const second = await create(server(), { previous_response_id: first.id, input: [result] });
    assert.ok(second.output.some(({ type }) => type === "message"));
  });

  it("does not fail for a search that it must not make", async () => {
    const tools = [{ type: "web_search", external_web_access: false }];
    const tool_choice = { type: "web_search" };
    await create(server(), { input: "What is new?", tools, tool_choice });
  });

  it("ends a stream with [DONE], repeats the type as the event's name and sends no ids", async () => {
    const text = await post(server(), { input: "Count from 1 to 5.", stream: true }, EVENT_STREAM);
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
async function create(server: SuiteServer, body: object): Promise<EmittedResponse> {
  const made = JSON.parse(await post(server, body, "application/json")) as EmittedResponse;
  checkResponse(made);
  assert.equal(made.status, "completed");
  return made;
}

/** A compacted conversation, by the standard's description of it. */
async function compact(
  { url, model }: SuiteServer,
  body: object,
): Promise<{ readonly output: readonly { readonly type: string }[] }> {
  const { status, text } = await send(url, "/responses/compact", { model, ...body });
  assert.equal(status, 200, text);
  const made = JSON.parse(text) as Awaited<ReturnType<typeof compact>>;
  assert.deepEqual(findFaults("open-responses", "CompactResource", made), []);
  return made;
}

const EVENT_STREAM = "text/event-stream";

async function post({ url, model }: SuiteServer, body: object, type: string): Promise<string> {
  const { status, text, contentType } = await send(url, "/responses", { model, ...body });
  assert.equal(status, 200, text);
  assert.ok(contentType?.startsWith(type));
  return text;
}

async function send(
  url: string,
  path: string,
  body: object,
): Promise<{ status: number; text: string; contentType: string | null }> {
  const init = { method: "POST", body: JSON.stringify(body) };
  const answered = await fetch(`${url}/v1${path}`, init);
  const contentType = answered.headers.get("content-type");
  return { status: answered.status, text: await answered.text(), contentType };
}

/** A request, or one that names the response of the first turn. */
type Step = object | ((firstId: string) => object);

/** The turns of one WebSocket. Compacted items are sent back unchanged, in any form: not checked. */
async function session(
  { url, model }: SuiteServer,
  steps: readonly Step[],
  { isChecked = true }: { readonly isChecked?: boolean } = {},
): Promise<SocketEvent[][]> {
  const socket = await connectSocket(url);
  const turns: SocketEvent[][] = [];
  for (const step of steps) {
    const first = turns[0]?.at(-1)?.response?.id ?? "";
    const body = typeof step === "function" ? step(first) : step;
    const event = { type: "response.create", model, ...body };
    const faults = findFaults("open-responses", "WebSocketResponseCreateEvent", event);
    if (isChecked) assert.deepEqual(faults, []);
    turns.push(await socket.turn(event));
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

/** The code of a failed turn, in the standard's own envelope. */
function errorOf(events: readonly SocketEvent[] | undefined): string | undefined {
  const last = events?.at(-1);
  assert.equal(last?.type, "error", JSON.stringify(last));
  assert.deepEqual(findFaults("open-responses", "WebSocketErrorEvent", last), []);
  return last?.error?.code;
}
