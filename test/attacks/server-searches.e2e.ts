/** Texts that are syntax elsewhere: FTS5, SQL, globs, paths. Here they are plain text, in every place. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { newDatabasePath } from "../store/database-path.ts";
import {
  type AttackedServer,
  assertRefused,
  idOf,
  startAttacked,
  uploadFile,
} from "./server-attack-fixture.ts";

const QUERIES: readonly string[] = [
  ...['"', '""', '"fox', 'fox" OR "x', "fox*", "*", "NEAR(fox quick)", "NEAR(", "AND", "NOT fox"],
  ...[
    "-fox",
    "^fox",
    "text:fox",
    "{text}:fox",
    "fox + quick",
    "(",
    ")".repeat(1000),
    "'; drop table chunks;--",
  ],
  ...["\0", "fox\0", "\ud800", "\udc00fox", "%", "_", "\\", "\u202e", "\u0301".repeat(20_000)],
  ...["fox ".repeat(50_000), "x".repeat(500_000), "\u72d0".repeat(50_000), " ".repeat(100_000)],
];

const deep = (depth: number): object =>
  depth === 0 ? { type: "eq", key: "a", value: 1 } : { type: "and", filters: [deep(depth - 1)] };

/** Refused with the parameter at fault. */
const REFUSED: Readonly<Record<string, readonly [body: object, param: string | undefined]>> = {
  "51 queries": [{ query: Array(51).fill("fox") }, "query"],
  "no query": [{ query: [] }, "query"],
  "a number": [{ query: 1 }, "query"],
  "a billion results": [{ query: "fox", max_num_results: 1e9 }, "max_num_results"],
  "a comparison of prototypes": [
    { query: "fox", filters: { type: "constructor", key: "a", value: 1 } },
    "filters.type",
  ],
  "a filter that is a list": [{ query: "fox", filters: [] }, "filters"],
  "a filter by an object": [
    { query: "fox", filters: { type: "eq", key: "a", value: {} } },
    "filters.value",
  ],
  "weights of nothing": [
    { query: "fox", ranking_options: { hybrid_search: { embedding_weight: 0, text_weight: 0 } } },
    "ranking_options.hybrid_search",
  ],
  "a filter of 200 levels": [{ query: "fox", filters: deep(200) }, undefined],
};

const TAKEN: Readonly<Record<string, object>> = {
  "60 levels": { query: "fox", filters: deep(60) },
  "20,000 alternatives": {
    query: "fox",
    filters: { type: "or", filters: Array(20_000).fill({ type: "eq", key: "a", value: "b" }) },
  },
  "names of prototypes": { query: "fox", filters: { type: "ne", key: "__proto__", value: "x" } },
  "weights without an end": {
    query: "fox",
    ranking_options: { hybrid_search: { embedding_weight: 1e308, text_weight: 1e308 } },
  },
};

async function makeStore({ send, responses }: AttackedServer): Promise<string> {
  const file = await uploadFile(send, "The quick brown fox jumps over the lazy dog.");
  const store = idOf(await send({ path: "/v1/vector_stores", body: { file_ids: [file] } }));
  await responses.durable.idle();
  return `/v1/vector_stores/${store}/search`;
}

describe("searches that attack", () => {
  for (const storePath of [undefined, newDatabasePath()]) {
    it(`find text and nothing else, in ${storePath ? "a file" : "memory"}`, async (t) => {
      const server = await startAttacked(t, undefined, { storePath });
      const path = await makeStore(server);
      for (const query of [...QUERIES, "lazy dog"]) {
        const { status, text } = await server.send({ path, body: { query } });
        assert.equal(status, 200, text.slice(0, 300));
        const { data } = JSON.parse(text) as { data: unknown[] };
        assert.equal(
          data.length,
          /fox|dog/.test(query) ? 1 : 0,
          JSON.stringify(query.slice(0, 60)),
        );
      }
      await server.isWell();
    });
  }

  it("are refused if they are invalid, and block nothing if they are odd", async (t) => {
    const server = await startAttacked(t);
    const path = await makeStore(server);
    for (const [name, [body, param]] of Object.entries(REFUSED)) {
      assertRefused(await server.send({ path, body }), { status: 400, param }, name);
    }
    for (const [name, body] of Object.entries(TAKEN)) {
      assert.equal((await server.send({ path, body })).status, 200, name);
    }
    await server.isWell();
  });
});

const LISTS = ["/v1/files", "/v1/vector_stores", "/v1/containers", "/v1/responses/ID/input_items"];
const SYNTAX = [
  "'",
  "' or 1=1--",
  '"',
  ";",
  "%00",
  "%25",
  "_",
  "..%2f",
  "\u00e9".normalize("NFD"),
  "9".repeat(400),
];

const ANY = ["after", "before", "purpose", "name", "include[]"];
const LIMITS = ["0", "-1", "1e9", "1.5", "10001", "NaN", "0x10", "99999999999999999999"];

