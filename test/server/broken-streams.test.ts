/** Streams that cannot go on: whatever happens, one terminal event and `[DONE]`. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { EmittedEvent } from "../../src/protocol/emitted.ts";
import { openServer } from "../../src/server/running/open-server.ts";
import { reply } from "../../src/testing/index.ts";
import { checkEvents } from "../conformance/check.ts";
import { unless } from "../needs.ts";
import { IS_REPLICATED } from "../replicated.ts";
import { lastOf, openStream } from "./server-complaints-fixture.ts";
import { readEvents, startServer, type TestServer } from "./server-fixture.ts";
import { startSocketServer } from "./socket/socket-fixture.ts";
import { BEGINNING, createGatedModel } from "./streams-fixture.ts";

/** From here on nothing can be written. */
function breakStore({ responses }: TestServer): void {
  const full = () => Promise.reject(new Failure("store_failed", "The disk /secret is full."));
  Object.assign(responses.durable.record, { append: full, saveStep: full, finish: full });
}

// The fault is in the memory of one process: the record of the others is whole, and they wait for the run to go on.
const possibly = unless(IS_REPLICATED ? "only one of three servers cannot write" : undefined);

describe("a stream whose record cannot be written", () => {
  const counting = () =>
    createGatedModel(() => reply.text("One  two  three four  five. ", { pieceLength: 5 }));

  it("ends with an error in both shapes, `response.failed` and `[DONE]`", async (t) => {
    const model = counting();
    const server = await startServer(t, model.engine, { server: { onDefect() {} } });
    model.allow(BEGINNING + 1);
    const stream = await openStream(server, "/v1/responses", { input: "Count", stream: true });
    await stream.until((text) => text.includes('"delta":"One  "'));
    breakStore(server);
    model.allow(Number.POSITIVE_INFINITY);
    const text = await stream.rest();
    assert.ok(text.endsWith("data: [DONE]\n\n"), text.slice(-300));
    const events = readEvents(text);
    checkEvents(events);
    const error = events.at(-2);
    assert.ok(error?.type === "error");
    assert.deepEqual([error.code, error.error.code], ["store_failed", "store_failed"]);
    assert.equal(lastOf(events).status, "failed");
    assert.doesNotMatch(text, /secret/);
  });

  it(...possibly("tells those who follow it as well"), async (t) => {
    const model = counting();
    const server = await startServer(t, model.engine, { server: { onDefect() {} } });
    const { id } = await server.create({ input: "Count", background: true });
    model.allow(BEGINNING + 1);
    const stream = await openStream(server, `/v1/responses/${id}?stream=true`);
    await stream.until((text) => text.includes('"delta":"One  "'));
    breakStore(server);
    model.allow(Number.POSITIVE_INFINITY);
    const text = await stream.rest();
    assert.ok(text.endsWith("data: [DONE]\n\n"), text.slice(-300));
    checkEvents(readEvents(text));
  });
});

describe("a WebSocket whose record cannot be written", () => {
  it("sends an error, and takes the next turn", async (t) => {
    const text = "One  two  three four  five. ";
    const model = createGatedModel(() => reply.text(text, { pieceLength: 5 }));
    const quiet = { onDefect() {} };
    const server = await startSocketServer(t, model.engine, { server: quiet, socket: quiet });
    const socket = await server.connect();
    model.allow(BEGINNING + 1);
    socket.send({ type: "response.create", input: "Count" });
    await socket.until("response.output_text.delta");
    breakStore(server);
    model.allow(Number.POSITIVE_INFINITY);
    const events = await socket.until("error");
    assert.equal(events.at(-1)?.error?.code, "store_failed");
    assert.doesNotMatch(JSON.stringify(events), /secret/);
    const next = await socket.turn({ input: "Count again", store: false });
    assert.equal(next.at(-1)?.type, "response.completed");
  });
});

describe("events that stop with a failure", () => {
  const begun = (number: number): EmittedEvent =>
    ({
      type: number === 0 ? "response.created" : "response.in_progress",
      sequence_number: number,
      response: { id: "resp_1", status: "in_progress", output: [] },
    }) as unknown as EmittedEvent;

  async function read(batches: readonly (readonly object[])[]): Promise<string> {
    async function* events() {
      for (const batch of batches) yield batch as readonly EmittedEvent[];
      throw new Failure("internal", "A bug at /secret.");
    }
    const server = await openServer({
      host: "127.0.0.1",
      port: 0,
      routes: [
        {
          method: "GET",
          path: "/",
          summary: "",
          scope: null,
          handle: async () => ({ kind: "events", events: events() }),
        },
      ],
      guard: { admit: async () => ({ caller: {} as never, async countMore() {}, done() {} }) },
      body: { maxBytes: 1, timeoutMs: 1000 },
      send: { keepAliveMs: 60_000, commitMs: 60_000 },
      onDefect() {},
    });
    try {
      return await (await fetch(server.url, { headers: { connection: "close" } })).text();
    } finally {
      server.destroy();
      await server.close();
    }
  }

  it("end a stream of responses with its terminal event, with the next number", async () => {
    const said = { type: "response.output_item.added", sequence_number: 2 };
    const text = await read([[begun(0), begun(1)], [said]]);
    assert.ok(text.endsWith("data: [DONE]\n\n"), text);
    const last = readEvents(text).slice(-2);
    assert.deepEqual(
      last.map(({ type, sequence_number }) => [type, sequence_number]),
      [
        ["error", 3],
        ["response.failed", 4],
      ],
    );
    assert.match(text, /event: error\n/);
    assert.doesNotMatch(text, /secret/);
  });

  it("end a stream of chat completions with an error", async () => {
    const text = await read([[{ frame: "{}" }]]);
    assert.match(text, /data: \{"error":\{[^\n]+\}\}\n\ndata: \[DONE\]\n\n$/);
  });
});
