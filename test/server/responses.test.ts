import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, script } from "../../src/testing/index.ts";
import { readEvents, startServer } from "./server-fixture.ts";

describe("the responses over HTTP", () => {
  it("answers plainly, and keeps the answer", async (t) => {
    const server = await startServer(t, script(reply.text("Hello.")));
    const made = await server.create({ input: "Hi" });
    assert.equal(made.output_text, "Hello.");
    assert.equal(made.status, "completed");
    const again = await server.ask("GET", `/v1/responses/${made.id}`);
    assert.deepEqual(again, { status: 200, body: made });
  });

  it("streams from 0 without gaps, and gives the same events again from any of them", async (t) => {
    const server = await startServer(t, script(reply.text("One two three.")));
    const events = await server.stream({ input: "Count" });
    assert.deepEqual(
      events.map((event) => event.sequence_number),
      events.map((_, at) => at),
    );
    const id = events[0] && "response" in events[0] ? events[0].response.id : "";
    for (let after = -1; after < events.length; after++) {
      const path = `/v1/responses/${id}?stream=true&starting_after=${after}`;
      const { body } = await server.ask("GET", path);
      assert.deepEqual(readEvents(String(body)), events.slice(after + 1));
    }
  });

  it("continues the conversation of an earlier response", async (t) => {
    const server = await startServer(t, script(reply.text("Blue."), reply.text("You said blue.")));
    const first = await server.create({ input: "My colour is blue.", instructions: "Be short." });
    await server.create({ input: "Which?", previous_response_id: first.id });
    const body = server.upstream.requests.at(-1)?.body as { messages: { content: string }[] };
    assert.deepEqual(
      body.messages.map(({ content }) => content),
      ["My colour is blue.", "Blue.", "Which?"],
    );
  });

  it("leaves nothing of a response that is not stored", async (t) => {
    const server = await startServer(t, script(reply.text("Hello.")));
    const { id } = await server.create({ input: "Hi", store: false });
    assert.equal((await server.ask("GET", `/v1/responses/${id}`)).status, 404);
  });

  it("is named by its own id where there is none, followed or not", async (t) => {
    const server = await startServer(t, script(reply.text("Hello.")));
    for (const query of ["", "?stream=true"]) {
      const { status, body } = await server.ask("GET", `/v1/responses/resp_none${query}`);
      assert.equal(status, 404);
      assert.match(JSON.stringify(body), /There is no response `resp_none`/);
      assert.doesNotMatch(JSON.stringify(body), /run_/);
    }
  });
});
