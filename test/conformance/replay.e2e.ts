/**
 * A response can be replayed for ever: from any of its events on, by any client, live or afterwards, with
 * the same events.
 */

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { EmittedEvent } from "../../src/protocol/emitted.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";
import type { Guard } from "../../src/server/guard.ts";
import { type Reply, reply, respond, type ScriptEngine, script } from "../../src/testing/index.ts";
import { replyEvents } from "../../src/testing/reply-events.ts";
import { ANYBODY, createOpenGuard, readEvents, type TestServer } from "../server/server-fixture.ts";
import { checkEvents } from "./check.ts";
import { type ProviderServer, startProviderServer, suiteContext } from "./provider-servers.ts";
import { FILES, MACHINE, WEB_TOOLS } from "./scenario-server.ts";
import { bodyOf, SCENARIOS } from "./scenarios.ts";

describe("the replay of a response", () => {
  const context = suiteContext();
  let opened: ProviderServer | undefined;
  let answer: (request: ModelRequest) => Reply = () => reply.text("");
  before(async () => {
    const engine = respond((request) => answer(request));
    const setup = { files: FILES, tools: WEB_TOOLS, settings: { machine: MACHINE } };
    opened = await startProviderServer(context, "chat", engine, setup);
  });

  for (const scenario of SCENARIOS) {
    it(`is the same from every event on: ${scenario.name}`, async () => {
      const { server } = opened ?? assert.fail();
      answer = scenario.answer;
      const events = await server.stream(await bodyOf(scenario, server));
      await checkReplays(server, events);
    });
  }

  it("is the same from every event on: one that was cancelled", async () => {
    const { server } = opened ?? assert.fail();
    answer = () => reply.silence("I was about to say");
    const made = await server.create({ input: "Hi", background: true });
    await firstText(server, made.id);
    const ended = await server.ask("POST", `/v1/responses/${made.id}/cancel`);
    assert.equal((ended.body as { status: string }).status, "cancelled");
    const events = await follow(server, made.id, -1);
    checkEvents(events);
    const last = events.at(-1);
    assert.ok(last && "response" in last && last.response.status === "cancelled");
    await checkReplays(server, events);
  });
});

describe("a response with many followers", () => {
  it("sends each of a hundred clients the same, from any event on", async (t) => {
    const clients = 100;
    const gate = createGate();
    const { guard, admitted } = createCountingGuard(clients + 1);
    const engine = createGatedEngine(gate, reply.text("One two three four five six. ".repeat(12)));
    const { server } = await startProviderServer(t, "chat", engine, { server: { guard } });
    const made = await server.create({ input: "Count", background: true });
    gate.open(10);
    const followers = Array.from({ length: clients }, async (_, at) => {
      const after = at % 70;
      return { after, events: await follow(server, made.id, after - 1) };
    });
    await admitted;
    gate.open(Number.POSITIVE_INFINITY);
    const heard = await Promise.all(followers);
    const whole = await follow(server, made.id, -1);
    checkEvents(whole);
    assert.ok(whole.length > 50, `only ${whole.length} events`);
    for (const { after, events } of heard) assert.deepEqual(events, whole.slice(after));
  });
});

interface Gate {
  /** Lets that many more through. */
  open(count: number): void;
  pass(): Promise<void>;
}

function createGate(): Gate {
  let free = 0;
  let wake: (() => void) | undefined;
  return {
    open(count) {
      free += count;
      wake?.();
    },
    async pass() {
      while (free < 1) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      free--;
    },
  };
}

/** A model that writes as much as the gate lets through. */
function createGatedEngine(gate: Gate, said: Extract<Reply, { kind: "answer" }>): ScriptEngine {
  const { makeId } = script();
  return async function* (request, { signal }) {
    for await (const batch of replyEvents(said, request, { signal, makeId })) {
      for (const event of batch) {
        await gate.pass();
        yield [event];
      }
    }
  };
}

/** Lets every request in; `admitted` resolves when that many have come. */
function createCountingGuard(count: number): { guard: Guard; admitted: Promise<void> } {
  const open = createOpenGuard(ANYBODY);
  let asked = 0;
  let resolveAll: () => void = () => {};
  const admitted = new Promise<void>((resolve) => {
    resolveAll = resolve;
  });
  const guard: Guard = {
    ...open,
    async admit(...given) {
      asked += 1;
      if (asked === count) resolveAll();
      return await open.admit(...given);
    },
  };
  return { guard, admitted };
}

/** Reads the stream until the model has written some text. */
async function firstText({ url }: TestServer, id: string): Promise<void> {
  const answer = await fetch(`${url}/v1/responses/${id}?stream=true`);
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.includes("output_text.delta")) return;
  }
  assert.fail("nothing was said");
}

async function follow(server: TestServer, id: string, after: number): Promise<EmittedEvent[]> {
  const path = `/v1/responses/${id}?stream=true&starting_after=${after}`;
  const { status, body } = await server.ask("GET", path);
  assert.equal(status, 200);
  assert.ok(String(body).endsWith("data: [DONE]\n\n"));
  return readEvents(String(body));
}

async function checkReplays(server: TestServer, events: readonly EmittedEvent[]): Promise<void> {
  const [first] = events;
  assert.ok(first && "response" in first);
  for (let after = -1; after <= events.length; after++) {
    const again = await follow(server, first.response.id, after);
    assert.deepEqual(again, events.slice(after + 1), `from ${after}`);
  }
}
