import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startChatUpstream } from "../../src/testing/chat-upstream.ts";
import { reply } from "../../src/testing/reply.ts";
import { respond, type Script, script } from "../../src/testing/script.ts";
import { post } from "./post.ts";

const BODY = { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true };

describe("upstream", () => {
  const refusals = [
    { name: "a wrong path", path: "/v1/nothing", status: 404 },
    { name: "a wrong method", method: "GET", status: 405, code: "method_not_supported" },
    { name: "a body that is not JSON", body: "{", status: 400 },
    { name: "a body that is not an object", body: "[1]", status: 400 },
    { name: "a missing key", headers: {}, status: 401 },
    {
      name: "a wrong key",
      headers: { authorization: "Bearer no" },
      status: 401,
      code: "invalid_api_key",
    },
  ];
  for (const {
    name,
    path = "/v1/chat/completions",
    method,
    body,
    headers,
    status,
    code,
  } of refusals) {
    it(`refuses ${name} in the vendor's form`, async () => {
      await using upstream = await startChatUpstream({ key: "secret" });
      const answer = await post(new URL(path, upstream.url).href, body ?? BODY, {
        method: method ?? "POST",
        headers: headers ?? { authorization: "Bearer secret" },
      });
      assert.equal(answer.status, status);
      const { error } = JSON.parse(answer.text);
      assert.deepEqual(Object.keys(error).sort(), ["code", "message", "param", "type"]);
      assert.equal(error.code, code ?? null);
      assert.ok(!answer.text.includes("secret"));
    });
  }

  it("accepts the right key and records the request", async () => {
    await using upstream = await startChatUpstream({
      key: "secret",
      engine: script(reply.text("Hi")),
    });
    assert.match(upstream.url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    const waiting = upstream.waitForRequest(1);
    const headers = { authorization: "Bearer secret", "x-test": "yes" };
    const answer = await post(`${upstream.url}/chat/completions`, BODY, { headers });
    assert.equal(answer.status, 200);
    const request = await waiting;
    assert.equal(request, upstream.requests[0]);
    assert.equal(request.method, "POST");
    assert.equal(request.path, "/v1/chat/completions");
    assert.equal(request.headers["x-test"], "yes");
    assert.deepEqual(request.body, BODY);
    await request.ended;
    assert.equal(request.aborted, false);
  });

  it("refuses a promise from `respond`, or a value that is not a reply, in one line", async () => {
    for (const [choose, what] of [
      [async () => reply.text("Hi"), "a promise"],
      [() => "Hi", "a value of type string"],
    ] as const) {
      // As a program without types does.
      const engine: Script = Reflect.apply(respond, undefined, [choose]);
      await using upstream = await startChatUpstream({ engine });
      const answer = await post(`${upstream.url}/chat/completions`, BODY);
      assert.equal(answer.status, 400);
      const { message } = JSON.parse(answer.text).error;
      assert.ok(message.startsWith(`The function of \`respond\` returned ${what}. `), message);
    }
  });

  it("notices a client that leaves", async () => {
    await using upstream = await startChatUpstream({
      engine: script(reply.silence("Hello there")),
    });
    const control = new AbortController();
    const answer = post(`${upstream.url}/chat/completions`, BODY, {
      signal: control.signal,
      onChunk: () => control.abort(),
    });
    const request = await upstream.waitForRequest(1);
    await request.ended;
    assert.equal(request.aborted, true);
    assert.equal((await answer).broken, "ABORT_ERR");
  });

  it("stops an engine whose client has left: its signal aborts, its generator returns", async () => {
    const start = { type: "start", response_id: "", model: "" } as const;
    let onAbort = (): void => {};
    let onReturn = (): void => {};
    const stopped = Promise.all([
      new Promise<void>((resolve) => {
        onAbort = resolve;
      }),
      new Promise<void>((resolve) => {
        onReturn = resolve;
      }),
    ]);
    await using upstream = await startChatUpstream({
      engine: async function* (_, { signal }) {
        signal.addEventListener("abort", onAbort);
        try {
          yield [start];
          for (;;) yield [{ type: "text_delta", index: 0, part: 0, delta: "on and on" }];
        } finally {
          onReturn();
        }
      },
    });
    const control = new AbortController();
    await post(`${upstream.url}/chat/completions`, BODY, {
      signal: control.signal,
      onChunk: () => control.abort(),
    });
    await stopped;
  });

  it("gives the replies of a script in order, then HTTP 500", async () => {
    await using upstream = await startChatUpstream({
      engine: script(
        reply.status(418, { error: { message: "teapot" } }, { "x-kind": "tea" }),
        reply.raw("data: as it is\n"),
        reply.raw(['{"a":1}', "[DONE]"]),
      ),
    });
    const url = `${upstream.url}/chat/completions`;
    const teapot = await post(url, BODY);
    assert.equal(teapot.status, 418);
    assert.equal(teapot.headers["x-kind"], "tea");
    assert.equal(teapot.text, '{"error":{"message":"teapot"}}');
    assert.equal((await post(url, BODY)).text, "data: as it is\n");
    assert.equal((await post(url, BODY)).text, 'data: {"a":1}\n\ndata: [DONE]\n\n');
    const spent = await post(url, BODY);
    assert.equal(spent.status, 500);
    assert.equal(JSON.parse(spent.text).error.message, "script exhausted");
  });

  it("answers HTTP 500 when its engine fails before any output", async () => {
    await using upstream = await startChatUpstream({
      // biome-ignore lint/correctness/useYield: it fails before it could.
      engine: async function* () {
        throw new Error("no model");
      },
    });
    const answer = await post(`${upstream.url}/chat/completions`, BODY);
    assert.equal(answer.status, 500);
    assert.equal(JSON.parse(answer.text).error.message, "no model");
  });

  it("ends open connections when it is closed", async () => {
    const upstream = await startChatUpstream({ engine: script(reply.silence()) });
    const answer = post(`${upstream.url}/chat/completions`, BODY);
    await upstream.waitForRequest(1);
    await upstream.close();
    assert.ok((await answer).broken);
    await upstream.close();
  });
});
