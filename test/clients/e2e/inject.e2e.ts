/**
 * `response.inject` of the multi-agent beta, as the official client sends it, and after the end of a
 * server.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI from "openai";
import type { BetaResponsesServerEvent } from "openai/resources/beta/responses/responses";
import { ResponsesWS } from "openai/resources/beta/responses/ws";
import type { EmittedResponse } from "../../../src/protocol/emitted.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { type Reply, reply, startChatUpstream, type Upstream } from "../../../src/testing/index.ts";
import { createPlace } from "../../e2e/command.ts";
import { type Served, serve } from "../../e2e/served.ts";
import { until } from "../../patience.ts";
import { createGate } from "../../server/socket/socket-fixture.ts";
import { callsOf, lastWords, playSlowly, spawn, wait } from "../../server/team-fixture.ts";

const KEY = "a-key-of-the-server";

/** Answers depend only on the request, because another server may repeat it. */
function lead(request: ModelRequest): Reply {
  if (callsOf(request).length === 0) {
    return reply.calls([spawn("a", "Weigh."), spawn("b", "Think.")]);
  }
  const heard = request.items.flatMap(
    (item) => /^Message.*\n\n(.*)/.exec(lastWords({ items: [item] }))?.[1] ?? [],
  );
  return heard.length < 2 ? wait({ targets: ["a", "b"] }) : reply.text(heard.sort().join(" "));
}

function createTeam(): { upstream: Promise<Upstream>; letThink(): void } {
  const gate = createGate();
  const { engine } = playSlowly([], {
    "/root": lead,
    "/root/a": ({ items }) => {
      const last = items.at(-1);
      if (last?.type === "function_call_output") return reply.text(`It is ${last.output}.`);
      return reply.calls([{ name: "weigh", arguments: {}, call_id: "call_1" }]);
    },
    "/root/b": async () => {
      await gate.opened;
      return reply.text("Thought.");
    },
  });
  return { upstream: startChatUpstream({ engine }), letThink: () => gate.open() };
}

const asked = {
  type: "response.create" as const,
  input: "Weigh.",
  multi_agent: { enabled: true, max_concurrent_subagents: 3 },
  tools: [
    { type: "function" as const, name: "weigh", parameters: { type: "object" }, strict: false },
  ],
};

const modelAt = ({ url }: Upstream): string[] => [
  ...["-m", "test-model", "--provider", "openai-chat", "--url", url],
];

function open({ url }: Served): ResponsesWS {
  return new ResponsesWS(new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY }));
}

/** Answers the call of the weighing agent, and reads on to the expected event. */
async function answerCall(
  socket: ResponsesWS,
  isLast: (event: BetaResponsesServerEvent) => boolean,
): Promise<{ readonly id: string; readonly last: BetaResponsesServerEvent }> {
  let id = "";
  for await (const message of socket) {
    if (message.type === "error") throw message.error;
    if (message.type !== "message") continue;
    const event = message.message;
    if (event.type === "response.created") id = event.response.id;
    if (event.type === "response.output_item.done" && event.item.type === "function_call") {
      const { call_id } = event.item;
      const input = [{ type: "function_call_output" as const, call_id, output: "7 kilos" }];
      socket.send({ type: "response.inject", response_id: id, input });
    }
    if (isLast(event)) return { id, last: event };
  }
  throw new Error("The socket closed.");
}

describe("`response.inject` of the served API", () => {
  it("lets an agent continue for the official client", async () => {
    const team = createTeam();
    await using upstream = await closing(team.upstream);
    await using served = await serve({ key: KEY, args: modelAt(upstream) });
    const socket = open(served);
    const said: string[] = [];
    socket.send(asked);
    const { id, last } = await answerCall(socket, (event) => {
      if (event.type.startsWith("response.inject.")) said.push(event.type);
      // The thinking agent may not continue before the other has written its text.
      if (event.type === "response.output_text.done") team.letThink();
      return event.type === "response.completed";
    });
    assert.deepEqual(said, ["response.inject.created"]);
    assert.ok(last.type === "response.completed");
    const { body } = await served.ask("GET", `/v1/responses/${id}`);
    assert.equal((body as EmittedResponse).output_text, "It is 7 kilos. Thought.");
    socket.close();
  });

  for (const workers of [1, 3]) {
    it(`is not lost if a server with ${workers} worker(s) is killed`, async () => {
      const team = createTeam();
      await using upstream = await closing(team.upstream);
      await using place = await createPlace();
      const args = [...modelAt(upstream), "--workers", String(workers)];
      const first = await serve({ key: KEY, args, place });
      const socket = open(first);
      socket.on("error", () => {});
      socket.send({ ...asked, store: true });
      const { id } = await answerCall(socket, ({ type }) => type === "response.inject.created");
      first.command.child.kill("SIGKILL");
      await first.command.ended.catch(() => {});
      socket.close();
      await using second = await serve({ key: KEY, args, place });
      team.letThink();
      const response = await until(async () => {
        const { body } = await second.ask("GET", `/v1/responses/${id}`);
        const found = body as EmittedResponse;
        return found.status === "completed" ? found : undefined;
      }, "the response of the server that was killed");
      assert.equal(response.output_text, "It is 7 kilos. Thought.");
      assert.equal(response.output.filter(({ type }) => type === "function_call").length, 1);
    });
  }
});

async function closing(opening: Promise<Upstream>): Promise<Upstream & AsyncDisposable> {
  const upstream = await opening;
  return { ...upstream, [Symbol.asyncDispose]: () => upstream.close() };
}
