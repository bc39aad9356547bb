import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, it } from "node:test";
import { reply, respond, script } from "../../src/testing/index.ts";
import { newDatabasePath } from "../store/database-path.ts";
import { lastOf } from "./server-complaints-fixture.ts";
import { type ServerSetup, startServer, type TestServer } from "./server-fixture.ts";

interface Listed {
  readonly data: readonly { readonly id: string; readonly content: readonly { text: string }[] }[];
}

async function open(server: TestServer, body?: object): Promise<string> {
  const made = await server.ask("POST", "/v1/conversations", body);
  assert.equal(made.status, 200);
  return (made.body as { id: string }).id;
}

async function wordsOf(server: TestServer, id: string): Promise<string[]> {
  const path = `/v1/conversations/${id}/items?order=asc&limit=100`;
  const { body } = await server.ask("GET", path);
  return (body as Listed).data.map(({ content }) => content[0]?.text ?? "");
}

function toldLast(server: TestServer): unknown[] {
  const body = server.upstream.requests.at(-1)?.body as unknown as {
    readonly messages: readonly { readonly content: unknown }[];
  };
  return body.messages.map(({ content }) => content);
}

describe("conversations over HTTP", () => {
  it("are created, read, changed and deleted, and so are their items", async (t) => {
    const server = await startServer(t, script());
    const items = [{ role: "user", content: "one" }];
    const id = await open(server, { metadata: { a: "1" }, items });
    const path = `/v1/conversations/${id}`;
    const changed = await server.ask("POST", path, { metadata: { b: "2" } });
    assert.deepEqual((changed.body as { metadata: object }).metadata, { b: "2" });
    const added = await server.ask("POST", `${path}/items`, {
      items: [{ role: "user", content: "two" }],
    });
    const item = (added.body as Listed).data[0]?.id ?? "";
    assert.deepEqual(await wordsOf(server, id), ["one", "two"]);
    assert.equal((await server.ask("GET", `${path}/items/${item}`)).status, 200);
    const left = await server.ask("DELETE", `${path}/items/${item}`);
    assert.equal((left.body as { id: string }).id, id);
    assert.deepEqual(await wordsOf(server, id), ["one"]);
    assert.deepEqual(await server.ask("DELETE", path), {
      status: 200,
      body: { id, object: "conversation.deleted", deleted: true },
    });
    assert.equal((await server.ask("GET", path)).status, 404);
  });

  it("can be created without a body, and belong to their tenant", async (t) => {
    const storePath = newDatabasePath();
    const server = await startServer(t, script(), { storePath });
    const id = await open(server);
    const other = await startServer(t, script(), { storePath, caller: { tenant: "other" } });
    for (const [method, rest, body] of [
      ["GET", "", undefined],
      ["DELETE", "", undefined],
      ["POST", "", { metadata: {} }],
      ["GET", "/items", undefined],
      ["POST", "/items", { items: [] }],
    ] as const) {
      const { status } = await other.ask(method, `/v1/conversations/${id}${rest}`, body);
      assert.equal(status, 404, `${method} ${rest}`);
    }
  });
});

