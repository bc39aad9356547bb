/**
 * Data of another tenant does not exist for a request: on every route of the server, by an id in the path or in the
 * body, the answer is word for word the one for an unknown id.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Route } from "../../../src/server/route.ts";
import { createRoutes } from "../../../src/server/routes.ts";
import { reply, respond } from "../../../src/testing/index.ts";
import { createGuardBench, type Received, type Sent, startGuarded } from "./guard-fixture.ts";

type Send = (asked: Sent) => Promise<Received>;

const SECRET = "The word is heliotrope.";

/** Makes one thing of a kind, and gives the ids of its paths in their order. A new kind needs a row. */
const MAKERS: Readonly<Record<string, (send: Send) => Promise<string[]>>> = {
  responses: async (send) => [
    idOf(await send({ body: { input: SECRET, background: true, store: true } })),
  ],
  conversations: async (send) => {
    const item = { type: "message", role: "user", content: SECRET, id: "msg_heliotrope" };
    const made = await send({ path: "/v1/conversations", body: { items: [item] } });
    return [idOf(made), "msg_heliotrope"];
  },
  chat: async (send) => {
    const body = { messages: [{ role: "user", content: SECRET }], store: true };
    return [idOf(await send({ path: "/v1/chat/completions", body }))];
  },
  files: async (send) => [idOf(await uploadFile(send))],
  vector_stores: async (send) => {
    const file = idOf(await uploadFile(send));
    const id = idOf(await send({ path: "/v1/vector_stores", body: { file_ids: [file] } }));
    return [id, file];
  },
  containers: async (send) => {
    const id = idOf(await send({ path: "/v1/containers", body: { name: "mine" } }));
    return [id, idOf(await uploadFile(send, `/v1/containers/${id}/files`))];
  },
};

/** Things without an owner. */
const OF_THE_SERVER: ReadonlySet<string> = new Set(["models"]);

describe("two tenants", () => {
  it("have nothing of each other's on any route", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Yes.")),
    );
    const [mine, theirs] = await makeTenants(bench.makeKey);
    const send: Send = (asked) => server.send({ token: mine, ...asked });
    const routes = createRoutes(server.responses).filter(isOwned);
    assert.ok(routes.length > 0);
    const made = await makeThings(routes, send);
    for (const { method, path } of routes) {
      const name = `${method} ${path}`;
      const ids = made.get(kindOf(path)) ?? [];
      const unknown = ids.map(toUnknown);
      const ask = (some: readonly string[]): Promise<Received> =>
        server.send({ method, path: fill(path, some), token: theirs, ...bodyFor(method) });
      const foreign = await ask(ids);
      const nobody = await ask(unknown);
      assert.ok(foreign.status >= 400, `${name}: ${foreign.status}`);
      if (method !== "POST") assert.equal(foreign.status, 404, name);
      assert.deepEqual(without(foreign, ids), without(nobody, unknown), name);
    }
    // They are all there still, for whose they are.
    for (const { path } of routes.filter(({ method }) => method === "GET")) {
      const answer = await send({ method: "GET", path: fill(path, made.get(kindOf(path)) ?? []) });
      if (!path.includes("batches")) assert.equal(answer.status, 200, path);
    }
  });

  it("cannot continue each other's conversations and responses", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Yes.")),
    );
    const [mine, theirs] = await makeTenants(bench.makeKey);
    const id = idOf(await server.send({ token: mine, body: { input: SECRET } }));
    const before = server.upstream.requests.length;
    const bodies: Readonly<Record<string, (id: string) => object>> = {
      previous_response_id: (name) => ({ input: "What is it?", previous_response_id: name }),
      conversation: (name) => ({ input: "What is it?", conversation: name }),
      "conversation.id": (name) => ({ input: "What is it?", conversation: { id: name } }),
    };
    for (const [param, toBody] of Object.entries(bodies)) {
      const ask = (name: string) => server.send({ token: theirs, body: toBody(name) });
      const foreign = await ask(id);
      const nobody = await ask(toUnknown(id));
      assert.ok(foreign.status === 400 || foreign.status === 404, `${param}: ${foreign.text}`);
      assert.deepEqual(without(foreign, [id]), without(nobody, [toUnknown(id)]), param);
    }
    assert.equal(server.upstream.requests.length, before);
    const input = [{ type: "item_reference", id: await firstItem(server.send, mine, id) }];
    await server.send({ token: theirs, body: { input } });
    const sent = JSON.stringify(server.upstream.requests.slice(before).map(({ body }) => body));
    assert.ok(!sent.includes("heliotrope"), sent);
  });

  it("are one where two keys name the same", async (t) => {
    const bench = createGuardBench();
    const server = await startGuarded(
      t,
      bench,
      respond(() => reply.text("Yes.")),
    );
    const keys = await Promise.all(
      ["a", "b"].map((name) => bench.makeKey({ name, tenant: "team" })),
    );
    const [first, second] = keys.map(({ token }) => token);
    const id = idOf(await server.send({ token: first, body: { input: "Hi" } }));
    const path = `/v1/responses/${id}`;
    assert.equal((await server.send({ method: "GET", path, token: second })).status, 200);
  });
});

function isOwned({ path }: Route): boolean {
  return path.includes("/:") && !OF_THE_SERVER.has(kindOf(path));
}

function kindOf(path: string): string {
  return path.split("/")[2] ?? "";
}

/** The ids of a thing of each kind that there are routes for. */
async function makeThings(routes: readonly Route[], send: Send): Promise<Map<string, string[]>> {
  const made = new Map<string, string[]>();
  for (const kind of new Set(routes.map(({ path }) => kindOf(path)))) {
    const make = MAKERS[kind] ?? assert.fail(`The test needs a row for \`${kind}\`.`);
    made.set(kind, await make(send));
  }
  return made;
}

async function makeTenants(
  makeKey: ReturnType<typeof createGuardBench>["makeKey"],
): Promise<[string, string]> {
  const mine = await makeKey({ tenant: "mine" });
  const theirs = await makeKey({ tenant: "theirs" });
  return [mine.token, theirs.token];
}

function idOf({ status, text }: Received): string {
  assert.equal(status, 200, text);
  return (JSON.parse(text) as { id: string }).id;
}

async function firstItem(send: Send, token: string, id: string): Promise<string> {
  const { text } = await send({ method: "GET", path: `/v1/responses/${id}`, token });
  const { output } = JSON.parse(text) as { output: { id: string }[] };
  return output[0]?.id ?? "";
}

function uploadFile(send: Send, path = "/v1/files"): Promise<Received> {
  const fields = [
    'name="purpose"\r\n\r\nuser_data',
    `name="file"; filename="word.txt"\r\ncontent-type: text/plain\r\n\r\n${SECRET}`,
  ];
  const parts = fields.map((field) => `--cut\r\ncontent-disposition: form-data; ${field}\r\n`);
  const headers = { "content-type": "multipart/form-data; boundary=cut" };
  return send({ path, headers, body: `${parts.join("")}--cut--\r\n` });
}

function bodyFor(method: string): { readonly body?: object } {
  return method === "POST" ? { body: {} } : {};
}

function fill(path: string, ids: readonly string[]): string {
  let at = 0;
  return path.replace(/:\w+/g, () => ids[at++] ?? assert.fail(`${path}: one more id is needed`));
}

/** An unknown id of the same form. */
function toUnknown(id: string): string {
  return `${id.slice(0, -4)}zzzz`;
}

function without({ status, text }: Received, ids: readonly string[]): unknown {
  return { status, text: ids.reduce((rest, id) => rest.replaceAll(id, "ID"), text) };
}
