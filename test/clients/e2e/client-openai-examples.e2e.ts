/**
 * The published examples of the `openai` package (its folder `examples/responses`), as programs of our own
 * that make the same calls to the built server. The table is the complete list of those that use a server.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import OpenAI from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
import { ResponsesWebSocketSession } from "openai/lib/responses/responses-websocket-session";
import type { BetaResponseStreamEvent } from "openai/resources/beta/responses/responses";
import { ResponsesWS as BetaResponsesWS } from "openai/resources/beta/responses/ws";
import type {
  FunctionTool,
  ResponseInput,
  ResponseInputItem,
  ResponseStreamEvent,
  ResponsesClientEvent,
} from "openai/resources/responses/responses";
import { ResponsesWS } from "openai/resources/responses/ws";
import { z } from "zod";
import { type Reply, reply, type Script, script } from "../../../src/testing/index.ts";
import { patience } from "../../patience.ts";
import { play, spawn, wait } from "../../server/team-fixture.ts";
import { type ClientBench, KEY, serveScript, TIMEOUT } from "./client-fixture.ts";

const model = "scripted";
const SOLVED = "Subtract 31 on both sides, then divide by 8: x is -29/8.";
const input = "Solve 8x + 31 = 2.";

interface Example {
  /** The model's answers. */
  readonly engine: () => Script;
  readonly run: (client: OpenAI, bench: ClientBench) => Promise<void>;
}

const saying =
  (...replies: readonly Reply[]) =>
  (): Script =>
    script(...replies);

/** The first nine are the older ones. */
const EXAMPLES = {
  "non-stream": { engine: saying(reply.text(SOLVED)), run: asksForLikelihoods },
  stream: { engine: saying(reply.text(SOLVED)), run: streamsTwice },
  stream_background: { engine: saying(reply.text(SOLVED)), run: resumesFromTheTenth },
  "streaming-tools": { engine: () => script(callQuery()), run: streamsCalls },
  "structured-outputs": { engine: () => script(reply.text(JSON.stringify(STEPS))), run: parses },
  "structured-outputs-tools": { engine: () => script(callQuery()), run: parsesCalls },
  websocket: { engine: () => script(...stockReplies()), run: talksOverSocket },
  "multi-agent-streaming": { engine: () => createTeam(), run: streamsTeam },
  "multi-agent-websocket": { engine: () => createTeam(), run: streamsTeamOverSocket },
  logprobs: { engine: saying(reply.text("x is -29/8.")), run: readsLikelihoods },
  "manual-conversation-state": {
    engine: saying(
      reply.reasoning("Trial division.", reply.text("def is_prime(n): ...")),
      reply.text("def is_prime(n: int) -> bool: ..."),
    ),
    run: keepsItsOwnState,
  },
  "websocket-session": {
    engine: saying(reply.text("Noted."), reply.text("Tuesday.")),
    run: talksInLanes,
  },
} as const satisfies Record<string, Example>;

describe("the published examples of the openai package", () => {
  for (const [name, { engine, run }] of Object.entries(EXAMPLES)) {
    it(`${name} runs`, TIMEOUT, async () => {
      await using bench = await serveScript(engine());
      await run(new OpenAI({ baseURL: bench.baseURL, apiKey: KEY, maxRetries: 0 }), bench);
    });
  }
});

const LIKELIHOODS = { include: ["message.output_text.logprobs" as const], top_logprobs: 20 };

async function asksForLikelihoods({ responses }: OpenAI): Promise<void> {
  const result = await responses.create({ model, input, ...LIKELIHOODS });
  assert.equal(result.output_text, SOLVED);
  assert.equal(result.top_logprobs, 20);
}

async function readsLikelihoods({ responses }: OpenAI): Promise<void> {
  const { output } = await responses.create({ model, input, ...LIKELIHOODS });
  const [message] = output;
  assert.ok(message?.type === "message");
  const [part] = message.content;
  assert.ok(part?.type === "output_text");
  const [first] = part.logprobs ?? [];
  assert.equal(first?.top_logprobs.length, 20);
  assert.ok(part.text.startsWith(first.token));
  assert.ok(first.logprob < 0);
  assert.deepEqual(first.bytes, [...Buffer.from(first.token)]);
}

async function streamsTwice({ responses }: OpenAI): Promise<void> {
  const heard: string[] = [];
  let said = "";
  const runner = responses
    .stream({ model, input })
    .on("event", ({ type }) => heard.push(type))
    .on("response.output_text.delta", ({ delta }) => {
      said += delta;
    });
  const read: string[] = [];
  for await (const { type } of runner) read.push(type);
  const result = await runner.finalResponse();
  assert.equal(result.status, "completed");
  assert.deepEqual([said, result.output_text], [SOLVED, SOLVED]);
  assert.deepEqual(heard, read);
}

