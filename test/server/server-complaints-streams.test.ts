/**
 * Complaints of users of other servers: streams. The numbers are those of docs/server-complaints.md.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { EmittedEvent } from "../../src/protocol/emitted.ts";
import {
  cutAfter,
  endAfter,
  noTerminal,
  reply,
  reset,
  respond,
  script,
  startChatUpstream,
  startMessagesUpstream,
  startResponsesUpstream,
} from "../../src/testing/index.ts";
import { checkEvents } from "../conformance/check.ts";
import { SCRIPTED_NAMES, startProviderServer } from "../conformance/provider-servers.ts";
import { until } from "../patience.ts";
import {
  createServers,
  createStepModel,
  idOf,
  lastOf,
  modelAt,
  openStream,
  typesOf,
} from "./server-complaints-fixture.ts";
import { readEvents, startServer, type TestServer } from "./server-fixture.ts";
import { createHeldModel } from "./socket/socket-fixture.ts";

const LOOK = {
  type: "function",
  name: "look",
  description: "Looks.",
  parameters: { type: "object", properties: { at: { type: "string" } } },
};
const LONG = "One two three four five six seven eight nine ten. ".repeat(8);
const ENDINGS = /^response\.(completed|incomplete|failed)$/;
const ONE_TRY = { attempts: 1, baseMs: 1, maxMs: 1, maxRetryAfterMs: 1 };

describe("3: a stream that ends without its terminal event", () => {
  const ask = createServers();
  const endOf = (text: string): { last: EmittedEvent; isDone: boolean } => {
    const events = readEvents(text);
    assert.equal(events.filter(({ type }) => ENDINGS.test(type)).length, 1);
    return { last: events.at(-1) ?? assert.fail(), isDone: text.endsWith("data: [DONE]\n\n") };
  };

  for (const [name, answer, ending] of [
    ["whole", reply.text(LONG), "response.completed"],
    ["cut by its limit", reply.length(LONG), "response.incomplete"],
    ["broken off", reply.failure("Gone.", { text: LONG }), "response.failed"],
  ] as const) {
    for (const provider of SCRIPTED_NAMES) {
      for (const store of [true, false]) {
        it(`does not happen: ${name} (${provider}, store ${store})`, async () => {
          const { server } = await ask(provider, answer);
          const body = { input: "Hi", stream: true, store };
          const stream = await openStream(server, "/v1/responses", body);
          const { last, isDone } = endOf(await stream.rest());
          assert.deepEqual([last.type, isDone], [ending, true]);
        });
      }
    }
  }

  for (const [wire, start] of Object.entries({
    "openai-chat": startChatUpstream,
    "openai-responses": startResponsesUpstream,
    anthropic: startMessagesUpstream,
  })) {
    for (const fault of [cutAfter(5000), endAfter(5000), noTerminal(), reset()]) {
      it(`does not happen, whatever the upstream does: ${fault.name} (${wire})`, async (t) => {
        const upstream = await start({ engine: script(reply.text(LONG)), faults: fault });
        t.after(() => upstream.close());
        const model = wire === "anthropic" ? "anthropic/m" : "custom/m";
        const env = { ANTHROPIC_API_KEY: "k" };
        const setup = { ...modelAt(upstream, wire, model), retry: ONE_TRY, env };
        const server = await startServer(t, script(), setup);
        const stream = await openStream(server, "/v1/responses", { input: "Hi", stream: true });
        const { last, isDone } = endOf(await stream.rest());
        assert.ok(isDone);
        assert.ok(last.type === "response.failed");
        assert.equal(last.response.status, "failed");
        assert.notEqual(last.response.error, null);
      });
    }
  }
});

describe("4: silence while a model thinks", () => {
  it("is filled with comments, between events and never inside one", async (t) => {
    const held = createHeldModel(() => reply.text(LONG));
    const send = { keepAliveMs: 5, commitMs: 1 };
    const server = await startServer(t, held.engine, { server: { send } });
    const body = { input: "Think", stream: true };
    const stream = await openStream(server, "/v1/responses", body);
    assert.equal(stream.status, 200);
    await stream.until((text) => text.split(": keep-alive\n\n").length > 3);
    held.release("Think");
    const text = await stream.rest();
    for (const frame of text.trimEnd().split("\n\n")) {
      assert.match(frame, /^(: keep-alive|event: \S+\ndata: \{.*\}|data: \[DONE\])$/);
    }
    assert.ok(text.lastIndexOf(": keep-alive") < text.indexOf("[DONE]"), "nothing after the end");
    checkEvents(readEvents(text));
  });

  for (const [answer, status] of [
    [reply.status(401, { error: { message: "No." } }), 500],
    [reply.status(429, { error: { message: "Slow down." } }), 429],
    [reply.status(400, { error: { message: "Wrong." } }), 400],
  ] as const) {
    it(`is not a 200 before there is something to send: ${answer.status} of the model`, async (t) => {
      const server = await startServer(t, script(answer), { retry: ONE_TRY });
      const { status: given, body } = await server.ask("POST", "/v1/responses", {
        input: "Hi",
        stream: true,
      });
      assert.ok(given >= 400 && given < 600, `${given}`);
      assert.equal(Math.floor(given / 100), Math.floor(status / 100));
      assert.equal(typeof (body as { error: { message: string } }).error.message, "string");
    });
  }
});

describe("5: a dropped stream", () => {
  for (const background of [false, true]) {
    it(`continues from where it was dropped (background ${background})`, async (t) => {
      const model = createStepModel();
      const server = await startServer(t, model.engine);
      const body = { input: "Hi", stream: true, background };
      model.say("One ");
      const stream = await openStream(server, "/v1/responses", body);
      await stream.until((text) => text.includes('"delta":"One "'));
      await stream.leave();
      const seen = readEvents(stream.text);
      const id = idOf(seen);
      model.say("two ");
      const after = seen.at(-1)?.sequence_number;
      const path = `/v1/responses/${id}?stream=true&starting_after=${after}`;
      const again = await openStream(server, path);
      await again.until((text) => text.includes('"delta":"two "'));
      model.say("three.");
      model.end();
      const events = [...seen, ...readEvents(await again.rest())];
      checkEvents(events);
      assert.equal(lastOf(events).output_text, "One two three.");
    });
  }

  it("is there from its first event on, without `starting_after`, a year later", async (t) => {
    const yearMs = 365 * 86_400_000;
    let nowMs = Date.now();
    const clock = { ...systemClock, now: () => nowMs };
    const server = await startServer(t, script(reply.text("Hello.")), { clock });
    const events = await server.stream({ input: "Hi", background: true });
    nowMs += yearMs;
    const { status, body } = await server.ask("GET", `/v1/responses/${idOf(events)}?stream=true`);
    assert.equal(status, 200);
    assert.deepEqual(readEvents(String(body)), events);
  });
});

describe("7: a client that goes away", () => {
  for (const stream of [true, false]) {
    it(`does not end a stored run (stream ${stream})`, async (t) => {
      const model = createStepModel();
      const server = await startServer(t, model.engine);
      const away = new AbortController();
      const asked = fetch(`${server.url}/v1/responses`, {
        method: "POST",
        body: JSON.stringify({ input: "Hi", stream }),
        signal: away.signal,
      }).then((answer) => answer.text());
      await server.upstream.waitForRequest(1);
      model.say("One ");
      away.abort();
      await assert.rejects(asked);
      model.say("two.");
      model.end();
      await server.upstream.requests[0]?.ended;
      assert.equal(server.upstream.requests[0]?.aborted, false);
      const id = await findOnly(server);
      const path = `/v1/responses/${id}?stream=true`;
      const events = readEvents(String((await server.ask("GET", path)).body));
      assert.equal(lastOf(events).output_text, "One two.");
    });
  }

  it("ends one that is not stored, and its question to the model with it", async (t) => {
    const model = createStepModel();
    const server = await startServer(t, model.engine);
    const body = { input: "Hi", stream: true, store: false };
    model.say("One ");
    const stream = await openStream(server, "/v1/responses", body);
    await stream.until((text) => text.includes('"delta":"One "'));
    await stream.leave();
    await server.upstream.requests[0]?.ended;
    assert.equal(server.upstream.requests[0]?.aborted, true);
  });
});

describe("14: events that strict clients count on", () => {
  const ask = createServers();
  const words = { reasoning: { effort: "high", summary: "auto" }, tools: [LOOK] };
  for (const name of SCRIPTED_NAMES) {
    it(`are all there, each item with an id and opened before it is written (${name})`, async () => {
      const call = reply.calls([{ name: "look", arguments: { at: "it" } }], { text: "I look." });
      const { server } = await ask(name, reply.reasoning("Hm, what is it?", call));
      const events = await server.stream({ input: "Look.", ...words });
      checkEvents(events);
      const types = new Set(typesOf(events));
      const parts = ["output_item.added", "content_part.added", "output_text.delta"];
      const ends = ["output_text.done", "content_part.done", "output_item.done"];
      const calls = ["function_call_arguments.delta", "function_call_arguments.done"];
      for (const type of ["created", "in_progress", ...parts, ...ends, ...calls, "completed"]) {
        assert.ok(types.has(`response.${type}` as EmittedEvent["type"]), type);
      }
      const thought = lastOf(events).output.find(({ type }) => type === "reasoning");
      assert.match(String(thought?.id), /^rs_/);
      const open = new Set<unknown>();
      for (const event of events) {
        if (event.type === "response.output_item.added") open.add(event.item.id);
        else if ("item_id" in event) assert.ok(open.has(event.item_id), event.type);
      }
    });
  }
});

describe("16: the completed response", () => {
  const ask = createServers();
  const doneItems = (events: readonly EmittedEvent[]): unknown[] =>
    events.flatMap((event) => (event.type === "response.output_item.done" ? event.item : []));

  for (const name of SCRIPTED_NAMES) {
    it(`holds every item that was streamed, as it was done (${name})`, async () => {
      const calls = ["a", "b"].map((at) => ({ name: "look", arguments: { at } }));
      const { server } = await ask(name, reply.calls(calls, { text: "I look." }));
      const events = await server.stream({ input: "Look.", tools: [LOOK] });
      const { output, output_text } = lastOf(events);
      assert.ok(output.length >= 3);
      assert.equal(output_text, "I look.");
      assert.deepEqual(output, doneItems(events));
    });
  }

  it("holds them where the upstream's own is empty", async (t) => {
    const item = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
    const content = [{ type: "output_text", text: "Hello.", annotations: [] }];
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    const raw = [
      { type: "response.created", response: { id: "resp_1" } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
      { type: "response.output_item.done", output_index: 0, item: { ...item, content } },
      { type: "response.completed", response: { id: "resp_1", output: [], usage } },
    ].map((event) => JSON.stringify(event));
    const upstream = await startResponsesUpstream({ engine: respond(() => reply.raw(raw)) });
    t.after(() => upstream.close());
    const server = await startServer(t, script(), modelAt(upstream, "openai-responses"));
    const events = await server.stream({ input: "Hi" });
    assert.deepEqual(lastOf(events).output, doneItems(events));
    assert.equal(lastOf(events).output_text, "Hello.");
  });
});

describe("17: streams that are held back", () => {
  for (const name of SCRIPTED_NAMES) {
    for (const store of [true, false]) {
      it(`every piece comes while the next is not said yet (${name}, store ${store})`, async (t) => {
        const model = createStepModel();
        // Withheld for far longer than it takes to know if it fails.
        const send = { keepAliveMs: 15_000, commitMs: 600_000 };
        const { server } = await startProviderServer(t, name, model.engine, { server: { send } });
        const body = { input: "Hi", stream: true, store };
        model.say("One ");
        const stream = await openStream(server, "/v1/responses", body);
        for (const [at, word] of ["two ", "three ", "four."].entries()) {
          const before = ["One ", "two ", "three "][at];
          await stream.until((text) => text.includes(`"delta":"${before}"`));
          assert.ok(!stream.text.includes(word));
          model.say(word);
        }
        model.end();
        assert.equal(lastOf(readEvents(await stream.rest())).output_text, "One two three four.");
      });
    }
  }
});

describe("24: continuing a response that was streamed", () => {
  const ask = createServers();
  for (const name of SCRIPTED_NAMES) {
    it(`works from its first event's id, streamed again (${name})`, async () => {
      const { server, asked } = await ask(name, reply.text("Blue."), reply.text("Blue it is."));
      const first = await server.stream({ input: "My colour is blue." });
      const previous_response_id = idOf(first);
      const second = lastOf(await server.stream({ input: "Which?", previous_response_id }));
      assert.equal(second.output_text, "Blue it is.");
      assert.equal(second.previous_response_id, previous_response_id);
      assert.equal(asked[1]?.items.length, 3);
    });
  }

  it("works at the moment the terminal event has come", async (t) => {
    const held = createHeldModel((text) => reply.text(`${text}!`));
    const server = await startServer(t, held.engine);
    let previous_response_id: string | null = null;
    for (const input of ["one", "two", "three", "four"]) {
      held.release(input);
      const body: object = { input, stream: true, previous_response_id };
      const stream = await openStream(server, "/v1/responses", body);
      const text = await stream.until((read) => read.includes("event: response.completed"));
      previous_response_id = idOf(readEvents(text));
    }
    const sent = JSON.stringify(server.upstream.requests.at(-1)?.body);
    assert.match(sent, /one.*one!.*two.*two!.*three.*three!.*four/);
  });
});

/** The id of the one response that a server keeps. One whose client has left is there soon after. */
async function findOnly({ responses }: TestServer): Promise<string> {
  const query = { tenant: "tenant", kind: "response", order: "oldest", limit: 2 } as const;
  const things = await until(async () => {
    const found = await responses.shelf.list(query);
    return found.length > 0 ? found : undefined;
  }, "the response");
  assert.equal(things.length, 1);
  return things[0]?.id ?? "";
}
