/** `Idempotency-Key` on addresses that keep something besides responses: chats, files, vector stores. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { reply, respond, script } from "../../src/testing/index.ts";
import { newDatabasePath } from "../store/database-path.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

const CHATS = "/v1/chat/completions";
const STORES = "/v1/vector_stores";
const CHAT = { messages: [{ role: "user", content: "Hi" }], store: true };

interface Sent {
  readonly status: number;
  readonly text: string;
  readonly isReplayed: boolean;
  readonly id: string;
}

async function read(answer: Response): Promise<Sent> {
  const text = await answer.text();
  const isReplayed = answer.headers.get("idempotent-replayed") === "true";
  return { status: answer.status, text, isReplayed, id: /"id":"([^"]+)"/.exec(text)?.[1] ?? "" };
}

async function send(
  { url }: Pick<TestServer, "url">,
  key: string,
  path: string,
  body: object,
): Promise<Sent> {
  const init = { method: "POST", headers: { "idempotency-key": key }, body: JSON.stringify(body) };
  return await read(await fetch(`${url}${path}`, init));
}

async function upload({ url }: Pick<TestServer, "url">, key: string, text: string): Promise<Sent> {
  const form = new FormData();
  form.append("purpose", "assistants");
  form.append("file", new Blob([text]), "notes.txt");
  const init = { method: "POST", headers: { "idempotency-key": key }, body: form };
  return await read(await fetch(`${url}/v1/files`, init));
}

async function idsOf(server: TestServer, path: string): Promise<string[]> {
  const { body } = await server.ask("GET", path);
  return (body as { data: { id: string }[] }).data.map(({ id }) => id);
}

/** Says another word each time. */
function start(t: TestContext, storePath?: string): Promise<TestServer> {
  let count = 0;
  const engine = respond(() => reply.text(`Answer ${++count}.`));
  return startServer(t, engine, storePath === undefined ? {} : { storePath });
}

describe("a stored chat completion that is asked for again with its `Idempotency-Key`", () => {
  for (const more of [{}, { n: 2 }]) {
    it(`is the one that was made before: ${JSON.stringify(more)}`, async (t) => {
      const server = await start(t);
      const first = await send(server, "one", CHATS, { ...CHAT, ...more });
      const asked = server.upstream.requests.length;
      const again = await send(server, "one", CHATS, { ...CHAT, ...more });
      assert.equal(first.status, 200, first.text);
      assert.deepEqual(JSON.parse(again.text), JSON.parse(first.text));
      assert.deepEqual([first.isReplayed, again.isReplayed], [false, true]);
      assert.equal(server.upstream.requests.length, asked);
      assert.deepEqual(await idsOf(server, CHATS), [first.id]);
    });

    it(`is streamed again with the same words: ${JSON.stringify(more)}`, async (t) => {
      const server = await start(t);
      const body = { ...CHAT, ...more, stream: true, stream_options: { include_usage: true } };
      const first = await send(server, "one", CHATS, body);
      const again = await send(server, "one", CHATS, body);
      assert.equal(again.isReplayed, true, again.text);
      const told = [first, again].map(({ text }) => readChunks(text));
      assert.deepEqual(told[1], told[0]);
      assert.match(again.text, /data: \[DONE\]\n\n$/);
      assert.deepEqual(await idsOf(server, CHATS), [first.id]);
    });
  }

  it("has its calls again in a stream", async (t) => {
    const call = { name: "look", arguments: { at: "it" }, call_id: "call_1" };
    const server = await startServer(t, script(reply.reasoning("Hm.", reply.calls([call]))));
    const tools = [{ type: "function", function: { name: "look" } }];
    const body = { ...CHAT, tools, stream: true };
    const first = await send(server, "one", CHATS, body);
    const again = await send(server, "one", CHATS, body);
    assert.match(first.text, /"call_1"/);
    assert.deepEqual(readChunks(again.text), readChunks(first.text));
  });

  it("is refused with another body, and made again if the first one failed", async (t) => {
    const server = await startServer(t, script(reply.status(400, "No."), reply.text("Yes.")));
    const failed = await send(server, "one", CHATS, CHAT);
    assert.equal(failed.status, 400);
    const made = await send(server, "one", CHATS, CHAT);
    assert.equal(made.status, 200, made.text);
    const other = await send(server, "one", CHATS, { ...CHAT, temperature: 1 });
    assert.equal(other.status, 422);
    assert.match(other.text, /idempotency_key_reused/);
  });

  it("is made again when it was deleted, and if nothing is stored", async (t) => {
    const server = await start(t);
    const first = await send(server, "one", CHATS, CHAT);
    await server.ask("DELETE", `${CHATS}/${first.id}`);
    const again = await send(server, "one", CHATS, CHAT);
    assert.deepEqual([again.status, again.isReplayed], [200, false]);
    const unstored = { ...CHAT, store: false };
    const plain = [await send(server, "two", CHATS, unstored)];
    plain.push(await send(server, "two", CHATS, unstored));
    assert.equal(new Set(plain.map(({ id }) => id)).size, 2);
    assert.equal((await send(server, "", CHATS, CHAT)).status, 400);
  });

  it("is stored once by two requests at the same time, in two processes", async (t) => {
    const storePath = newDatabasePath();
    const servers = [await start(t, storePath), await start(t, storePath)];
    const sent = servers.map((server) => send(server, "one", CHATS, CHAT));
    const [one, two] = await Promise.all(sent);
    assert.equal(two?.id, one?.id);
    assert.deepEqual(await idsOf(servers[0] ?? assert.fail(), CHATS), [one?.id]);
  });
});

