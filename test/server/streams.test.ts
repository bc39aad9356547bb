/** Streams byte by byte: frames, headers, old clients, slow clients, clients that leave. */

import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import type { EmittedEvent } from "../../src/protocol/emitted.ts";
import type { EventsAnswer, StreamEvent } from "../../src/server/route.ts";
import { type SendSettings, sendAnswer } from "../../src/server/send-answer.ts";
import { reply, script } from "../../src/testing/index.ts";
import { checkEvents } from "../conformance/check.ts";
import { lastOf, openStream } from "./server-complaints-fixture.ts";
import { readEvents, startServer } from "./server-fixture.ts";
import {
  BEGINNING,
  createGatedModel,
  openBareClient,
  sayAtLength,
  toPost,
} from "./streams-fixture.ts";

const SEND: SendSettings = { keepAliveMs: 60_000, commitMs: 1 };

describe("a stream on the wire", () => {
  it("is chunked frames that name their type, and ends with [DONE]", async (t) => {
    const server = await startServer(t, script(reply.text("Hello. \u{1f642} A\nB\r\nC\u0085D")));
    const lines = toPost("/v1/responses", { input: "Hi", stream: true });
    const client = await openBareClient(t, server.url, lines);
    const text = await client.until((read) => read.endsWith("\r\n0\r\n\r\n"));
    const [head = "", ...rest] = text.split("\r\n\r\n");
    assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    for (const line of [
      "content-type: text/event-stream; charset=utf-8",
      "cache-control: no-cache, no-transform",
      "x-accel-buffering: no",
      "transfer-encoding: chunked",
    ]) {
      assert.ok(head.toLowerCase().includes(`\r\n${line}`), line);
    }
    assert.match(head, /\r\nx-request-id: resp_/i);
    const body = dechunk(rest.join("\r\n\r\n"));
    const frames = body.split("\n\n").slice(0, -1);
    assert.equal(frames.pop(), "data: [DONE]");
    for (const frame of frames) {
      const [, event, data] =
        /^event: (\S+)\ndata: (\{[^\r\n]*\})$/.exec(frame) ?? assert.fail(frame);
      assert.equal((JSON.parse(data ?? "") as EmittedEvent).type, event);
    }
    assert.ok(!/^id:/m.test(body));
    checkEvents(readEvents(body));
  });

  it("comes whole to a client of HTTP/1.0, which knows no chunks", async (t) => {
    const server = await startServer(t, script(reply.text("Hello.")));
    const lines = toPost("/v1/responses", { input: "Hi", stream: true }, "1.0");
    const client = await openBareClient(t, server.url, lines);
    const text = await client.rest();
    const head = text.slice(0, text.indexOf("\r\n\r\n"));
    assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    assert.ok(!/transfer-encoding/i.test(head));
    const body = text.slice(head.length + 4);
    assert.ok(body.endsWith("data: [DONE]\n\n"));
    checkEvents(readEvents(body));
  });

  it("has a head of its own, which ends at once and has no body", async (t) => {
    const server = await startServer(t, script(reply.text("Hello.")));
    const { id } = await server.create({ input: "Hi" });
    const lines = [`HEAD /v1/responses/${id}?stream=true HTTP/1.1`, "Connection: close", "", ""];
    const client = await openBareClient(t, server.url, lines);
    const text = await client.rest();
    assert.match(text, /^HTTP\/1\.1 200 [\s\S]+content-type: text\/event-stream/i);
    assert.ok(text.endsWith("\r\n\r\n"), "no body");
  });

  it("is one write for all that comes at once", async (t) => {
    const { writes, url } = await startSender(t, async function* () {
      yield [{ frame: "1" }, { frame: "2" }];
      yield [{ frame: "3" }];
      yield [{ frame: "4" }, { frame: "5" }, { frame: "6" }];
    });
    await (await fetch(url)).text();
    const frames = ["1", "2", "3", "4", "5", "6"].map((frame) => `data: ${frame}\n\n`);
    assert.deepEqual(writes, [
      frames.slice(0, 2).join(""),
      frames[2],
      frames.slice(3).join(""),
      "data: [DONE]\n\n",
    ]);
  });

  it("is written in pieces where a frame is long, and in whole characters", async (t) => {
    const longest = 1024 * 1024;
    const long = `${"x".repeat(longest - 1)}\u{1f642}${"y".repeat(2 * longest)}`;
    const { writes, url } = await startSender(t, async function* () {
      yield [{ frame: "1" }, { frame: long }, { frame: "2" }];
    });
    const text = await (await fetch(url)).text();
    assert.ok(text === `data: 1\n\ndata: ${long}\n\ndata: 2\n\ndata: [DONE]\n\n`);
    const lengths = writes.map(({ length }) => length);
    assert.ok(Math.max(...lengths) <= longest + 1, lengths.join());
  });

  it("is as whole as an answer in one, however long", async (t) => {
    const said = "\u{1f642}\n".repeat(400_000);
    const answer = reply.text(said, { pieceLength: 90_000 });
    const server = await startServer(t, script(answer, answer));
    const { output_text } = await server.create({ input: "Hi" });
    assert.ok(output_text === said);
    const body = { input: "Hi", stream: true };
    const streamed = String((await server.ask("POST", "/v1/responses", body)).body);
    assert.ok(lastOf(readEvents(streamed)).output_text === said);
  });

  it("is not kept alive while it is not read", async (t) => {
    const send = { keepAliveMs: 1, commitMs: 1 };
    const sender = await startSender(
      t,
      async function* () {
        yield [{ frame: "1" }];
        await sender.ended;
      },
      send,
    );
    sender.holdUp();
    const client = await openBareClient(t, sender.url, ["GET / HTTP/1.1", "", ""]);
    await sender.waitForWrite();
    await ticks(20);
    assert.deepEqual(sender.writes, ["data: 1\n\n"]);
    sender.letThrough();
    await client.until((text) => text.endsWith(": keep-alive\n\n\r\n"));
    sender.end();
    await client.until((text) => text.includes("data: [DONE]\n\n"));
  });
});

