/** Failures as clients of the API read them, over HTTP. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FAILURES, Failure, type FailureCode } from "../../src/base/failure.ts";
import { toFailureAnswer } from "../../src/server/failure-answer.ts";
import { reply, respond, script } from "../../src/testing/index.ts";
import { checkError } from "../conformance/check.ts";
import { startServer } from "./server-fixture.ts";

const CHAT = { messages: [{ role: "user", content: "Hi" }] };
const RESPONSE = { input: "Hi" };

/** Each address has the status of its own API for a model that is not there. */
const ADDRESSES = [
  ["/v1/responses", RESPONSE, 400],
  ["/v1/responses", { ...RESPONSE, store: false }, 400],
  ["/v1/responses", { ...RESPONSE, stream: true }, 400],
  ["/v1/responses/compact", RESPONSE, 400],
  ["/v1/chat/completions", CHAT, 404],
  ["/v1/chat/completions", { ...CHAT, stream: true }, 404],
] as const;

describe("a model that does not exist", () => {
  it("is refused with the status of the address, and alike in all else", async (t) => {
    const usual = { model: "embedded/offline", provider: null, url: null, api_key_name: null };
    const settings = { models: { named: [], usual } };
    const server = await startServer(t, script(reply.text("Hi")), { settings });
    for (const [path, body, status] of ADDRESSES) {
      const answer = await server.ask("POST", path, { ...body, model: "nobody-knows-it" });
      checkError(answer, { status, code: "model_not_found", param: "model" });
      const { error } = answer.body as { error: { type: string } };
      assert.equal(error.type, "invalid_request_error", path);
    }
  });

  it("is reported as such where only the model's own server knows it", async (t) => {
    const missing = { message: "The model `up` does not exist.", type: "NotFoundError", code: 404 };
    const server = await startServer(
      t,
      respond(() => reply.status(404, { error: missing })),
    );
    for (const [path, body, status] of ADDRESSES) {
      const answer = await server.ask("POST", path, { ...body, model: "up" });
      checkError(answer, { status, code: "model_not_found", param: "model" });
    }
  });
});

describe("a model's server that does not answer", () => {
  it("is not told to clients by its address", async (t) => {
    const at = "127.0.0.1:9";
    const usual = {
      model: "custom/up",
      provider: null,
      url: `http://${at}/v1`,
      api_key_name: null,
    };
    const retry = { attempts: 1, baseMs: 1, maxMs: 1, maxRetryAfterMs: 1 };
    const settings = { models: { named: [], usual } };
    const server = await startServer(t, script(), { settings, retry });
    for (const [path, body] of ADDRESSES) {
      const answer = await server.ask("POST", path, { ...body, model: "up" });
      assert.equal(answer.status, 502, JSON.stringify(answer.body));
      const { error } = answer.body as { error: { message: string } };
      assert.doesNotMatch(error.message, /127|:9/, path);
      assert.match(error.message, /the model's server/);
    }
  });
});

describe("a failure that asking again does not help", () => {
  for (const code of Object.keys(FAILURES) as FailureCode[]) {
    const { status, retryable } = FAILURES[code];
    if (status < 500) continue;
    it(`${retryable ? "is none, and clients may retry" : "says so to clients"}: ${code}`, () => {
      for (const speaks of [undefined, "responses", "chat", "messages", "mcp"] as const) {
        const { headers, body } = toFailureAnswer(new Failure(code, "No."), speaks);
        assert.equal(headers?.["x-should-retry"], retryable ? undefined : "false", speaks);
        const { error } = body as { error: { type?: string } };
        if (!retryable) assert.notEqual(error.type, "overloaded_error");
      }
    });
  }

  it("is a key that this server lacks: no client is told that it is overloaded", async (t) => {
    const usual = {
      model: "anthropic/claude-sonnet-4-5",
      provider: null,
      url: null,
      api_key_name: null,
    };
    const server = await startServer(t, script(), { settings: { models: { named: [], usual } } });
    const body = JSON.stringify({ max_tokens: 9, ...CHAT });
    const answer = await fetch(`${server.url}/v1/messages`, { method: "POST", body });
    assert.deepEqual([answer.status, answer.headers.get("x-should-retry")], [503, "false"]);
    const { error } = (await answer.json()) as { error: { type: string } };
    assert.equal(error.type, "api_error");
  });

  it("may be asked again if it says when", () => {
    const failure = new Failure("internal", "No.", { retryAfterMs: 1000 });
    const { headers } = toFailureAnswer(failure, "messages");
    assert.equal(headers?.["x-should-retry"], undefined);
    assert.equal(headers?.["retry-after"], "1");
  });
});

describe("a refusal that names a field of the model's own API", () => {
  it("names the client's field in its place", async (t) => {
    const error = { message: "Too long.", type: "invalid_request_error", param: "messages[3]" };
    const server = await startServer(
      t,
      respond(() => reply.status(400, { error })),
    );
    for (const [path, body, param] of [
      ["/v1/responses", RESPONSE, "input"],
      ["/v1/responses", { ...RESPONSE, store: false }, "input"],
      ["/v1/chat/completions", CHAT, "messages[3]"],
    ] as const) {
      const answer = await server.ask("POST", path, body);
      checkError(answer, { status: 400, code: "provider_rejected", param });
    }
  });
});