describe("lists that attack", () => {
  const start = async (t: TestContext) => {
    const server = await startAttacked(t, undefined, { storePath: newDatabasePath() });
    const id = idOf(await server.send({ body: { input: "x" } }));
    await uploadFile(server.send, "x");
    const get = (path: string) => server.send({ method: "GET", path });
    return { server, get, id, lists: LISTS.map((path) => path.replace("ID", id)) };
  };

  it("take ids and names literally", async (t) => {
    const { server, get, lists } = await start(t);
    const queries = ANY.flatMap((field) => SYNTAX.map((text) => `${field}=${encodeURI(text)}`));
    for (const path of lists.flatMap((list) => queries.map((query) => `${list}?${query}`))) {
      const { status, text } = await get(path);
      assert.equal(status, 200, `${path}: ${text}`);
    }
    await server.isWell();
  });

  it("refuse invalid limits and orders", async (t) => {
    const { server, get, lists } = await start(t);
    const queries = [
      ...["limit", "order"].flatMap((field) => SYNTAX.map((text) => [field, text] as const)),
      ...LIMITS.map((text) => ["limit", text] as const),
    ];
    for (const [field, text] of queries) {
      for (const list of lists) {
        const answer = await get(`${list}?${field}=${encodeURI(text)}`);
        assertRefused(answer, { status: 400, param: field }, `${list} ${text}`);
      }
    }
    await server.isWell();
  });

  it("follow a response from any number, and from nothing else", async (t) => {
    const { server, get, id } = await start(t);
    const follow = (after: string) =>
      get(`/v1/responses/${id}?stream=true&starting_after=${encodeURI(after)}`);
    for (const after of ["x", "-2", "1.5", "NaN", "1e999", "' or 1=1"]) {
      assertRefused(await follow(after), { status: 400, param: "starting_after" }, after);
    }
    for (const after of ["9007199254740993", "1e300", "999999"]) {
      const { status, text } = await follow(after);
      assert.deepEqual([status, text], [200, "data: [DONE]\n\n"], after);
    }
    await server.isWell();
  });
});

/** In the form in which they are in the path. */
const IDS: readonly string[] = [
  ...[
    "..",
    "%2e%2e",
    "%2e%2e%2f",
    "..%2f..%2fetc%2fpasswd",
    "%2fetc%2fpasswd",
    ".",
    "%00",
    "resp_%00",
  ],
  ...[
    "%0d%0ax-evil:%201",
    "%ff%fe",
    "%",
    "%zz",
    "%c0%ae%c0%ae",
    "%u002e",
    "%ef%bc%8e%ef%bc%8e",
    "%E2%80%AE",
  ],
  ...[
    "'--",
    "%22%3B",
    "__proto__",
    "constructor",
    "toString",
    "*",
    "$%7Bx%7D",
    "%25s%25n",
    "-1",
    "null",
  ],
  ...[
    "a".repeat(10_000),
    "ID%2fagent-1",
    "ID%2Fcall_1",
    "ID%00",
    "ID%20",
    "ID.",
    "RUN",
    "RUN%2fagent-1",
    "UPPER",
  ],
];

/** Every route with an id in it; all of them find nothing. */
const ROUTES: readonly (readonly [string, string])[] = [
  ["GET", "/v1/responses/:id"],
  ["GET", "/v1/responses/:id?stream=true"],
  ["DELETE", "/v1/responses/:id"],
  ["POST", "/v1/responses/:id/cancel"],
  ["POST", "/v1/responses/:id/steer"],
  ["GET", "/v1/responses/:id/input_items"],
  ["GET", "/v1/conversations/:id"],
  ["DELETE", "/v1/conversations/:id"],
  ["GET", "/v1/conversations/:id/items"],
  ["GET", "/v1/files/:id"],
  ["GET", "/v1/files/:id/content"],
  ["DELETE", "/v1/files/:id"],
  ["GET", "/v1/vector_stores/:id"],
  ["GET", "/v1/vector_stores/:id/files"],
  ["DELETE", "/v1/vector_stores/:id"],
  ["GET", "/v1/vector_stores/x/files/:id/content"],
  ["GET", "/v1/containers/:id"],
  ["GET", "/v1/containers/:id/files"],
  ["DELETE", "/v1/containers/:id"],
];

describe("ids that attack", () => {
  it("find nothing on any route, and nothing of another kind", async (t) => {
    const server = await startAttacked(t, undefined, { storePath: newDatabasePath() });
    const id = idOf(await server.send({ body: { input: "x" } }));
    const run = id.replace("resp_", "run_");
    const forms = IDS.map((one) =>
      one.replace("UPPER", id.toUpperCase()).replace("ID", id).replace("RUN", run),
    );
    for (const form of forms) {
      for (const [method, path] of ROUTES) {
        const answer = await server.send({ method, path: path.replace(":id", form) });
        const told = `${method} ${path} ${form.slice(0, 60)}: ${answer.status}`;
        assert.ok([400, 404].includes(answer.status), told);
        assertRefused(answer, { status: answer.status }, told);
        assert.equal(answer.headers["x-evil"], undefined);
      }
    }
    assert.equal((await server.send({ method: "GET", path: `/v1/responses/${id}` })).status, 200);
    await server.isWell();
  });
});
