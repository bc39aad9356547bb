/** `response.inject`: agents that wait for the client go on within the response, while others work. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { reply, respond } from "../../../src/testing/index.ts";
import { checkPublished } from "../../conformance/check.ts";
import { callsOf, playSlowly, spawn, team, told, wait } from "../team-fixture.ts";
import {
  agentOf,
  answer,
  ask,
  asking,
  countOf,
  join,
  says,
  thinking,
  tools,
  twoAgents,
  weigh,
} from "./inject-fixture.ts";
import { createGate, startSocketServer } from "./socket-fixture.ts";

const list = reply.calls([{ name: "list_agents", arguments: {} }]);
const repeat = ({ items }: ModelRequest) => {
  const last = items.at(-1);
  return reply.text(last?.type === "function_call_output" ? String(last.output) : "");
};

describe("injecting answers", () => {
  for (const store of [true, false]) {
    it(`lets an agent continue at once, ${store ? "stored" : "not stored"}`, async (t) => {
      const gate = createGate();
      const { engine, requests } = playSlowly([...twoAgents, list, repeat], {
        "/root/a": asking("call_1"),
        "/root/b": thinking(gate),
      });
      const server = await startSocketServer(t, engine);
      const asked = await ask(server, { store });
      const callId = await asked.nextCall("/root/a");
      const created = await asked.inject([answer(callId, "7 kilos")]);
      assert.equal(created.type, "response.inject.created", JSON.stringify(created));
      checkPublished("BetaResponseInjectCreatedEvent", created);
      assert.equal(created["response_id"], asked.id);
      assert.ok(Number.isInteger(created.sequence_number));
      // The other one still thinks.
      await asked.until(says("/root/a", "It is 7 kilos."));
      gate.open();
      const response = await asked.end();
      assert.match(response.output_text, /a:\n\nIt is 7 kilos\. \| .*b:\n\nThought\.$/);
      const { events } = asked;
      assert.deepEqual(
        events.map((event) => event.sequence_number),
        events.map((_, at) => at),
      );
      const lines = told(response as never);
      assert.equal(lines.filter((line) => line === "/root multi_agent_call wait_agent").length, 1);
      assert.ok(
        lines.every((line) => !line.endsWith("function_call_output")),
        lines.join("\n"),
      );
      assert.equal(requests.length, 6);
      const next = await asked.socket.turn({
        ...team,
        tools,
        store,
        input: "Thanks.",
        previous_response_id: asked.id,
      });
      const { output_text = "" } = next.at(-1)?.response ?? {};
      assert.match(output_text, /"\/root\/a","agent_status":"completed"/);
      assert.equal(requests.length, 8);
      if (!store) return;
      const path = `/v1/responses/${asked.id}`;
      assert.deepEqual((await server.ask("GET", path)).body, response);
      const replayed = await server.ask("GET", `${path}?stream=true`);
      const [last] = events.slice(-1);
      assert.ok(String(replayed.body).includes(JSON.stringify(last)));
      const nextId = next.at(-1)?.response?.id;
      const listed = await server.ask("GET", `/v1/responses/${nextId}/input_items?order=asc`);
      const { data } = listed.body as { data: { type: string; output?: string }[] };
      assert.deepEqual(
        data.flatMap(({ type, output }) => (type === "function_call_output" ? [output] : [])),
        ["7 kilos"],
      );
    });
  }

  it("lets the first agent continue while others still work", async (t) => {
    const gate = createGate();
    const { engine } = playSlowly(
      [
        reply.calls([spawn("a", "Think."), { name: "weigh", arguments: {}, call_id: "call_9" }]),
        (request) => {
          const last = request.items.at(-1);
          assert.equal(last?.type === "function_call_output" && last.output, "much");
          gate.open();
          return wait();
        },
        join,
      ],
      {
        "/root/a": thinking(gate),
      },
    );
    const server = await startSocketServer(t, engine);
    const asked = await ask(server, {});
    const callId = await asked.nextCall("/root");
    assert.equal(callId, "call_9");
    assert.equal((await asked.inject([answer(callId, "much")])).type, "response.inject.created");
    const response = await asked.end();
    assert.equal(response.output_text, "Message from the agent /root/a:\n\nThought.");
  });

  it("waits for all answers that an agent needs", async (t) => {
    const gate = createGate();
    const { engine, requests } = playSlowly(twoAgents, {
      "/root/a": asking("call_1", "call_2"),
      "/root/b": thinking(gate),
    });
    const server = await startSocketServer(t, engine);
    const asked = await ask(server, {});
    const ids = [await asked.nextCall("/root/a"), await asked.nextCall("/root/a")];
    for (const [at, id] of ids.toReversed().entries()) {
      const said = await asked.inject([answer(id, `${at}`)]);
      assert.equal(said.type, "response.inject.created", JSON.stringify(said));
      if (at === 0) assert.equal(countOf(requests, "/root/a"), 1);
    }
    await asked.until(says("/root/a", "It is 0 and 1."));
    gate.open();
    await asked.end();
    assert.equal(countOf(requests, "/root/a"), 2);
  });

  it("stands in the conversation after its call", async (t) => {
    const gate = createGate();
    const { engine } = playSlowly(twoAgents, {
      "/root/a": asking("call_1"),
      "/root/b": thinking(gate),
    });
    const server = await startSocketServer(t, engine);
    const made = await server.ask("POST", "/v1/conversations", {});
    const { id: conversation } = made.body as { id: string };
    const asked = await ask(server, { conversation });
    await asked.inject([answer(await asked.nextCall("/root/a"), "7 kilos")]);
    await asked.until(says("/root/a", "It is 7 kilos."));
    gate.open();
    await asked.end();
    const path = `/v1/conversations/${conversation}/items?order=asc&limit=50`;
    const { data } = (await server.ask("GET", path)).body as { data: { type: string }[] };
    const types = told({ output: data as never }).filter((line) =>
      /function_call|a message/.test(line),
    );
    assert.deepEqual(types, [
      ...["/root/a function_call", "function_call_output", "/root/a message"],
    ]);
  });

  it("is waited for only by the agent that waits for the answered one", async (t) => {
    const { engine, requests } = playSlowly(
      [reply.calls([spawn("a", "Weigh a."), spawn("b", "Think.")]), wait({ targets: ["a"] }), join],
      { "/root/a": asking("call_1"), "/root/b": thinking(createGate()) },
    );
    const server = await startSocketServer(t, engine);
    const asked = await ask(server, {});
    await asked.inject([answer(await asked.nextCall("/root/a"), "7 kilos")]);
    assert.match((await asked.end()).output_text, /It is 7 kilos\.$/);
    assert.equal(requests.length, 6);
  });

  it("is asked again by a model that counts its calls from the beginning", async (t) => {
    const gate = createGate();
    const { engine, requests } = playSlowly(twoAgents, {
      "/root/a": ({ items }) => {
        const results = items.filter(({ type }) => type === "function_call_output");
        return results.length < 2 ? weigh("call_1") : reply.text(JSON.stringify(results));
      },
      "/root/b": thinking(gate),
    });
    const server = await startSocketServer(t, engine);
    const asked = await ask(server, {});
    for (const text of ["one", "two"]) {
      const id = await asked.nextCall("/root/a");
      assert.equal((await asked.inject([answer(id, text)])).type, "response.inject.created");
    }
    await asked.until(({ type, text }) => {
      return type === "response.output_text.done" && /one.*two/.test(String(text));
    });
    gate.open();
    await asked.end();
    assert.equal(countOf(requests, "/root/a"), 3);
  });

  it("leaves it at that where an agent has nothing to say to its answer", async (t) => {
    const gate = createGate();
    const { engine, requests } = playSlowly(twoAgents, {
      "/root/a": ({ items }) => (items.length === 1 ? weigh("call_1") : reply.text(" ")),
      "/root/b": thinking(gate),
    });
    const server = await startSocketServer(t, engine);
    const asked = await ask(server, {});
    await asked.inject([answer(await asked.nextCall("/root/a"), "7")]);
    gate.open();
    assert.match((await asked.end()).output_text, /a:\n\n\(It gave no answer\.\) \|/);
    assert.equal(countOf(requests, "/root/a"), 2);
  });

  it("takes nothing where one of them answers no call that is open", async (t) => {
    const gate = createGate();
    const { engine } = playSlowly(twoAgents, {
      "/root/a": asking("call_1"),
      "/root/b": thinking(gate),
    });
    const server = await startSocketServer(t, engine);
    const asked = await ask(server, {});
    const id = await asked.nextCall("/root/a");
    const right = answer(id, "7 kilos");
    const wrong: [readonly unknown[], RegExp][] = [
      [[right, answer("call_none", "1")], /No call `call_none` waits for an answer/],
      [[right, right], new RegExp(`No call \`${id}\` waits`)],
      [[{ type: "message", role: "user", content: "Hi" }], /`input\[0\]` is a `message`; only/],
      [[{ ...right, type: "custom_tool_call_output" }], /answered with a `function_call_output`/],
      [[{ ...right, output: 7 }], /input/],
      [[], /There are no items/],
    ];
    for (const [input, message] of wrong) {
      const failed = await asked.inject(input);
      assert.equal(failed.type, "response.inject.failed");
      assert.equal(failed.error?.code, "response_not_found");
      assert.match(failed.error?.message ?? "", message);
      assert.deepEqual(failed["input"], input);
    }
    assert.equal((await asked.inject([right])).type, "response.inject.created");
    const again = await asked.inject([right]);
    assert.match(again.error?.message ?? "", new RegExp(`No call \`${id}\` waits`));
    gate.open();
    assert.match((await asked.end()).output_text, /It is 7 kilos/);
    const late = await asked.inject([right]);
    checkPublished("BetaResponseInjectFailedEvent", late);
    assert.equal(late.error?.code, "response_already_completed");
    assert.deepEqual(late["input"], [right]);
  });

  it("says that a response without a team waits for nothing", async (t) => {
    // Each response works until its injection is refused.
    const gates = [true, false].map((store) => ({ store, gate: createGate() }));
    const engine = playSlowly(
      gates.map(({ gate }) => async () => {
        await gate.opened;
        return reply.text("Hello.");
      }),
    ).engine;
    const server = await startSocketServer(t, engine);
    for (const { store, gate } of gates) {
      const asked = await ask(server, { multi_agent: undefined, store });
      const failed = await asked.inject([answer("call_1", "7")]);
      assert.deepEqual(failed.error, {
        code: "response_not_found",
        message: "This response waits for no call.",
      });
      gate.open();
      await asked.end();
    }
  });

  it("is for responses of the connection alone", async (t) => {
    const gate = createGate();
    const { engine } = playSlowly(twoAgents, {
      "/root/a": asking("call_1"),
      "/root/b": thinking(gate),
    });
    const server = await startSocketServer(t, engine);
    const asked = await ask(server, {});
    const callId = await asked.nextCall("/root/a");
    const other = await server.connect();
    const input = [answer(callId, "1")];
    other.send({ type: "response.inject", response_id: asked.id, input });
    const refused = await other.next();
    assert.equal(refused.error?.code, "response_not_found");
    assert.deepEqual(refused["input"], input);
    other.send({ type: "response.inject", input });
    assert.equal((await other.next()).error?.param, "response_id");
    const { api } = server.responses;
    const stranger = { tenant: "other", keyId: null, catalogue: [], limits: {} as never };
    await assert.rejects(api.inject(asked.id, input, stranger), { code: "not_found" });
    gate.open();
    await asked.end();
  });
});

describe("injecting answers to agents further down", () => {
  /** `a` starts one that weighs and one that thinks, and waits for both. */
  const middle = (request: ModelRequest) => {
    const calls = callsOf(request);
    if (calls.length === 0) return reply.calls([spawn("b", "Weigh."), spawn("c", "Think.")]);
    if (!calls.includes("wait_agent")) return wait({ targets: ["b", "c"] });
    return join(request);
  };

  it("lets one continue whose parent waits for it", async (t) => {
    const gate = createGate();
    const { engine } = playSlowly([reply.calls([spawn("a", "Go.")]), wait(), join], {
      "/root/a": middle,
      "/root/a/b": asking("call_1"),
      "/root/a/c": thinking(gate),
    });
    const server = await startSocketServer(t, engine);
    const asked = await ask(server, {});
    const callId = await asked.nextCall("/root/a/b");
    assert.equal((await asked.inject([answer(callId, "2")])).type, "response.inject.created");
    await asked.until(says("/root/a/b", "It is 2."));
    gate.open();
    const { output_text } = await asked.end();
    assert.match(output_text, /a:\n\nMessage from the agent \/root\/a\/b:\n\nIt is 2\. \| .*c:/);
  });

  it("wakes those above that had stopped for it", async (t) => {
    const gate = createGate();
    const { engine, requests } = playSlowly(
      [reply.calls([spawn("a", "Go."), spawn("d", "Think.")]), wait({ targets: ["a", "d"] }), join],
      {
        "/root/a": (request) => {
          if (callsOf(request).length === 0) return reply.calls([spawn("b", "Weigh.")]);
          return callsOf(request).includes("wait_agent") ? join(request) : wait();
        },
        "/root/a/b": asking("call_1"),
        "/root/d": thinking(gate),
      },
    );
    const server = await startSocketServer(t, engine);
    const asked = await ask(server, {});
    const callId = await asked.nextCall("/root/a/b");
    await asked.until((event) => {
      const item = event["item"] as { type: string; action?: string } | undefined;
      const isWait = item?.type === "multi_agent_call_output" && item.action === "wait_agent";
      return isWait && agentOf(event) === "/root/a";
    });
    assert.equal((await asked.inject([answer(callId, "3")])).type, "response.inject.created");
    await asked.until(says("/root/a", "Message from the agent /root/a/b:\n\nIt is 3."));
    gate.open();
    assert.match((await asked.end()).output_text, /It is 3\. \| .*d:\n\nThought\./);
    assert.equal(countOf(requests, "/root/a/b"), 2);
  });
});

describe("an injection that comes at the wrong time", () => {
  it("is refused when no agent works any more", async (t) => {
    const server = await startSocketServer(
      t,
      respond(() => weigh("call_1")),
    );
    const socket = await server.connect();
    const events = await socket.turn({ ...team, tools, input: "Weigh.", store: false });
    const id = events.at(-1)?.response?.id;
    const input = [answer("call_1", "5")];
    socket.send({ type: "response.inject", response_id: id, input });
    const late = await socket.next();
    assert.equal(late.error?.code, "response_already_completed");
    assert.deepEqual(late["input"], input);
  });
});
