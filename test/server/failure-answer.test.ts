/** Failures as clients of the API read them, over HTTP. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { checkError } from "../conformance/check.ts";
import { startServer } from "./server-bench.ts";

describe("a model that nobody serves", () => {
  it("is refused alike wherever it is named", async (t) => {
    const usual = { model: "embedded/offline", provider: null, url: null, api_key_name: null };
    const settings = { models: { named: [], usual } };
    const server = await startServer(t, script(reply.text("Hi")), { settings });
    const model = "nobody-knows-it";
    for (const [method, path, body] of [
      ["POST", "/v1/responses", { model, input: "Hi" }],
      ["POST", "/v1/responses", { model, input: "Hi", stream: true }],
      ["POST", "/v1/chat/completions", { model, messages: [{ role: "user", content: "Hi" }] }],
    ] as const) {
      const answer = await server.ask(method, path, body);
      checkError(answer, { status: 404, code: "model_not_found", param: "model" });
      const { error } = answer.body as { error: { type: string } };
      assert.equal(error.type, "invalid_request_error", path);
    }
  });
});