async function resumesFromTheTenth({ responses }: OpenAI): Promise<void> {
  const whole: ResponseStreamEvent[] = [];
  let id = "";
  for await (const event of responses.stream({ model, input, background: true })) {
    if (event.type === "response.created") id = event.response.id;
    whole.push(event);
    if (event.sequence_number === 10) break;
  }
  const runner = responses.stream({ response_id: id, starting_after: 10 });
  for await (const event of runner) whole.push(event);
  assert.deepEqual(
    whole.map(({ sequence_number }) => sequence_number),
    whole.map((_, at) => at),
  );
  assert.ok(whole.length > 12);
  const result = await runner.finalResponse();
  assert.deepEqual([result.status, result.output_text], ["completed", SOLVED]);
  assert.equal(result.background, true);
}

const Column = z.enum(["id", "status", "shipped_at", "delivered_at"]);
const Query = z.object({
  table: z.enum(["orders", "customers"]),
  columns: z.array(Column),
  conditions: z.array(
    z.object({
      column: Column,
      operator: z.enum(["=", "<", ">"]),
      value: z.union([z.string(), z.number(), z.object({ column_name: Column })]),
    }),
  ),
  order_by: z.enum(["asc", "desc"]),
});
const ASKED: z.infer<typeof Query> = {
  table: "orders",
  columns: ["id"],
  conditions: [{ column: "delivered_at", operator: ">", value: { column_name: "shipped_at" } }],
  order_by: "asc",
};
const QUERY = { model, input: "Which orders came late?" };

function callQuery(): Reply {
  return reply.calls([{ name: "query", arguments: ASKED }]);
}

async function streamsCalls({ responses }: OpenAI): Promise<void> {
  const tools = [zodResponsesFunction({ name: "query", parameters: Query })];
  const stream = responses.stream({ ...QUERY, tools });
  const pieces: string[] = [];
  for await (const event of stream) {
    if (event.type === "response.function_call_arguments.delta") pieces.push(event.delta);
  }
  assert.ok(pieces.length > 1);
  assert.deepEqual(JSON.parse(pieces.join("")), ASKED);
  const [call] = (await stream.finalResponse()).output;
  assert.ok(call?.type === "function_call");
  assert.deepEqual(call.parsed_arguments, ASKED);
}

async function parsesCalls({ responses }: OpenAI, bench: ClientBench): Promise<void> {
  const tools = [zodResponsesFunction({ name: "query", parameters: Query })];
  const [call] = (await responses.parse({ ...QUERY, tools })).output;
  assert.ok(call?.type === "function_call");
  assert.deepEqual(call.parsed_arguments, ASKED);
  const [offered] = bench.asked[0]?.tools ?? [];
  assert.equal(offered?.function["strict"], true);
}

const Steps = z.object({
  steps: z.array(z.object({ explanation: z.string(), output: z.string() })),
  final_answer: z.string(),
});
const STEPS: z.infer<typeof Steps> = {
  steps: [{ explanation: "Subtract 31.", output: "8x = -29" }],
  final_answer: "-29/8",
};

async function parses({ responses }: OpenAI): Promise<void> {
  const format = zodTextFormat(Steps, "math_response");
  const { output_parsed } = await responses.parse({ model, input, text: { format } });
  assert.deepEqual(output_parsed, STEPS);
}

/** Three tools, of which each turn forces one; the call's result is answered with none allowed. */
const STOCK = ["get_stock", "get_arrivals", "get_alerts"] as const;
const STOCK_TOOLS = STOCK.map((name): FunctionTool => {
  const properties = { sku: { type: "string" } };
  const parameters = { type: "object", properties, required: ["sku"], additionalProperties: false };
  return { type: "function", name, strict: true, parameters };
});

function stockReplies(): Reply[] {
  return STOCK.flatMap((name) => [
    reply.calls([{ name, arguments: { sku: "lily-pad" } }]),
    reply.text(`All about ${name}.`),
  ]);
}

async function talksOverSocket(client: OpenAI, bench: ClientBench): Promise<void> {
  const headers = { "OpenAI-Beta": "responses_websockets=2026-02-06" };
  const socket = new ResponsesWS(client, { headers });
  const said: string[] = [];
  let previous_response_id: string | null = null;
  for (const name of STOCK) {
    const forced = { type: "function" as const, name };
    const first = await askOnce(socket, { tool_choice: forced, previous_response_id, input: name });
    const last = await askOnce(socket, {
      tool_choice: "none",
      previous_response_id: first.id,
      input: first.results,
    });
    assert.equal(first.results.length, 1);
    said.push(last.text);
    previous_response_id = last.id;
  }
  socket.close();
  assert.deepEqual(
    said,
    STOCK.map((name) => `All about ${name}.`),
  );
  assert.equal(bench.asked.length, 6);
  assert.equal(bench.asked[5]?.messages.filter(({ role }) => role === "tool").length, 3);
}

interface Turn {
  readonly id: string;
  readonly text: string;
  readonly results: ResponseInput;
}

type Asked = Omit<Extract<ResponsesClientEvent, { type: "response.create" }>, "type">;