/** The streamed content of each choice, whatever the pieces it came in. */
function readChunks(text: string): unknown {
  const told: Record<string, string> = {};
  const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
  for (const { choices } of chunks) {
    for (const { index, delta, finish_reason } of choices) {
      for (const [name, value] of wordsOf({ ...delta, finish_reason })) {
        told[`${index} ${name}`] = (told[`${index} ${name}`] ?? "") + value;
      }
    }
  }
  const { usage, id, created, model } = chunks.at(-1) ?? {};
  return { told, usage, id, created, model };
}

interface Called {
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

function wordsOf({ tool_calls = [], ...rest }: { readonly tool_calls?: Called[] }): string[][] {
  const calls = tool_calls.map(({ id = "", function: made = {} }) => [
    "call",
    `${id}${made.name ?? ""}${made.arguments ?? ""}`,
  ]);
  const words = Object.entries(rest).filter(([, value]) => typeof value === "string" && value);
  return [...calls, ...(words as string[][])];
}

describe("a file that is sent again with its `Idempotency-Key`", () => {
  it("is kept once, and refused with other bytes", async (t) => {
    const server = await start(t);
    const first = await upload(server, "one", "The colour is blue.");
    const again = await upload(server, "one", "The colour is blue.");
    assert.equal(again.text, first.text);
    assert.deepEqual(await idsOf(server, "/v1/files"), [first.id]);
    const other = await upload(server, "one", "The colour is red.");
    assert.equal(other.status, 422, other.text);
    assert.deepEqual(await idsOf(server, "/v1/files"), [first.id]);
    const next = await upload(server, "two", "The colour is red.");
    assert.notEqual(next.id, first.id);
  });

  it("is kept once by several at the same time", async (t) => {
    const server = await start(t);
    const all = await Promise.all([1, 2, 3].map(() => upload(server, "one", "Blue.")));
    assert.equal(new Set(all.map(({ id }) => id)).size, 1);
    assert.deepEqual(await idsOf(server, "/v1/files"), [all[0]?.id]);
  });
});

describe("a vector store that is asked for again with its `Idempotency-Key`", () => {
  it("is made once, with its files", async (t) => {
    const server = await start(t);
    const file_ids = [(await upload(server, "file", "The colour is blue.")).id];
    const body = { name: "notes", file_ids };
    const all = await Promise.all([1, 2, 3].map(() => send(server, "one", STORES, body)));
    assert.equal(new Set(all.map(({ id }) => id)).size, 1, all[0]?.text);
    const [first] = all;
    assert.deepEqual(await idsOf(server, STORES), [first?.id]);
    assert.deepEqual(await idsOf(server, `${STORES}/${first?.id}/files`), file_ids);
    const other = await send(server, "one", STORES, { name: "other" });
    assert.equal(other.status, 422, other.text);
  });

  it("is made again when it was deleted", async (t) => {
    const server = await start(t);
    const { id } = await send(server, "one", STORES, { name: "notes" });
    await server.ask("DELETE", `${STORES}/${id}`);
    const again = await send(server, "one", STORES, { name: "notes" });
    assert.equal(again.status, 200, again.text);
    assert.notEqual(again.id, id);
  });
});
