import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI from "openai";
import { reply, respond } from "../../../src/testing/index.ts";
import { startServer } from "../../server/server-fixture.ts";

describe("stored chat completions with the official client", () => {
  it("are created, listed, read, changed and deleted", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Hello.")),
    );
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "key", maxRetries: 0 });
    const { completions } = client.chat;
    const messages = [{ role: "user" as const, content: "Hi" }];
    const asked = { model: "m", messages, store: true };
    const plain = await completions.create({ ...asked, metadata: { who: "ada" } });
    let streamed = "";
    for await (const { id } of await completions.create({ ...asked, stream: true })) streamed = id;
    const ids: string[] = [];
    for await (const { id } of completions.list({ limit: 1 })) ids.push(id);
    assert.deepEqual(ids, [plain.id, streamed]);
    const filtered = await completions.list({ metadata: { who: "ada" }, order: "desc" });
    assert.deepEqual(
      filtered.data.map(({ id }) => id),
      [plain.id],
    );
    const kept = await completions.retrieve(streamed);
    assert.equal(kept.choices[0]?.message.content, "Hello.");
    const said = await completions.messages.list(plain.id);
    assert.deepEqual(
      said.data.map(({ content }) => content),
      ["Hi"],
    );
    const changed = await completions.update(plain.id, { metadata: { who: "bob" } });
    assert.equal(changed.id, plain.id);
    assert.equal((await completions.delete(plain.id)).deleted, true);
    await assert.rejects(completions.retrieve(plain.id), { status: 404 });
  });
});
