/**
 * Another tenant's ids in every place of a body that takes one: the answer is the same as for an id that
 * does not exist, and no data of the id reaches the model. Ids in paths are in
 * test/server/guard/tenants.test.ts.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import type { Received, Sent } from "../server/guard/guard-fixture.ts";
import { newDatabasePath } from "../store/database-path.ts";
import {
  type AttackedServer,
  FORM,
  filePart,
  idOf,
  startAttacked,
  toForm,
  uploadFile,
} from "./server-attack-fixture.ts";

const SECRET = "The word is heliotrope.";

type Send = AttackedServer["send"];

/** Objects of one tenant, by kind. */
interface Things {
  readonly response: string;
  readonly conversation: string;
  readonly item: string;
  readonly kept: string;
  readonly file: string;
  readonly store: string;
  readonly container: string;
}

/** The place of an id: its object, and the request that contains it. */
interface Row {
  readonly of: keyof Things;
  ask(id: string, own: Things): Sent;
}

const responses = (body: object): Sent => ({ body: { input: "What is it?", ...body } });
const parts = (part: object): Sent => ({ body: { input: [{ role: "user", content: [part] }] } });
const tools = (tool: object): Sent => ({ body: { input: "What is it?", tools: [tool] } });

const ROWS: Readonly<Record<string, Row>> = {
  previous_response_id: { of: "response", ask: (id) => responses({ previous_response_id: id }) },
  "previous_response_id of a stream": {
    of: "response",
    ask: (id) => responses({ previous_response_id: id, stream: true }),
  },
  "previous_response_id that is not stored": {
    of: "response",
    ask: (id) => responses({ previous_response_id: id, store: false }),
  },
  "previous_response_id in the background": {
    of: "response",
    ask: (id) => responses({ previous_response_id: id, background: true }),
  },
  "previous_response_id of /compact": {
    of: "response",
    ask: (id) => ({
      path: "/v1/responses/compact",
      body: { model: "m", previous_response_id: id },
    }),
  },
  "previous_response_id of /input_tokens": {
    of: "response",
    ask: (id) => ({ path: "/v1/responses/input_tokens", body: { previous_response_id: id } }),
  },
  conversation: { of: "conversation", ask: (id) => responses({ conversation: id }) },
  "conversation.id": { of: "conversation", ask: (id) => responses({ conversation: { id } }) },
  "conversation of /input_tokens": {
    of: "conversation",
    ask: (id) => ({ path: "/v1/responses/input_tokens", body: { conversation: id, input: "x" } }),
  },
  "item_reference to an answer": {
    of: "item",
    ask: (id) => ({ body: { input: [{ type: "item_reference", id }] } }),
  },
  "item_reference to an item of a conversation": {
    of: "kept",
    ask: (id) => ({ body: { input: [{ type: "item_reference", id }] } }),
  },
  "item_reference without its type": { of: "kept", ask: (id) => ({ body: { input: [{ id }] } }) },
  "item_reference into one's own conversation": {
    of: "kept",
    ask: (id, { conversation }) => ({
      path: `/v1/conversations/${conversation}/items`,
      body: { items: [{ type: "item_reference", id }] },
    }),
  },
  "input_file.file_id": { of: "file", ask: (id) => parts({ type: "input_file", file_id: id }) },
  "input_image.file_id": { of: "file", ask: (id) => parts({ type: "input_image", file_id: id }) },
  "a file of a chat": {
    of: "file",
    ask: (id) => ({
      path: "/v1/chat/completions",
      body: {
        model: "m",
        messages: [{ role: "user", content: [{ type: "file", file: { file_id: id } }] }],
      },
    }),
  },
  "a file in a call's result": {
    of: "file",
    ask: (id) => ({
      body: {
        input: [
          { type: "function_call", call_id: "1", name: "f", arguments: "{}" },
          {
            type: "function_call_output",
            call_id: "1",
            output: [{ type: "input_file", file_id: id }],
          },
        ],
      },
    }),
  },
  "file_search.vector_store_ids": {
    of: "store",
    ask: (id) => tools({ type: "file_search", vector_store_ids: [id] }),
  },
  "vector_store_ids after one's own": {
    of: "store",
    ask: (id, { store }) => tools({ type: "file_search", vector_store_ids: [store, id] }),
  },
  "code_interpreter.container": {
    of: "container",
    ask: (id) => tools({ type: "code_interpreter", container: id }),
  },
  "code_interpreter.container.file_ids": {
    of: "file",
    ask: (id) => tools({ type: "code_interpreter", container: { type: "auto", file_ids: [id] } }),
  },
  "shell.environment.container_id": {
    of: "container",
    ask: (id) =>
      tools({ type: "shell", environment: { type: "container_reference", container_id: id } }),
  },
  "shell.environment.file_ids": {
    of: "file",
    ask: (id) => tools({ type: "shell", environment: { type: "container_auto", file_ids: [id] } }),
  },
  "a new container's file_ids": {
    of: "file",
    ask: (id) => ({ path: "/v1/containers", body: { name: "x", file_ids: [id] } }),
  },
  "a copy into one's own container": {
    of: "file",
    ask: (id, { container }) => ({
      path: `/v1/containers/${container}/files`,
      body: { file_id: id },
    }),
  },
  "a copy by a form": {
    of: "file",
    ask: (id, { container }) => ({
      path: `/v1/containers/${container}/files`,
      headers: FORM,
      body: toForm([`name="file_id"\r\n\r\n${id}`]),
    }),
  },
  "a new store's file_ids": {
    of: "file",
    ask: (id) => ({ path: "/v1/vector_stores", body: { file_ids: [id] } }),
  },
  "a file into one's own store": {
    of: "file",
    ask: (id, { store }) => ({ path: `/v1/vector_stores/${store}/files`, body: { file_id: id } }),
  },
  "a batch into one's own store": {
    of: "file",
    ask: (id, { store }) => ({
      path: `/v1/vector_stores/${store}/file_batches`,
      body: { file_ids: [id] },
    }),
  },
};

