import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond, script } from "../../src/testing/index.ts";
import { newDatabasePath } from "../store/database-path.ts";
import { type ServerSetup, startServer, type TestServer } from "./server-fixture.ts";

interface Listed {
  readonly object: string;
  readonly data: readonly {
    readonly id: string;
    readonly type: string;
    readonly content: unknown;
  }[];
  readonly first_id: string;
  readonly last_id: string;
  readonly has_more: boolean;
}

async function list(server: TestServer, id: string, query = ""): Promise<Listed> {
  const { status, body } = await server.ask("GET", `/v1/responses/${id}/input_items${query}`);
  assert.equal(status, 200);
  return body as Listed;
}

const wordsOf = ({ data }: Listed): unknown[] =>
  data.map(({ content }) => (content as { text: string }[])[0]?.text);

describe("the input items of a response", () => {
  it("are listed newest first, a page at a time, each with an id", async (t) => {
    const server = await startServer(t, script(reply.text("Ok.")));
    const input = ["a", "b", "c"].map((content) => ({ role: "user", content }));
    const { id } = await server.create({ input });
    const all = await list(server, id);
    assert.deepEqual(wordsOf(all), ["c", "b", "a"]);
    assert.ok(all.data.every((item) => item.id.startsWith("msg_")));
    const first = await list(server, id, "?limit=2&order=asc");
    assert.deepEqual([wordsOf(first), first.has_more], [["a", "b"], true]);
    const next = await list(server, id, `?limit=2&order=asc&after=${first.last_id}`);
    assert.deepEqual([wordsOf(next), next.has_more], [["c"], false]);
    const back = await list(server, id, `?limit=1&order=asc&before=${next.first_id}`);
    assert.deepEqual([wordsOf(back), back.has_more], [["b"], true]);
    assert.deepEqual((await list(server, id, "?after=msg_other")).data, []);
  });

  it("include the chain that it continues, answers included", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.")),
    );
    const first = await server.create({ input: "one" });
    const second = await server.create({ input: "two", previous_response_id: first.id });
    assert.deepEqual(wordsOf(await list(server, second.id)), ["two", "Ok.", "one"]);
    await server.ask("DELETE", `/v1/responses/${first.id}`);
    assert.deepEqual(wordsOf(await list(server, second.id)), ["two"]);
  });

  it("are hidden from other tenants, and deleted with the response", async (t) => {
    const storePath = newDatabasePath();
    const server = await startServer(t, script(reply.text("Ok.")), { storePath });
    const { id } = await server.create({ input: "one" });
    const other = await startServer(t, script(), { storePath, caller: { tenant: "other" } });
    assert.equal((await other.ask("GET", `/v1/responses/${id}/input_items`)).status, 404);
    await server.ask("DELETE", `/v1/responses/${id}`);
    assert.equal((await server.ask("GET", `/v1/responses/${id}/input_items`)).status, 404);
  });
});