/** Sends one request, with `stream` as in the example, and listens until its answer has ended. */
function askOnce(socket: ResponsesWS, asked: Asked): Promise<Turn> {
  return new Promise((resolve, reject) => {
    let text = "";
    const results: ResponseInput = [];
    const listen = (event: { readonly type: string } & object): void => {
      const told = event as ResponseStreamEvent;
      if (told.type === "response.output_text.delta") text += told.delta;
      if (told.type === "response.output_item.done" && told.item.type === "function_call") {
        const { call_id } = told.item;
        results.push({ type: "function_call_output", call_id, output: '{"units":84}' });
      }
      if (told.type !== "response.completed") return;
      socket.off("event", listen);
      resolve({ id: told.response.id, text, results });
    };
    socket.on("event", listen).on("error", reject);
    socket.send({ type: "response.create", model, stream: true, tools: STOCK_TOOLS, ...asked });
  });
}

function createTeam(): Script {
  const turns = [
    reply.calls([spawn("alpha", "Weigh proposal Alpha."), spawn("beta", "Weigh proposal Beta.")]),
    wait({ targets: ["alpha", "beta"] }),
    wait({ targets: ["alpha", "beta"] }),
  ];
  return play(turns, {
    "/root": reply.text("Take Beta."),
    "/root/alpha": reply.text("Alpha is quick."),
    "/root/beta": reply.text("Beta is safe."),
  }).script;
}

const TEAM = { model, input: "Compare both.", multi_agent: { enabled: true } };
const TEAM_BETA = "responses_multi_agent=v1";

/**
 * The agents and their texts, as the examples print them; true once the first agent's response is
 * completed.
 */
function createListener(): {
  readonly said: Map<string, string>;
  hear(event: BetaResponseStreamEvent): boolean;
} {
  const agents = new Map<string, string>();
  const said = new Map<string, string>();
  return {
    said,
    hear(event) {
      if (event.type === "response.output_item.added" && event.item.type === "message") {
        agents.set(event.item.id, event.item.agent?.agent_name ?? "/root");
      } else if (event.type === "response.output_text.delta") {
        const name = agents.get(event.item_id) ?? "/root";
        said.set(name, (said.get(name) ?? "") + event.delta);
      }
      return (
        event.type === "response.completed" && (event.agent?.agent_name ?? "/root") === "/root"
      );
    },
  };
}

function checkTeam(said: ReadonlyMap<string, string>): void {
  assert.deepEqual(Object.fromEntries(said), {
    "/root": "Take Beta.",
    "/root/alpha": "Alpha is quick.",
    "/root/beta": "Beta is safe.",
  });
}

async function streamsTeam({ beta }: OpenAI): Promise<void> {
  const stream = await beta.responses.create({ ...TEAM, stream: true, betas: [TEAM_BETA] });
  const { said, hear } = createListener();
  let isCompleted = false;
  for await (const event of stream) isCompleted = hear(event);
  assert.ok(isCompleted);
  checkTeam(said);
}

async function streamsTeamOverSocket(client: OpenAI): Promise<void> {
  const socket = new BetaResponsesWS(client, { headers: { "OpenAI-Beta": TEAM_BETA } });
  socket.send({ type: "response.create", ...TEAM });
  const { said, hear } = createListener();
  for await (const message of socket) {
    if (message.type === "error") throw message.error;
    if (message.type === "message" && hear(message.message as BetaResponseStreamEvent)) break;
  }
  socket.close();
  checkTeam(said);
}

async function keepsItsOwnState({ responses }: OpenAI, bench: ClientBench): Promise<void> {
  const reasoning = { effort: "high" as const };
  const history: ResponseInputItem[] = [{ role: "user", content: "Check primes in Python." }];
  const first = await responses.create({ model, input: history, reasoning });
  history.push(...toResponseInputItems(first.output), { role: "user", content: "Add types." });
  const second = await responses.create({ model, input: history, reasoning });
  assert.match(second.output_text, /n: int/);
  assert.deepEqual(
    bench.asked[1]?.messages.map(({ role }) => role),
    ["user", "assistant", "user"],
  );
}

async function talksInLanes(client: OpenAI, bench: ClientBench): Promise<void> {
  const socket = new ResponsesWS(client, { headers: { "X-Application-Name": "example" } });
  const limits = { maxLanes: 4, maxBufferedEvents: 256, maxBufferedBytes: 32 * 1024 * 1024 };
  const session = new ResponsesWebSocketSession(socket, limits);
  const signal = patience();
  await once(socket.socket.platformSocket, "open", { signal });
  const lane = session.lane("conversation");
  lane.create({ model, input: "It comes on Tuesday.", store: false });
  const first = await lane.finalResponse({ signal });
  lane.create({ model, input: "When?", previous_response_id: first.id, store: false });
  const second = await lane.finalResponse({ signal });
  session.close();
  socket.close();
  assert.deepEqual([first.status, second.status], ["completed", "completed"]);
  assert.equal(second.output_text, "Tuesday.");
  assert.equal(bench.asked[1]?.messages.length, 3);
}
