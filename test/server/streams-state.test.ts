/** Actions on a response in progress, and what its followers see of them. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EmittedEvent, EmittedResponse } from "../../src/protocol/emitted.ts";
import { reply } from "../../src/testing/index.ts";
import { checkError, checkEvents, checkResponse } from "../conformance/check.ts";
import { lastOf, openStream } from "./server-complaints-fixture.ts";
import { readEvents, startServer, type TestServer } from "./server-fixture.ts";
import { BEGINNING, createGatedModel } from "./streams-fixture.ts";

const TOOLS = [{ type: "mcp", server_label: "offshoot", require_approval: "never" }];

/** Says "One two three" and so on, a word a piece. */
const counting = () =>
  createGatedModel(() => reply.text("One  two  three four  five. ", { pieceLength: 5 }));

async function retrieve(server: TestServer, id: string): Promise<EmittedResponse> {
  const { status, body } = await server.ask("GET", `/v1/responses/${id}`);
  assert.equal(status, 200);
  checkResponse(body);
  return body as EmittedResponse;
}

/** Follows from the beginning; it has heard the first word. */
async function followToFirstWord(server: TestServer, id: string) {
  const stream = await openStream(server, `/v1/responses/${id}?stream=true`);
  await stream.until((text) => text.includes('"delta":"One  "'));
  return stream;
}

function endOf(text: string): EmittedEvent[] {
  assert.ok(text.endsWith("data: [DONE]\n\n"), text.slice(-300));
  return readEvents(text);
}

describe("a response that is on its way", () => {
  it("shows how far it is", async (t) => {
    const model = createGatedModel(({ items }) =>
      items.some(({ type }) => type === "function_call_output")
        ? reply.text("It says hi.")
        : reply.calls([{ name: "offshoot__bash_read", arguments: { path: "a.txt" } }]),
    );
    const server = await startServer(t, model.engine, { files: { "a.txt": "hi" } });
    const { id, status } = await server.create({ input: "Read", background: true, tools: TOOLS });
    assert.equal(status, "queued");
    model.allow(1);
    await model.waitForGiven(1);
    const stream = await openStream(server, `/v1/responses/${id}?stream=true`);
    await stream.until((text) => text.includes("response.mcp_list_tools.completed"));
    const listed = await retrieve(server, id);
    assert.equal(listed.status, "in_progress");
    assert.deepEqual(
      listed.output.map(({ type }) => type),
      ["mcp_list_tools"],
    );
    // The complete call, and the beginning of the answer after it.
    model.allow(10);
    await stream.until((text) => text.includes('"delta":"It say'));
    const called = await retrieve(server, id);
    assert.equal(called.status, "in_progress");
    assert.deepEqual(
      called.output.map(({ type }) => type),
      ["mcp_list_tools", "mcp_call"],
    );
    model.allow(Number.POSITIVE_INFINITY);
    const events = endOf(await stream.rest());
    checkEvents(events);
    assert.deepEqual(await retrieve(server, id), lastOf(events));
  });

  it("tells all who listen when it is cancelled", async (t) => {
    const model = counting();
    const server = await startServer(t, model.engine);
    model.allow(BEGINNING + 1);
    const first = await openStream(server, "/v1/responses", {
      input: "Count",
      background: true,
      stream: true,
    });
    const begun = readEvents(await first.until((text) => text.includes('"delta":"One  "')));
    const id = begun[0] && "response" in begun[0] ? begun[0].response.id : "";
    const second = await followToFirstWord(server, id);
    const { status, body } = await server.ask("POST", `/v1/responses/${id}/cancel`);
    assert.equal(status, 200);
    const events = endOf(await first.rest());
    checkEvents(events);
    assert.deepEqual(endOf(await second.rest()), events);
    assert.deepEqual(lastOf(events), body);
    assert.equal((body as EmittedResponse).status, "cancelled");
    await server.upstream.requests[0]?.ended;
    assert.equal(server.upstream.requests[0]?.aborted, true);
    const again = await server.ask("POST", `/v1/responses/${id}/cancel`);
    assert.deepEqual(again, { status: 200, body });
  });

  it("is not cancelled where it is not in the background", async (t) => {
    const model = counting();
    const server = await startServer(t, model.engine);
    model.allow(BEGINNING + 1);
    const stream = await openStream(server, "/v1/responses", { input: "Count", stream: true });
    const begun = readEvents(await stream.until((text) => text.includes('"delta":"One  "')));
    const id = begun[0] && "response" in begun[0] ? begun[0].response.id : "";
    const refused = await server.ask("POST", `/v1/responses/${id}/cancel`);
    checkError(refused, { status: 400 });
    model.allow(Number.POSITIVE_INFINITY);
    assert.equal(lastOf(endOf(await stream.rest())).status, "completed");
  });

  for (const followers of [1, 20]) {
    it(`tells ${followers} who listen that it has ended when it is deleted`, async (t) => {
      const model = counting();
      const server = await startServer(t, model.engine);
      const { id } = await server.create({ input: "Count", background: true });
      model.allow(BEGINNING + 1);
      const streams = await Promise.all(
        Array.from({ length: followers }, () => followToFirstWord(server, id)),
      );
      const { status } = await server.ask("DELETE", `/v1/responses/${id}`);
      assert.equal(status, 200);
      for (const stream of streams) {
        const events = endOf(await stream.rest());
        checkEvents(events);
        assert.equal(lastOf(events).status, "cancelled");
      }
      for (const path of ["", "?stream=true"]) {
        checkError(await server.ask("GET", `/v1/responses/${id}${path}`), { status: 404 });
      }
    });
  }

  it("cannot be continued yet", async (t) => {
    const model = counting();
    const server = await startServer(t, model.engine);
    const { id } = await server.create({ input: "Count", background: true });
    const next = { input: "And then?", previous_response_id: id };
    for (const body of [next, { ...next, store: false }, { ...next, stream: true }]) {
      const refused = await server.ask("POST", "/v1/responses", body);
      checkError(refused, { status: 409, code: "conflict", param: "previous_response_id" });
    }
    model.allow(Number.POSITIVE_INFINITY);
    assert.equal(
      endOf(String((await server.ask("GET", `/v1/responses/${id}?stream=true`)).body)).at(-1)?.type,
      "response.completed",
    );
    assert.equal((await server.create(next)).status, "completed");
  });
});