describe("references to items", () => {
  const setups = {
    memory: (): ServerSetup => ({}),
    "a file": (): ServerSetup => ({ storePath: newDatabasePath() }),
  };
  for (const [name, toSetup] of Object.entries(setups)) {
    it(`stand for what earlier responses took and gave (${name})`, async (t) => {
      const server = await startServer(
        t,
        respond(() => reply.text("Ok.")),
        toSetup(),
      );
      const first = await server.create({ input: "one" });
      const [sent] = (await list(server, first.id)).data;
      const [given] = first.output;
      const references = [{ type: "item_reference", id: sent?.id }, { id: given?.id }];
      const input = [...references, { role: "user", content: "two" }];
      const second = await server.create({ input });
      assert.deepEqual(toldLast(server), ["one", "Ok.", "two"]);
      assert.deepEqual(wordsOf(await list(server, second.id)), ["two", "Ok.", "one"]);
    });
  }

  it("find their items after a restart", async (t) => {
    const storePath = newDatabasePath();
    const first = await startServer(t, script(reply.text("Ok.")), { storePath });
    const made = await first.create({ input: "one" });
    await first.runtime.close();
    const second = await startServer(t, script(reply.text("Yes.")), { storePath });
    await second.create({ input: [{ id: made.output[0]?.id }, { role: "user", content: "two" }] });
    assert.deepEqual(toldLast(second), ["Ok.", "two"]);
  });

  it("count once where the chain has the item too", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.")),
    );
    const first = await server.create({ input: "one" });
    const input = [{ id: first.output[0]?.id }, { role: "user", content: "two" }];
    await server.create({ input, previous_response_id: first.id });
    assert.deepEqual(toldLast(server), ["one", "Ok.", "two"]);
  });

  it("are refused by their place if the item does not exist, or belongs to another tenant", async (t) => {
    const storePath = newDatabasePath();
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.")),
      { storePath },
    );
    const made = await server.create({ input: "one" });
    const other = await startServer(t, script(), { storePath, caller: { tenant: "other" } });
    const passing = await server.create({ input: "one", store: false });
    const input = [{ role: "user", content: "x" }, { id: made.output[0]?.id }];
    const foreign = await other.ask("POST", "/v1/responses", { input });
    assert.deepEqual([foreign.status, paramOf(foreign.body)], [400, "input[1].id"]);
    const gone = await server.ask("POST", "/v1/responses", {
      input: [{ type: "item_reference", id: passing.output[0]?.id }],
    });
    assert.deepEqual([gone.status, paramOf(gone.body)], [400, "input[0].id"]);
    await server.ask("DELETE", `/v1/responses/${made.id}`);
    assert.equal((await server.ask("POST", "/v1/responses", { input })).status, 400);
  });

  it("are not needed for items that have ids the server never saw", async (t) => {
    const server = await startServer(t, script(reply.text("Ok.")));
    const input = [{ type: "message", id: "msg_mine", role: "user", content: "one" }];
    const made = await server.create({ input });
    assert.equal((await list(server, made.id)).first_id, "msg_mine");
  });
});

describe("POST /v1/responses/input_tokens", () => {
  it("counts the chain, the instructions and the tools", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Ok.")),
    );
    const count = async (body: object): Promise<number> => {
      const answer = await server.ask("POST", "/v1/responses/input_tokens", body);
      assert.equal(answer.status, 200);
      const { object, input_tokens } = answer.body as { object: string; input_tokens: number };
      assert.equal(object, "response.input_tokens");
      return input_tokens;
    };
    const { id } = await server.create({ input: "one" });
    const alone = await count({ input: "two" });
    assert.ok(alone > 0);
    assert.ok((await count({ input: "two", previous_response_id: id })) > alone);
    assert.ok((await count({ input: "two", instructions: "Be short." })) > alone);
    const tools = [{ type: "function", name: "f", parameters: { type: "object" } }];
    assert.ok((await count({ input: "two", tools })) > alone);
    assert.equal(server.upstream.requests.length, 1);
  });
});

describe("a request that holds too much", () => {
  it("is refused by the parameter, and nothing is asked", async (t) => {
    const server = await startServer(t, script());
    const tools = Array.from({ length: 10_000 }, (_, at) => ({ type: "function", name: `f${at}` }));
    const refused = await server.ask("POST", "/v1/responses", { input: "Hi", tools });
    assert.deepEqual([refused.status, paramOf(refused.body)], [400, "tools"]);
    assert.equal(server.upstream.requests.length, 0);
  });
});

function toldLast(server: TestServer): unknown[] {
  const body = server.upstream.requests.at(-1)?.body as unknown as {
    readonly messages: readonly { readonly content: unknown }[];
  };
  return body.messages.map(({ content }) => content);
}

function paramOf(body: unknown): unknown {
  return (body as { error: { param: unknown } }).error.param;
}
