/** WebSockets of the served API with unmodified clients. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import type { ResponsesServerEvent } from "openai/resources/responses/responses";
import { ResponsesWS } from "openai/resources/responses/ws";
import { WebSocket } from "ws";
import { z } from "zod";
import { reply, script, startChatUpstream } from "../../../src/testing/index.ts";
import { type Served, serve, slowModel, startSlowUpstream } from "../../e2e/served.ts";
import { unless } from "../../needs.ts";
import { until, untilTrue } from "../../patience.ts";
import { IS_REPLICATED } from "../../replicated.ts";

const KEY = "a-key-of-the-server";

function clientOf({ url }: Served, apiKey = KEY): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey });
}

/** The response at the end of a turn. */
async function ask(
  socket: ResponsesWS,
  body: { input: string; previous_response_id?: string },
): Promise<Extract<ResponsesServerEvent, { type: "response.completed" }>["response"]> {
  socket.send({ type: "response.create", store: false, ...body });
  for await (const event of socket) {
    if (event.type === "error") throw event.error;
    if (event.type === "message" && event.message.type === "response.completed") {
      return event.message.response;
    }
  }
  throw new Error("The socket closed.");
}

describe("WebSockets of the served API", () => {
  it("hold a conversation that is not stored", async () => {
    await using served = await serve({ key: KEY });
    const socket = new ResponsesWS(clientOf(served));
    const first = await ask(socket, { input: "Hello" });
    assert.notEqual(first.output_text, "");
    const second = await ask(socket, { input: "Again", previous_response_id: first.id });
    assert.equal(second.previous_response_id, first.id);
    assert.equal((await served.ask("GET", `/v1/responses/${first.id}`)).status, 404);
    await untilTrue(() => served.lines().length > 2, "three lines in the log");
    const lines = served.lines().map(({ method, route, status }) => `${method} ${route} ${status}`);
    const turns = ["GET /v1/responses 101", "WS /v1/responses 200", "WS /v1/responses 200"];
    assert.deepEqual(lines.slice(0, 3), turns);
    const [, turn] = served.lines();
    assert.deepEqual([turn?.["target"], turn?.["model"]], [first.id, "embedded/offline"]);
    assert.ok(Number(turn?.["output_tokens"]) > 0);
    socket.close();
  });

  it("are refused without the key", async () => {
    await using served = await serve({ key: KEY });
    const socket = new ResponsesWS(clientOf(served, "another"));
    const error = await new Promise<Error>((resolve) => socket.on("error", resolve));
    assert.match(String(error.cause ?? error), /401/);
    const page = { headers: { authorization: `Bearer ${KEY}`, origin: "https://evil.example" } };
    const foreign = new WebSocket(`${served.url.replace("http", "ws")}/v1/responses`, page);
    const refused = await new Promise<Error>((resolve) => foreign.on("error", resolve));
    assert.match(refused.message, /403/);
  });

  const possibly = unless(IS_REPLICATED ? "only one of three servers ends" : undefined);
  it(...possibly("end with the server: idle ones at once, others after their turn"), async () => {
    await using upstream = await startSlowUpstream();
    await using served = await serve({ key: KEY, args: slowModel(upstream) });
    const open = (): Promise<WebSocket> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${KEY}` };
        const socket = new WebSocket(`${served.url.replace("http", "ws")}/v1/responses`, {
          headers,
        });
        socket.on("open", () => resolve(socket));
        socket.on("error", reject);
      });
    const [idle, busy] = await Promise.all([open(), open()]);
    const heard: string[] = [];
    busy.on("message", (data) => heard.push((JSON.parse(String(data)) as { type: string }).type));
    const closed = [idle, busy].map(
      (socket) => new Promise((resolve) => socket.on("close", resolve)),
    );
    busy.send(JSON.stringify({ type: "response.create", input: "Hi", store: false }));
    await until(async () => (upstream.open === 1 ? true : undefined), "an answer on its way");
    served.command.child.kill("SIGTERM");
    assert.equal(await closed[0], 1001);
    assert.ok(!heard.includes("response.completed"));
    upstream.finish();
    assert.equal(await closed[1], 1001);
    assert.ok(heard.includes("response.completed"));
    assert.equal((await served.command.ended).code, 0);
  });

  it("carry an agent of the agents library, tools and all", async () => {
    setTracingDisabled(true);
    // Newer runtimes have their own, which the library looks for.
    (globalThis as { WebSocket?: unknown }).WebSocket ??= WebSocket;
    const call = { name: "weather", arguments: { place: "Rome" }, call_id: "call_1" };
    const engine = script(reply.calls([call]), reply.text("Sunny."));
    const upstream = await startChatUpstream({ engine });
    try {
      const model = ["-m", "test-model", "--provider", "openai-chat", "--url", upstream.url];
      await using served = await serve({ key: KEY, args: model });
      const provider = new OpenAIProvider({
        openAIClient: clientOf(served) as never,
        useResponses: true,
        useResponsesWebSocket: true,
      });
      const weather = tool({
        name: "weather",
        description: "The weather of a place",
        parameters: z.object({ place: z.string() }),
        execute: async ({ place }) => `sunny in ${place}`,
      });
      const agent = new Agent({ name: "Guide", model: "test-model", tools: [weather] });
      const runner = new Runner({ modelProvider: provider });
      const { finalOutput } = await runner.run(agent, "Weather in Rome?");
      assert.equal(finalOutput, "Sunny.");
      assert.equal(upstream.requests.length, 2);
      await provider.close();
    } finally {
      await upstream.close();
    }
  });
});
