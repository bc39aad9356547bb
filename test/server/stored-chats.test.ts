/** Chat completions that are kept: what is, for whom, and what is not. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import { createGuardBench, startGuarded } from "./guard/guard-fixture.ts";
import { startServer } from "./server-fixture.ts";

const PATH = "/v1/chat/completions";
const say = (content: string) => [{ role: "user", content }];

interface Listed {
  readonly data: readonly { readonly id: string; readonly [field: string]: unknown }[];
  readonly has_more: boolean;
}

async function start(t: TestContext) {
  const server = await startServer(
    t,
    respond(() => reply.text("Hello.")),
  );
  const make = async (body: object): Promise<string> => {
    const made = await server.ask("POST", PATH, { messages: say("Hi"), store: true, ...body });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    return typeof made.body === "string"
      ? (/"id":"([^"]+)"/.exec(made.body)?.[1] ?? "")
      : (made.body as { id: string }).id;
  };
  const list = async (query = ""): Promise<Listed> =>
    (await server.ask("GET", `${PATH}${query}`)).body as Listed;
  return { server, make, list };
}

const idsOf = ({ data }: Listed): string[] => data.map(({ id }) => id);

describe("a chat completion with `store: true`", () => {
  for (const body of [{}, { stream: true }, { n: 2 }, { n: 2, stream: true }]) {
    it(`is there under its id as it was answered: ${JSON.stringify(body)}`, async (t) => {
      const { server, make } = await start(t);
      const id = await make({ ...body, metadata: { a: "1" } });
      const { status, body: kept } = await server.ask("GET", `${PATH}/${id}`);
      assert.equal(status, 200);
      const { object, metadata, choices } = kept as {
        readonly object: string;
        readonly metadata: object;
        readonly choices: readonly { index: number; message: { content: string } }[];
      };
      assert.deepEqual([object, metadata], ["chat.completion", { a: "1" }]);
      const told = choices.map(({ index, message }) => [index, message.content]);
      assert.deepEqual(
        told,
        "n" in body
          ? [
              [0, "Hello."],
              [1, "Hello."],
            ]
          : [[0, "Hello."]],
      );
      assert.doesNotMatch(JSON.stringify(kept), /ignored/);
    });
  }

  it("is listed in the order that is asked for, a page at a time, by model and metadata", async (t) => {
    const { make, list } = await start(t);
    const ids: string[] = [];
    for (const who of ["ada", "bob", "ada"]) ids.push(await make({ metadata: { who } }));
    const [first = "", second = "", third = ""] = ids;
    assert.deepEqual(idsOf(await list()), ids);
    assert.deepEqual(idsOf(await list("?order=desc")), [...ids].reverse());
    const page = await list("?limit=1&metadata[who]=ada");
    assert.deepEqual([idsOf(page), page.has_more], [[first], true]);
    const next = await list(`?limit=1&metadata[who]=ada&after=${first}`);
    assert.deepEqual([idsOf(next), next.has_more], [[third], false]);
    assert.deepEqual(idsOf(await list(`?after=${second}`)), [third]);
    const model = String((await list()).data[0]?.["model"]);
    assert.equal((await list(`?model=${model}`)).data.length, 3);
    assert.equal((await list("?model=other")).data.length, 0);
  });

  it("has its messages, as texts or as parts", async (t) => {
    const { server, make } = await start(t);
    const parts = [{ type: "text", text: "And this?" }];
    const messages = [...say("Hi"), { role: "user", content: parts }];
    const id = await make({ messages });
    const { body } = await server.ask("GET", `${PATH}/${id}/messages`);
    const shown = (body as Listed).data.map(({ role, content, content_parts }) => {
      return { role, content, content_parts };
    });
    assert.deepEqual(shown, [
      { role: "user", content: "Hi", content_parts: null },
      { role: "user", content: null, content_parts: parts },
    ]);
    const last = await server.ask("GET", `${PATH}/${id}/messages?order=desc&limit=1`);
    assert.deepEqual(idsOf(last.body as Listed), [`${id}-1`]);
    const rest = await server.ask("GET", `${PATH}/${id}/messages?after=${id}-0`);
    assert.deepEqual(idsOf(rest.body as Listed), [`${id}-1`]);
  });

  it("has other metadata when it is given some, and is gone when it is deleted", async (t) => {
    const { server, make } = await start(t);
    const id = await make({ metadata: { a: "1" } });
    const changed = await server.ask("POST", `${PATH}/${id}`, { metadata: { b: "2" } });
    assert.deepEqual((changed.body as { metadata: object }).metadata, { b: "2" });
    const wrong = await server.ask("POST", `${PATH}/${id}`, { metadata: { b: 2 } });
    assert.equal(wrong.status, 400);
    const gone = await server.ask("DELETE", `${PATH}/${id}`);
    assert.deepEqual(gone.body, { id, object: "chat.completion.deleted", deleted: true });
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/messages"],
      ["DELETE", ""],
    ] as const) {
      const { status, body } = await server.ask(method, `${PATH}/${id}${path}`);
      assert.equal(status, 404);
      assert.match(JSON.stringify(body), /"param":"completion_id"/);
    }
    assert.equal((await server.ask("POST", `${PATH}/${id}`, { metadata: {} })).status, 404);
  });

  it("is not visible to another tenant", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Hello.")),
    );
    const ask = async (tenant: string) => (await bench.makeKey({ tenant })).token;
    const mine = await ask("mine");
    const theirs = await ask("theirs");
    const body = { messages: say("Hi"), store: true };
    const made = await server.send({ token: mine, path: PATH, body });
    const { id } = JSON.parse(made.text) as { id: string };
    const read = (token: string, path: string) => server.send({ method: "GET", token, path });
    assert.equal((await read(mine, `${PATH}/${id}`)).status, 200);
    assert.equal((await read(theirs, `${PATH}/${id}`)).status, 404);
    assert.equal((await read(theirs, `${PATH}/${id}/messages`)).status, 404);
    assert.equal(
      (await server.send({ method: "DELETE", token: theirs, path: `${PATH}/${id}` })).status,
      404,
    );
    const listed = JSON.parse((await read(theirs, PATH)).text) as Listed;
    assert.deepEqual(listed.data, []);
  });

  it("is refused before the model is asked where its tenant has no room", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Hello.")),
    );
    const { token } = await bench.makeKey({ limits: { storage_bytes: 10 } });
    const body = { messages: say("Hi"), store: true };
    const refused = await server.send({ token, path: PATH, body });
    assert.ok(refused.status >= 400, refused.text);
    assert.equal(server.upstream.requests.length, 0);
  });
});

describe("a chat completion without `store: true`", () => {
  it("a chat completion without `store: true` is not stored", async (t) => {
    const { make, list } = await start(t);
    for (const store of [false, null]) await make({ store, metadata: { a: "1" } });
    assert.deepEqual((await list()).data, []);
  });
});
