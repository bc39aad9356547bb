/** Messages of a client to a running response and its subagents. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { reply, script } from "../../src/testing/index.ts";
import { createTwoChildren } from "../delegation/two-children.ts";
import { until } from "../patience.ts";
import { openStream } from "./server-complaints-fixture.ts";
import { ANYBODY, startServer, type TestServer } from "./server-fixture.ts";

const OWN = { type: "mcp", server_label: "offshoot", require_approval: "never" };

/** A response in the background whose two subagents are at work. */
async function start(t: TestContext) {
  const model = createTwoChildren("offshoot__subagent");
  const server = await startServer(t, model.engine);
  const { id } = await server.create({ input: "Begin", tools: [OWN], background: true });
  await server.upstream.waitForRequest(3);
  return { model, server, id };
}

async function waitForEnd(server: TestServer, id: string): Promise<EmittedResponse> {
  return await until(async () => {
    const { body } = await server.ask("GET", `/v1/responses/${id}`);
    const response = body as EmittedResponse;
    return response.status === "completed" ? response : undefined;
  }, "the response completes");
}

describe("a response that runs", () => {
  it("has one subagent stopped, another steered, and is steered itself", async (t) => {
    const { model, server, id } = await start(t);
    const path = `/v1/responses/${id}`;
    const cancelled = await server.ask("POST", `${path}/cancel`, { subagent: "stopped-1.0" });
    assert.equal(cancelled.status, 200);
    assert.equal((cancelled.body as EmittedResponse).status, "in_progress");
    const child = await server.ask("POST", `${path}/steer`, {
      text: "Look at b",
      subagent: "steered-1.1",
    });
    assert.deepEqual(child, {
      status: 200,
      body: { id, object: "response.steered", subagent: "steered-1.1" },
    });
    const root = await server.ask("POST", `${path}/steer`, { text: "Be brief" });
    assert.deepEqual(root.body, { id, object: "response.steered", subagent: null });
    model.release();
    const response = await waitForEnd(server, id);
    assert.match(response.output_text ?? "", /cancelled.*Looked at b\..*"Be brief"\]$/);

    const next = await server.create({ input: "And now?", previous_response_id: id });
    assert.match(next.output_text ?? "", /"Be brief".*"And now\?"\]$/);
  });

  it("need not run in the background for it", async (t) => {
    const model = createTwoChildren("offshoot__subagent");
    const server = await startServer(t, model.engine);
    const asked = { input: "Begin", tools: [OWN], stream: true };
    const stream = await openStream(server, "/v1/responses", asked);
    await server.upstream.waitForRequest(3);
    const id = /"id":"(resp_\w+)"/.exec(await stream.until((text) => text.includes("resp_")))?.[1];
    const stop = { subagent: "stopped-1.0" };
    assert.equal((await server.ask("POST", `/v1/responses/${id}/cancel`, stop)).status, 200);
    model.release();
    assert.match(await stream.rest(), /response\.completed/);
  });

  it("names its subagents if a request names an unknown one", async (t) => {
    const { model, server, id } = await start(t);
    for (const action of ["cancel", "steer"]) {
      const body = { text: "Hi", subagent: "nobody" };
      const refused = await server.ask("POST", `/v1/responses/${id}/${action}`, body);
      assert.equal(refused.status, 404);
      const { error } = refused.body as { error: { message: string; param: string } };
      assert.equal(error.param, "subagent");
      assert.match(error.message, /no subagent `nobody`\. Those that run: .*`stopped-1\.0`/);
    }
    model.release();
    await server.ask("POST", `/v1/responses/${id}/cancel`);
  });

  it("does not exist for other tenants", async (t) => {
    const { server, id, model } = await start(t);
    const { api } = server.responses;
    const other = { ...ANYBODY, tenant: "other" };
    await assert.rejects(api.steer(id, other, { text: "Hi" }), { code: "not_found" });
    const stop = api.cancel(id, other, { subagent: "stopped-1.0" });
    await assert.rejects(stop, { code: "not_found" });
    model.release();
    await api.cancel(id, ANYBODY);
  });
});

describe("a steered response", () => {
  const BAD: readonly (readonly [unknown, number, RegExp])[] = [
    [{ text: " " }, 400, /message is empty/],
    [{}, 400, /`text` is missing/],
    [{ text: 1 }, 400, /`text` must be a string/],
    [{ text: "Hi", subagent: 1 }, 400, /`subagent` must be a string/],
    [{ text: "Hi" }, 409, /This response has ended/],
  ];
  for (const [body, status, message] of BAD) {
    it(`is refused ${JSON.stringify(body)} once it has ended`, async (t) => {
      const server = await startServer(t, script(reply.text("Hello.")));
      const { id } = await server.create({ input: "Hi" });
      const refused = await server.ask("POST", `/v1/responses/${id}/steer`, body);
      assert.equal(refused.status, status);
      const { error } = refused.body as { error: { message: string } };
      assert.match(error.message, message);
    });
  }
});