/** Lists that begin after an object: another tenant's is not a place in them, and reveals nothing. */
const LISTS: Readonly<Record<string, keyof Things>> = {
  "/v1/files?after=": "file",
  "/v1/files?before=": "file",
  "/v1/vector_stores?after=": "store",
  "/v1/vector_stores?before=": "store",
  "/v1/containers?after=": "container",
};

const ENGINE = respond(() => reply.text(`${SECRET} It is a secret.`));
const MACHINE = {
  interpreter: { wheels: undefined, index: undefined },
  shell: { level: "process", env: {} },
} as const;

/** Two tenants with the same objects. */
interface Two {
  readonly mine: Send;
  readonly theirs: Send;
  readonly foreign: Things;
  readonly own: Things;
}

async function makeTwo({ bench, send }: AttackedServer): Promise<Two> {
  const as = async (tenant: string): Promise<Send> => {
    const { token } = await bench.makeKey({ tenant });
    return (asked) => send({ token, ...asked });
  };
  const mine = await as("mine");
  const theirs = await as("theirs");
  return { mine, theirs, foreign: await makeThings(mine), own: await makeThings(theirs) };
}

/** The answers for another tenant's id, and for one that does not exist. */
async function askBoth(id: string, ask: (id: string) => Promise<Received>): Promise<Received> {
  const unknown = toUnknown(id);
  const real = await ask(id);
  const none = await ask(unknown);
  assert.deepEqual(without(real, id), without(none, unknown));
  return real;
}

describe("another tenant's ids", () => {
  for (const kept of ["memory", "a file"] as const) {
    it(`are unknown in every place of a body, over ${kept}`, async (t) => {
      const storePath = kept === "memory" ? undefined : newDatabasePath();
      const server = await startAttacked(t, ENGINE, { storePath, settings: { machine: MACHINE } });
      const { mine, theirs, foreign, own } = await makeTwo(server);
      const before = server.upstream.requests.length;
      for (const [name, { of, ask }] of Object.entries(ROWS)) {
        const real = await askBoth(foreign[of], (id) => theirs(ask(id, own)));
        assert.ok([400, 404].includes(real.status), `${name}: ${real.status} ${real.text}`);
      }
      assert.equal(server.upstream.requests.length, before);
      for (const [path, of] of Object.entries(LISTS)) {
        await askBoth(foreign[of], (id) => theirs({ method: "GET", path: `${path}${id}` }));
      }
      // They work for their owner: the rows were refused for no other reason.
      for (const [name, { of, ask }] of Object.entries(ROWS)) {
        const answer = await mine(ask(foreign[of], foreign));
        assert.equal(answer.status, 200, `${name}: ${answer.text}`);
      }
      await server.isWell();
    });
  }
});

async function makeThings(send: Send): Promise<Things> {
  const made = await send({ body: { input: SECRET } });
  const { id: response, output } = JSON.parse(made.text) as {
    id: string;
    output: { id: string }[];
  };
  const kept = { type: "message", role: "user", content: SECRET };
  const conversation = idOf(await send({ path: "/v1/conversations", body: { items: [kept] } }));
  const listed = await send({ method: "GET", path: `/v1/conversations/${conversation}/items` });
  const { data } = JSON.parse(listed.text) as { data: { id: string }[] };
  const file = await uploadFile(send, SECRET);
  const container = idOf(await send({ path: "/v1/containers", body: { name: "c" } }));
  const upload = { headers: FORM, body: toForm([filePart("word.txt", SECRET)]) };
  await send({ path: `/v1/containers/${container}/files`, ...upload });
  const store = idOf(await send({ path: "/v1/vector_stores", body: { file_ids: [file] } }));
  return {
    response,
    conversation,
    file,
    store,
    container,
    item: output[0]?.id ?? "",
    kept: data[0]?.id ?? "",
  };
}

/** An id of the same form that does not exist. */
function toUnknown(id: string): string {
  return `${id.slice(0, -4)}zzzz`;
}

function without({ status, text }: Received, id: string): unknown {
  return { status, text: text.replaceAll(id, "ID") };
}