describe("a client that reads nothing", () => {
  it("delays no other client, and finds everything when it reads (stored)", async (t) => {
    const model = createGatedModel(() => sayAtLength(4_000_000));
    const server = await startServer(t, model.engine);
    const lines = toPost("/v1/responses", { input: "Hi", stream: true });
    const slow = await openBareClient(t, server.url, [
      ...lines.slice(0, 1),
      "Connection: close",
      ...lines.slice(1),
    ]);
    model.allow(BEGINNING + 1);
    const begun = await slow.until((text) => text.includes("response.output_text.delta"));
    const id = /"id":"(resp_\w+)"/.exec(begun)?.[1];
    model.allow(Number.POSITIVE_INFINITY);
    const events = readEvents(
      String((await server.ask("GET", `/v1/responses/${id}?stream=true`)).body),
    );
    assert.equal(lastOf(events).output_text.length, 4_000_000);
    assert.ok(slow.text.length < 1_000_000, "the slow one has not read it");
    const body = dechunk((await slow.rest()).split("\r\n\r\n").slice(1).join("\r\n\r\n"));
    assert.deepEqual(readEvents(body), events);
  });
});

describe("a client that leaves", () => {
  for (const tools of [
    [],
    [{ type: "mcp", server_label: "offshoot", require_approval: "never" }],
  ]) {
    const kind = tools.length > 0 ? "with the server's tools" : "without tools";
    it(`ends the model's answer where nothing is stored (${kind})`, async (t) => {
      const model = createGatedModel(() => reply.text("One two three."));
      const server = await startServer(t, model.engine);
      model.allow(BEGINNING + 1);
      const body = { input: "Hi", stream: true, store: false, tools };
      const stream = await openStream(server, "/v1/responses", body);
      await stream.until((text) => text.includes("response.output_text.delta"));
      await stream.leave();
      await server.upstream.requests[0]?.ended;
      assert.equal(server.upstream.requests[0]?.aborted, true);
    });

    it(`does not end it where it is stored (${kind})`, async (t) => {
      const model = createGatedModel(() => reply.text("One two three."));
      const server = await startServer(t, model.engine);
      model.allow(BEGINNING + 1);
      const stream = await openStream(server, "/v1/responses", {
        input: "Hi",
        stream: true,
        tools,
      });
      const text = await stream.until((read) => read.includes("response.output_text.delta"));
      await stream.leave();
      model.allow(Number.POSITIVE_INFINITY);
      await server.upstream.requests[0]?.ended;
      assert.equal(server.upstream.requests[0]?.aborted, false);
      const id = /"id":"(resp_\w+)"/.exec(text)?.[1];
      const { body } = await server.ask("GET", `/v1/responses/${id}?stream=true`);
      assert.equal(lastOf(readEvents(String(body))).output_text, "One two three.");
    });
  }
});

/** Timers of a millisecond, one after the other: timers that were set before have fired. */
async function ticks(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setTimeout(resolve, 1));
}

function dechunk(text: string): string {
  const bytes = Buffer.from(text, "utf8");
  let body = "";
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    assert.ok(
      lineEnd > 0 && size >= 0,
      `a chunk begins with ${bytes.toString("latin1", at, at + 20)}`,
    );
    if (size === 0) return body;
    body += bytes.toString("utf8", lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
}

interface Sender {
  readonly url: string;
  /** Each write of the answer. */
  readonly writes: readonly string[];
  waitForWrite(): Promise<void>;
  /**
   * From here on, answers report that they are not read, whatever the system's buffers would still take.
   */
  holdUp(): void;
  letThrough(): void;
  /** Settles `ended`. */
  end(): void;
  readonly ended: Promise<void>;
}

/** A server that answers everything with these events. */
async function startSender(
  t: TestContext,
  events: () => AsyncGenerator<readonly StreamEvent[]>,
  settings = SEND,
): Promise<Sender> {
  const writes: string[] = [];
  let end = (): void => {};
  let written = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const wrote = new Promise<void>((resolve) => {
    written = resolve;
  });
  let isHeldUp = false;
  let letThrough = (): void => {};
  const hold = (response: ServerResponse): void => {
    Object.defineProperty(response, "writableNeedDrain", { get: () => isHeldUp });
    letThrough = () => {
      isHeldUp = false;
      response.emit("drain");
    };
  };
  const note = (response: ServerResponse, name: "write" | "end"): void => {
    const method = response[name].bind(response) as (text: string) => unknown;
    const noted = (text: string): unknown => {
      writes.push(text);
      const done = method(text);
      written();
      return done && !isHeldUp;
    };
    Object.assign(response, { [name]: noted });
  };
  const server = createServer((_request, response) => {
    hold(response);
    note(response, "write");
    note(response, "end");
    const answer: EventsAnswer = { kind: "events", events: events() };
    void sendAnswer(response, answer, { settings, owner: "tenant" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    writes,
    waitForWrite: () => wrote,
    end,
    ended,
    holdUp: () => {
      isHeldUp = true;
    },
    letThrough: () => letThrough(),
  };
}