describe("following past the end", () => {
  it("gives no event of one that has ended", async (t) => {
    const model = counting();
    model.allow(Number.POSITIVE_INFINITY);
    const server = await startServer(t, model.engine);
    const { id } = await server.create({ input: "Count" });
    for (const after of [1000, Number.MAX_SAFE_INTEGER]) {
      const path = `/v1/responses/${id}?stream=true&starting_after=${after}`;
      assert.deepEqual(await server.ask("GET", path), { status: 200, body: "data: [DONE]\n\n" });
    }
    for (const after of ["-2", "x", "1.5", "1e400"]) {
      const path = `/v1/responses/${id}?stream=true&starting_after=${after}`;
      checkError(await server.ask("GET", path), { status: 400, param: "starting_after" });
    }
  });

  it("waits for the end of one that runs, and gives no event before the number", async (t) => {
    const model = counting();
    const server = await startServer(t, model.engine, {
      server: { send: { keepAliveMs: 5, commitMs: 1 } },
    });
    const { id } = await server.create({ input: "Count", background: true });
    const far = await openStream(server, `/v1/responses/${id}?stream=true&starting_after=9999`);
    const near = await openStream(server, `/v1/responses/${id}?stream=true&starting_after=9`);
    await far.until((text) => text.includes(": keep-alive\n\n"));
    model.allow(Number.POSITIVE_INFINITY);
    assert.deepEqual(endOf(await far.rest()), []);
    const heard = endOf(await near.rest());
    assert.equal(heard[0]?.sequence_number, 10);
    assert.equal(heard.at(-1)?.type, "response.completed");
  });
});
