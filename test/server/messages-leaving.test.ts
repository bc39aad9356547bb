/** Clients of the Messages API that leave, or ask the same twice: what the model does then. */

import assert from "node:assert/strict";
import { request as sendRequest } from "node:http";
import { describe, it } from "node:test";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { reply, respond } from "../../src/testing/index.ts";
import { untilTrue } from "../patience.ts";
import { openStream } from "./server-complaints-fixture.ts";
import { startServer } from "./server-fixture.ts";

const ASKED = { model: "m", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] };

describe("a Messages client that leaves", () => {
  // With a session, a response is stored; this API has no way to return to it, so it ends in any case.
  for (const store of [false, true]) {
    const kind = store ? "a stored answer" : "an answer that is not stored";
    it(`ends the model's work on ${kind}, streamed`, async (t) => {
      const server = await startServer(
        t,
        respond(() => reply.silence("One two three.")),
      );
      const body = { ...ASKED, store, stream: true };
      const stream = await openStream(server, "/v1/messages", body);
      const text = await stream.until((read) => read.includes("text_delta"));
      await stream.leave();
      await server.upstream.requests[0]?.ended;
      assert.equal(server.upstream.requests[0]?.aborted, true);
      if (!store) return;
      const id = /"id":"msg_(\w+)"/.exec(text)?.[1] ?? assert.fail(text);
      const run = await server.responses.durable.result(toRunId(`resp_${id}`));
      assert.equal(run.ending, "cancelled");
    });

    it(`ends the model's work on ${kind}, whole`, async (t) => {
      const server = await startServer(
        t,
        respond(() => reply.silence("One two three.")),
      );
      const leave = new AbortController();
      const asked = fetch(`${server.url}/v1/messages`, {
        method: "POST",
        body: JSON.stringify({ ...ASKED, store }),
        signal: leave.signal,
      });
      await untilTrue(() => server.upstream.requests.length === 1, "the model is asked");
      leave.abort();
      await assert.rejects(asked);
      await server.upstream.requests[0]?.ended;
      assert.equal(server.upstream.requests[0]?.aborted, true);
      assert.equal(server.upstream.requests.length, 1, "no model is asked again");
    });
  }

  it("in the middle of its own body sends nothing to the model", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Hi.")),
    );
    const { hostname, port } = new URL(server.url);
    const request = sendRequest({
      hostname,
      port,
      method: "POST",
      path: "/v1/messages",
      headers: { "content-length": "1000" },
    });
    request.on("error", () => {});
    const closed = new Promise((resolve) => request.on("close", resolve));
    request.write('{"model": "m", "messages": [', () => request.destroy());
    await closed;
    const { status } = await server.ask("POST", "/v1/messages", ASKED);
    assert.equal(status, 200);
    assert.equal(server.upstream.requests.length, 1);
  });
});
