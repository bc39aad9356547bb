/** `offshoot/server` in a program's own servers: `node:http`, a middleware, a function from `Request` to `Response`. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { WebSocket } from "ws";
import type { EmittedResponse } from "../../../src/protocol/emitted.ts";
import type { Provider } from "../../../src/providers/provider.ts";
import {
  createServerApp,
  type ServerApp,
  type ServerAppOptions,
} from "../../../src/server/index.ts";
import { createScriptedProvider, reply } from "../../../src/testing/index.ts";
import { untilTrue } from "../../patience.ts";
import { readEvents } from "../server-fixture.ts";
import { openTestApp } from "./test-app.ts";

const HELLO = { model: "any", input: "Hello" };

describe("a server inside a program's own server", () => {
  it("answers every API under `node:http`", async (t) => {
    const replies = [reply.text("One."), reply.text("Two."), reply.text("Three.")];
    const { app, key } = await openTestApp(t, replies);
    const url = await serve(t, (request, response) => void app.handle(request, response));
    const ask = async (path: string, body: object): Promise<unknown> =>
      await (await fetch(`${url}${path}`, toPost(body, key))).json();
    const messages = [{ role: "user", content: "Hello" }];
    const response = (await ask("/v1/responses", HELLO)) as EmittedResponse;
    assert.match(JSON.stringify(response.output), /One\./);
    const chat = await ask("/v1/chat/completions", { model: "any", messages });
    assert.match(JSON.stringify(chat), /"chat\.completion".*Two\./);
    const message = await ask("/v1/messages", { model: "any", max_tokens: 9, messages });
    assert.match(JSON.stringify(message), /Three\./);
    const kept = await fetch(`${url}/v1/responses/${response.id}`, { headers: bearer(key) });
    assert.deepEqual(((await kept.json()) as EmittedResponse).output, response.output);
  });

  it("leaves other addresses to the next handler, and reads a body that was parsed before", async (t) => {
    const { app, key } = await openTestApp(t, [reply.text("Read.")]);
    const url = await serve(t, async (request, response) => {
      const parsed = Object.assign(request, { body: await readJson(request) });
      await app.handle(parsed, response, () => response.end("the program's own page"));
    });
    assert.equal(await (await fetch(`${url}/shop`)).text(), "the program's own page");
    const answer = await fetch(`${url}/v1/responses`, toPost(HELLO, key));
    assert.match(await answer.text(), /Read\./);
  });

  it("reads a body that was parsed before as text or as bytes", async (t) => {
    const { app, key } = await openTestApp(t, [reply.text("Read."), reply.text("Read.")]);
    for (const parse of [JSON.stringify, (value: unknown) => Buffer.from(JSON.stringify(value))]) {
      const url = await serve(t, async (request, response) => {
        const parsed = Object.assign(request, { body: parse(await readJson(request)) });
        await app.handle(parsed, response);
      });
      const answer = await fetch(`${url}/v1/responses`, toPost(HELLO, key));
      assert.match(await answer.text(), /Read\./);
    }
  });

  it("takes WebSockets from the program's server", async (t) => {
    const { app, key } = await openTestApp(t, [reply.text("Over a socket.")]);
    const url = await serve(t, (request, response) => void app.handle(request, response), app);
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, {
      headers: bearer(key),
    });
    await once(socket, "open");
    const types: string[] = [];
    const done = new Promise<void>((resolve) => {
      socket.on("message", (data) => {
        const { type } = JSON.parse(String(data)) as { type: string };
        types.push(type);
        if (type === "response.completed") resolve();
      });
    });
    socket.send(JSON.stringify({ type: "response.create", ...HELLO }));
    await done;
    assert.ok(types.includes("response.output_text.delta"));
    socket.close();
    await once(socket, "close");
  });

  it("is a function from `Request` to `Response`", async (t) => {
    const { app, key } = await openTestApp(t, [reply.text("Whole."), reply.text("In pieces.")]);
    const whole = await app.fetch(toRequest("/v1/responses", HELLO, key));
    assert.equal(whole.status, 200);
    assert.equal(whole.headers.get("content-type"), "application/json");
    assert.equal(whole.headers.get("connection"), null);
    assert.match(JSON.stringify(await whole.json()), /Whole\./);
    const streamed = await app.fetch(toRequest("/v1/responses", { ...HELLO, stream: true }, key));
    assert.match(String(streamed.headers.get("content-type")), /^text\/event-stream/);
    const events = readEvents(await streamed.text());
    assert.deepEqual(
      [events[0]?.type, events.at(-1)?.type],
      ["response.created", "response.completed"],
    );
    const head = await app.fetch(new Request("http://localhost/", { method: "HEAD" }));
    assert.deepEqual([head.status, head.body], [200, null]);
    const lost = await app.fetch(new Request("http://localhost/nowhere", { headers: bearer(key) }));
    assert.equal(lost.status, 404);
    assert.match(await lost.text(), /"error"/);
  });

  it("ends the run of a `Request` whose client leaves", async (t) => {
    for (const leave of [byAbort, byCancel]) {
      const { provider, aborted } = watchCalls(createScriptedProvider(reply.silence("I am think")));
      const { app, key } = await openTestApp(t, [], { provider });
      const stop = new AbortController();
      // A stored response would continue without its client.
      const body = { ...HELLO, stream: true, store: false };
      const asked = toRequest("/v1/responses", body, key, stop.signal);
      const answer = await app.fetch(asked);
      const reader = (answer.body ?? assert.fail("no body")).getReader();
      await reader.read();
      await leave(reader, stop);
      await untilTrue(() => aborted.count === 1, "the model call to be aborted");
    }
  });

  it("refuses a body that breaks off, runs nothing and answers the next request", async (t) => {
    const { app, key, asked } = await openTestApp(t, [reply.text("Whole.")]);
    const form = "multipart/form-data; boundary=b";
    const file = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc';
    const rows: readonly [path: string, begun: string, type?: string][] = [
      ["/v1/responses", '{"model":"any","input":"Hel'],
      ["/v1/responses", '{"model":"any","input":"Hello"}'],
      ["/v1/messages", '{"model":"any","max_tokens":9,"messages":[]}'],
      ["/v1/chat/completions", '{"model":"any"'],
      ["/mcp", '{"jsonrpc":"2.0",'],
      ["/v1/files", file, form],
      ["/v1/files", "", form],
    ];
    for (const [path, begun, type = "application/json"] of rows) {
      for (const cause of [new Error("too slow"), undefined]) {
        const headers = { ...bearer(key), "content-type": type };
        const body = breakAfter(begun, cause);
        const answer = await app.fetch(toBroken(path, { headers, body }));
        const text = await answer.text();
        assert.equal(answer.status, 400, `${path}: ${text}`);
        assert.match(text, new RegExp(`broke off after ${begun.length} bytes`), path);
      }
    }
    const unknown = toBroken("/v1/responses", { headers: {}, body: breakAfter("{", undefined) });
    assert.equal((await app.fetch(unknown)).status, 401);
    assert.equal(asked.length, 0);
    assert.equal((await app.fetch(toRequest("/v1/responses", HELLO, key))).status, 200);
    assert.equal(asked.length, 1);
  });

  it("sends a long answer whole", async (t) => {
    const text = "x".repeat(3_000_000);
    const { app, key } = await openTestApp(t, [reply.text(text, { pieceLength: 50_000 })]);
    const answer = await app.fetch(toRequest("/v1/responses", { ...HELLO, stream: true }, key));
    const events = readEvents(await answer.text());
    const said = events.flatMap((event) =>
      event.type === "response.output_text.delta" ? [event.delta] : [],
    );
    assert.equal(said.join("").length, text.length);
  });

  it("asks the program who a caller is, and refuses unknown ones and what they may not do", async (t) => {
    const { app } = await openTestApp(t, [reply.text("For Ann."), reply.text("For Bob.")], {
      caller: ({ headers }) => {
        const name = headers["x-user"];
        if (typeof name !== "string") return undefined;
        return name === "reader" ? { tenant: name, scopes: ["runs"] } : { tenant: name };
      },
    });
    const askAs = (user: string | undefined, path: string, body?: object): Promise<Response> => {
      const headers = user === undefined ? {} : { "x-user": user };
      const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
      return app.fetch(new Request(`http://localhost${path}`, { ...init, headers }));
    };
    const { id } = (await (await askAs("ann", "/v1/responses", HELLO)).json()) as EmittedResponse;
    assert.equal((await askAs("ann", `/v1/responses/${id}`)).status, 200);
    assert.equal((await askAs("bob", `/v1/responses/${id}`)).status, 404);
    assert.equal((await askAs(undefined, "/v1/responses", HELLO)).status, 401);
    assert.equal((await askAs("reader", "/v1/responses", HELLO)).status, 403);
  });

  it("reads only the settings that it is given, and refuses invalid ones", async () => {
    await assert.rejects(createServerApp({ settings: { server: { prot: 1 } } }), {
      code: "invalid_request",
      message: /prot/,
    });
    await assert.rejects(createServerApp({ tool: [] } as unknown as ServerAppOptions), {
      message: /no option `tool`/,
    });
  });

  it("refuses requests after it was closed", async (t) => {
    const { app, key } = await openTestApp(t, []);
    assert.equal(await app.close(), true);
    const late = await app.fetch(toRequest("/v1/responses", HELLO, key));
    assert.equal(late.status, 503);
  });
});

type Leave = (
  reader: ReadableStreamDefaultReader<Uint8Array>,
  stop: AbortController,
) => Promise<void> | void;

const byAbort: Leave = (_, stop) => stop.abort();
const byCancel: Leave = async (reader) => await reader.cancel();

/** Counts the calls of a model that were aborted. */
function watchCalls(model: Provider): { provider: Provider; aborted: { count: number } } {
  const aborted = { count: 0 };
  const stream: Provider["stream"] = (request, call) => {
    call.signal.addEventListener("abort", () => aborted.count++, { once: true });
    return model.stream(request, call);
  };
  return { provider: { ...model, stream }, aborted };
}

async function serve(
  t: TestContext,
  listener: RequestListener,
  app?: Pick<ServerApp, "upgrade">,
): Promise<string> {
  const server: Server = createServer(listener);
  if (app) server.on("upgrade", app.upgrade);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function readJson(request: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

function toPost(body: object, key: string): RequestInit {
  return { method: "POST", headers: bearer(key), body: JSON.stringify(body) };
}

function toRequest(path: string, body: object, key: string, signal?: AbortSignal): Request {
  const init = { ...toPost(body, key), ...(signal ? { signal } : {}) };
  return new Request(`http://localhost${path}`, init);
}

/** A body that fails when its beginning was read. */
function breakAfter(begun: string, cause: Error | undefined): ReadableStream<Uint8Array> {
  const pieces = begun === "" ? [] : [new TextEncoder().encode(begun)];
  return new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece) controller.enqueue(piece);
      else controller.error(cause);
    },
  });
}

function toBroken(path: string, init: Pick<RequestInit, "headers" | "body">): Request {
  return new Request(`http://localhost${path}`, { method: "POST", duplex: "half", ...init });
}
