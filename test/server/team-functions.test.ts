/** Agents of a team that call the client's own functions, over HTTP: all stop, and go on with the answers. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import { reply } from "../../src/testing/index.ts";
import { startServer } from "./server-fixture.ts";
import { callsOf, lastWords, play, spawn, team, told, wait } from "./team-fixture.ts";

const tools = [{ type: "function", name: "weigh", parameters: { type: "object" }, strict: false }];
const weigh = reply.calls([{ name: "weigh", arguments: {}, call_id: "call_1" }]);

/** Asks the client once, and answers with what it said. */
const asking = ({ items }: ModelRequest) => {
  const answer = items.findLast((item) => item.type === "function_call_output");
  return answer?.type === "function_call_output" ? reply.text(`It is ${answer.output}.`) : weigh;
};

/** The client's answers to all open calls. */
const answerAll = ({ output }: Pick<EmittedResponse, "output">, text: (agent: string) => string) =>
  output.flatMap((item) => {
    if (item.type !== "function_call") return [];
    const { agent, call_id } = item as typeof item & { agent?: { agent_name: string } };
    return [{ type: "function_call_output", call_id, output: text(agent?.agent_name ?? "") }];
  });

const two = [
  reply.calls([spawn("a", "Weigh a."), spawn("b", "Weigh b.")]),
  wait({ targets: ["a", "b"] }),
];
const agents = { "/root/a": asking, "/root/b": asking };
const join = ({ items }: ModelRequest) =>
  reply.text(
    items
      .flatMap((item) => (item.type === "message" ? [lastWords({ items: [item] })] : []))
      .filter((text) => text.startsWith("Message"))
      .sort()
      .join(" | "),
  );

describe("an agent that calls a function of the client's", () => {
  for (const store of [true, false]) {
    const way = store ? "over `previous_response_id`" : "over the input alone";
    it(`stops the response when all others have stopped, and continues ${way}`, async (t) => {
      const { script } = play([...two, join], agents);
      const server = await startServer(t, script);
      const asked = { role: "user", content: "Weigh." };
      const first = await server.create({ input: [asked], tools, store, ...team });
      assert.equal(first.status, "completed");
      const calls = first.output.filter(({ type }) => type === "function_call");
      assert.equal(new Set(calls.map((item) => (item as { call_id: string }).call_id)).size, 2);
      assert.equal(told(first).at(-1), "/root multi_agent_call_output wait_agent");
      const answers = answerAll(first, (agent) => `${agent.slice(-1)} kilos`);
      const next = store
        ? { input: answers, previous_response_id: first.id }
        : { input: [asked, ...first.output, ...answers] };
      const second = await server.create({ ...next, tools, store, ...team });
      assert.equal(
        second.output_text,
        "Message from the agent /root/a:\n\nIt is a kilos. | Message from the agent /root/b:\n\nIt is b kilos.",
      );
      assert.deepEqual(told(second).sort(), [
        "/root agent_message",
        "/root agent_message",
        "/root message",
        "/root/a message",
        "/root/b message",
      ]);
    });
  }

  it("leaves the others their time when it is the first that asks", async (t) => {
    const { script } = play(
      [
        reply.calls([spawn("a", "Think."), { name: "weigh", arguments: {}, call_id: "call_9" }]),
        (request) => reply.text(`${callsOf(request).join()} ${lastWords(request)}`),
      ],
      { "/root/a": reply.text("Thought.") },
    );
    const server = await startServer(t, script);
    const first = await server.create({ input: "Weigh.", tools, ...team });
    assert.deepEqual(told(first).slice(-2), ["/root/a message", "/root agent_message"]);
    const second = await server.create({
      input: answerAll(first, () => "much"),
      previous_response_id: first.id,
      tools,
      ...team,
    });
    assert.equal(
      second.output_text,
      "spawn_agent,weigh Message from the agent /root/a:\n\nThought.",
    );
  });

  it("may be below another one", async (t) => {
    const { script } = play([reply.calls([spawn("a", "Go.")]), wait(), join], {
      "/root/a": (request) => {
        if (request.items.length === 1) return reply.calls([spawn("b", "Weigh.")]);
        return /It is much/.test(lastWords(request)) ? reply.text("Much, says b.") : wait();
      },
      "/root/a/b": asking,
    });
    const server = await startServer(t, script);
    const first = await server.create({ input: "Weigh.", tools, ...team });
    assert.deepEqual(
      told(first).filter((line) => line.endsWith("function_call")),
      ["/root/a/b function_call"],
    );
    const answers = answerAll(first, () => "much");
    const second = await server.create({
      input: answers,
      previous_response_id: first.id,
      tools,
      ...team,
    });
    assert.equal(second.output_text, "Message from the agent /root/a:\n\nMuch, says b.");
  });

  it("does not answer a later response without a team", async (t) => {
    const { script, requests } = play(
      [reply.calls([spawn("a", "Go.")]), wait(), reply.text("All went."), reply.text("Bye.")],
      { "/root/a": reply.text("I went.") },
    );
    const server = await startServer(t, script);
    const first = await server.create({ input: "Go.", ...team });
    await server.create({ input: "Thanks.", previous_response_id: first.id });
    const said = requests.at(-1)?.items.map((item) => JSON.stringify(item)) ?? [];
    assert.equal(said.filter((text) => text.includes('"assistant"')).length, 1);
    assert.ok(said.some((text) => text.includes("Message from the agent /root/a")));
  });
});