describe("a response in a conversation", () => {
  const setups = {
    memory: (): ServerSetup => ({}),
    "a file": (): ServerSetup => ({ storePath: newDatabasePath() }),
  };
  for (const [name, toSetup] of Object.entries(setups)) {
    it(`continues with its items, and leaves its own there (${name})`, async (t) => {
      const server = await startServer(
        t,
        respond(() => reply.text("Ok.")),
        toSetup(),
      );
      const conversation = await open(server, { items: [{ role: "user", content: "zero" }] });
      const made = await server.create({ input: "one", conversation });
      assert.deepEqual(made.conversation, { id: conversation });
      await server.create({ input: "two", conversation: { id: conversation } });
      assert.deepEqual(toldLast(server), ["zero", "one", "Ok.", "two"]);
      assert.deepEqual(await wordsOf(server, conversation), ["zero", "one", "Ok.", "two", "Ok."]);
    });
  }

  it("continues with its items and leaves nothing there with `store: false`", async (t) => {
    const storePath = newDatabasePath();
    const server = await startServer(
      t,
      respond(() => reply.text("Secret answer.")),
      { storePath },
    );
    const conversation = await open(server, { items: [{ role: "user", content: "zero" }] });
    const asked = { input: "Secret words.", conversation, store: false };
    for (const made of [await server.create(asked), lastOf(await server.stream(asked))]) {
      assert.deepEqual(made.conversation, { id: conversation });
      assert.equal(made.output_text, "Secret answer.");
      assert.deepEqual(toldLast(server), ["zero", "Secret words."]);
    }
    assert.deepEqual(await wordsOf(server, conversation), ["zero"]);
    // The journal of SQLite beside the file holds what was written last.
    const folder = dirname(storePath);
    const files = readdirSync(folder).filter((name) => name.startsWith(basename(storePath)));
    const written = files.map((name) => readFileSync(join(folder, name), "latin1")).join("");
    assert.ok(written.includes("zero") && !written.includes("Secret"));
  });

  it("finds it again after a restart", async (t) => {
    const storePath = newDatabasePath();
    const first = await startServer(t, script(reply.text("Ok.")), { storePath });
    const conversation = await open(first);
    await first.create({ input: "one", conversation });
    await first.runtime.close();
    const second = await startServer(t, script(reply.text("Yes.")), { storePath });
    await second.create({ input: "two", conversation });
    assert.deepEqual(toldLast(second), ["one", "Ok.", "two"]);
  });

  it("keeps an answer that a limit truncated, and nothing of one that failed", async (t) => {
    const bad = reply.status(400, { error: { message: "No.", type: "x" } });
    const server = await startServer(t, script(bad, reply.length("Half"), reply.text("Ok.")));
    const conversation = await open(server);
    assert.equal(
      (await server.ask("POST", "/v1/responses", { input: "a", conversation })).status,
      400,
    );
    assert.deepEqual(await wordsOf(server, conversation), []);
    assert.equal((await server.create({ input: "b", conversation })).status, "incomplete");
    assert.deepEqual(await wordsOf(server, conversation), ["b", "Half"]);
  });

  it("stands whole in it when several end at once", async (t) => {
    const server = await startServer(
      t,
      respond(({ items }) => {
        const last = items.at(-1);
        return reply.text(`re ${last?.type === "message" ? String(last.content) : ""}`);
      }),
      { storePath: newDatabasePath() },
    );
    const conversation = await open(server);
    const inputs = Array.from({ length: 8 }, (_, at) => `${at}`);
    await Promise.all(inputs.map((input) => server.create({ input, conversation })));
    const words = await wordsOf(server, conversation);
    assert.equal(words.length, 16);
    for (let at = 0; at < words.length; at += 2) assert.equal(words[at + 1], `re ${words[at]}`);
  });

  it("is refused if the conversation does not exist", async (t) => {
    const server = await startServer(t, script());
    const id = await open(server);
    await server.ask("DELETE", `/v1/conversations/${id}`);
    for (const conversation of [id, "conv_unknown"]) {
      const refused = await server.ask("POST", "/v1/responses", { input: "a", conversation });
      assert.equal(refused.status, 404);
    }
    const both = { input: "a", conversation: id, previous_response_id: "resp_1" };
    assert.equal((await server.ask("POST", "/v1/responses", both)).status, 400);
  });

  it("does not begin if the conversation is deleted first, and leaves nothing", async (t) => {
    const server = await startServer(t, script(), { storePath: newDatabasePath() });
    const { durable } = server.responses;
    const submit = durable.submit.bind(durable);
    for (const headers of [{}, { "idempotency-key": "one" }]) {
      const id = await open(server);
      let run = "";
      durable.submit = async (name, input, options) => {
        run = options.id;
        await server.ask("DELETE", `/v1/conversations/${id}`);
        await submit(name, input, options);
      };
      const body = JSON.stringify({ input: "a", conversation: id });
      const init = { method: "POST", headers, body };
      assert.equal((await fetch(`${server.url}/v1/responses`, init)).status, 404);
      assert.equal(await durable.status(run), undefined);
      const place = { tenant: "tenant", kind: "session_run", id: `${id}/${run}` };
      assert.equal(await server.responses.shelf.get(place), undefined);
    }
    assert.equal(server.upstream.requests.length, 0);
  });

  it("may be referred to by the ids of its items", async (t) => {
    const server = await startServer(t, script(reply.text("Ok.")));
    const items = [{ id: "msg_kept", role: "user", content: "zero", type: "message" }];
    await open(server, { items });
    await server.create({ input: [{ id: "msg_kept" }, { role: "user", content: "one" }] });
    assert.deepEqual(toldLast(server), ["zero", "one"]);
    const copy = await open(server, { items: [{ type: "item_reference", id: "msg_kept" }] });
    assert.deepEqual(await wordsOf(server, copy), ["zero"]);
  });
});
