/** Bodies of an attacker: each gets the expected answer, and the server stays healthy. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Received } from "../server/guard/guard-fixture.ts";
import {
  type AttackedServer,
  assertRefused,
  type Refusal,
  startAttacked,
} from "./server-attack-fixture.ts";

type Body = object | string;

const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const many = <Out>(count: number, make: (at: number) => Out): Out[] =>
  Array.from({ length: count }, (_, at) => make(at));
const names = (count: number): string => many(count, (at) => `"k${at}":1`).join();
const user = (content: unknown): object => ({ role: "user", content });
const image = (chars: number): object => ({
  type: "input_image",
  image_url: `data:image/png;base64,${"A".repeat(chars)}`,
});
const tool = (more: object): object => ({ input: "x", tools: [{ type: "function", ...more }] });
const invalid = (param: string | null, message?: RegExp): Refusal => ({
  status: 400,
  code: "invalid_request",
  param,
  message,
});

/** Refused, with the parameter at fault. */
const REFUSED: Readonly<Record<string, readonly [Body, Refusal]>> = {
  "no body": ["", invalid(null, /not JSON/)],
  "half a body": ['{"input":"x"', invalid(null, /not JSON/)],
  "two bodies": ['{"input":"x"}{"input":"y"}', invalid(null, /not JSON/)],
  "a number beyond JSON": ['{"input":"x","temperature":NaN}', invalid(null, /not JSON/)],
  "a comment": ['{"input":"x" /* hi */}', invalid(null, /not JSON/)],
  "a list": ["[]", invalid(null, /must be an object/)],
  nothing: ["null", invalid(null, /must be an object/)],
  "a text": ['"input"', invalid(null, /must be an object/)],
  "UTF-16": [Buffer.from('{"input":"x"}', "utf16le").toString("latin1"), invalid(null)],
  "200 levels": [`{"input":"x","metadata":${nested(200)}}`, invalid(null, /deeper than 128/)],
  "a million levels": [`{"input":${nested(1_000_000)}}`, invalid(null, /deeper than 128/)],
  "a million levels that never close": [
    `{"input":${"[".repeat(1_000_000)}`,
    invalid(null, /deeper/),
  ],
  "levels inside of names": [
    `{"input":"x","a":${'{"a":'.repeat(500)}1${"}".repeat(500)}}`,
    invalid(null),
  ],
  "a million names": [`{"input":"x",${names(1_000_000)}}`, invalid(null, /300000 names/)],
  "a million names in an item": [
    `{"input":[{"role":"user","content":"x",${names(400_000)}}]}`,
    invalid(null, /300000 names/),
  ],
  "10,000 tools": [
    { input: "x", tools: many(10_000, (at) => ({ type: "function", name: `f${at}` })) },
    invalid("tools", /10000 tools/),
  ],
  "100,000 items": [{ input: many(100_000, () => user("x")) }, invalid("input", /100000 input/)],
  "a huge picture": [{ input: [user([image(28_000_000)])] }, invalid("input[0]", /larger than/)],
  "a huge picture in a result": [
    { input: [{ type: "function_call_output", call_id: "1", output: [image(28_000_000)] }] },
    invalid("input[0]", /larger than/),
  ],
  "17 pairs of metadata": [
    { input: "x", metadata: Object.fromEntries(many(17, (at) => [`k${at}`, "v"])) },
    invalid("metadata", /17 pairs/),
  ],
  "a long name of metadata": [
    { input: "x", metadata: { ["k".repeat(65)]: "v" } },
    invalid("metadata"),
  ],
  "a long value of metadata": [
    { input: "x", metadata: { k: "v".repeat(513) } },
    invalid("metadata.k"),
  ],
  "metadata that is not text": [{ input: "x", metadata: { k: {} } }, invalid("metadata.k")],
  "a negative limit": [{ input: "x", max_output_tokens: -1 }, invalid("max_output_tokens")],
  "a limit without an end": [
    '{"input":"x","max_output_tokens":1e999}',
    invalid("max_output_tokens"),
  ],
  "half a token": [{ input: "x", max_output_tokens: 1.5 }, invalid("max_output_tokens")],
  "a limit that is text": [{ input: "x", max_output_tokens: "9" }, invalid("max_output_tokens")],
  "a temperature of a list": [{ input: "x", temperature: [1] }, invalid("temperature")],
  "a model of a megabyte": [{ input: "x", model: "m".repeat(1_000_000) }, invalid("model")],
  "a model that is an object": [{ input: "x", model: { toString: "x" } }, invalid("model")],
  "an item of no kind": [{ input: [{}] }, { status: 400, code: "invalid_request" }],
  "an item that is a number": [{ input: [1] }, { status: 400, code: "invalid_request" }],
  "a message without a role": [{ input: [{ type: "message", content: "x" }] }, { status: 400 }],
  "a tool without a name": [tool({}), { status: 400, code: "invalid_request" }],
  "a secret that was not sealed here": [
    tool({ name: "f", offshoot_sealed: "AAAA" }),
    invalid("tools", /not sealed/),
  ],
  "a secret sealed with four bytes": [
    tool({ name: "f", offshoot_sealed: Buffer.alloc(16).toString("base64") }),
    invalid("tools", /not sealed/),
  ],
  "a secret that is an object": [tool({ name: "f", offshoot_sealed: { a: 1 } }), invalid("tools")],
  "deep arguments of a call": [
    {
      input: [
        {
          type: "function_call",
          call_id: "1",
          name: "f",
          arguments: `${'{"a":'.repeat(100_000)}1`,
        },
        { type: "function_call_output", call_id: "1", output: "x" },
      ],
    },
    invalid("input[0].arguments", /deeper than 128/),
  ],
  "a background run that leaves nothing": [
    { input: "x", background: true, store: false },
    invalid("background"),
  ],
  "two pasts": [
    { input: "x", previous_response_id: "resp_1", conversation: "conv_1" },
    invalid("previous_response_id"),
  ],
  "a prompt outside of its folder": [
    { input: "x", prompt: { id: "../../../etc/passwd" } },
    { status: 404, code: "not_found", param: "prompt.id" },
  ],
  "a prompt's version outside of its folder": [
    { input: "x", prompt: { id: "a", version: "/../../etc/passwd" } },
    { status: 404, code: "not_found", param: "prompt.id" },
  ],
};

/** Odd, but harmless: answered, and sent to the model unchanged. */
const TAKEN: Readonly<Record<string, Body>> = {
  "names of prototypes":
    '{"input":"x","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
  "prototypes in metadata": '{"input":"x","metadata":{"__proto__":"polluted","constructor":"y"}}',
  "prototypes in an item": '{"input":[{"role":"user","content":"x","__proto__":{"polluted":1}}]}',
  "prototypes in a tool": `{"input":"x","tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"__proto__":{"type":"string"}}}}]}`,
  "a name twice": '{"input":"first","input":"second"}',
  "half of a pair": '{"input":"\\ud800 x \\udfff"}',
  "a NUL": '{"input":"a\\u0000b","metadata":{"a\\u0000":"\\u0000"}}',
  "control characters": '{"input":"\\u001b[2J\\u0007\\u202e"}',
  "headers in metadata": { input: "x", metadata: { "k\r\nx-evil: 1": "v\r\nset-cookie: a=b" } },
  "a mark of its order": `\ufeff{"input":"x"}`,
  "100 levels": `{"input":"x","unknown":${nested(100)}}`,
  "an unknown kind of item": { input: [user("x"), { type: "zebra", a: { b: 1 } }] },
  "an unknown kind of tool": { input: "x", tools: [{ type: "zebra" }] },
  "100,000 parts": { input: [user(many(100_000, () => ({ type: "input_text", text: "x" })))] },
  "a deep result of a call": {
    input: [
      { type: "function_call", call_id: "1", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "1", output: nested(100_000) },
    ],
  },
  "free text as a call's arguments": {
    input: [
      { type: "function_call", call_id: "1", name: "f", arguments: 'no JSON: "((" [' },
      { type: "function_call_output", call_id: "1", output: "x" },
    ],
  },
  "grammars that never end": {
    input: "x",
    tools: [
      {
        type: "custom",
        name: "a",
        format: { type: "grammar", syntax: "regex", definition: "^(a+)+$" },
      },
      {
        type: "custom",
        name: "b",
        format: {
          type: "grammar",
          syntax: "lark",
          definition: "start: start start\n".repeat(10_000),
        },
      },
    ],
  },
  "100,000 wishes to see": { input: "x", include: many(100_000, (at) => `x${at}`) },
  "a compaction that was not sealed here": {
    input: [
      { type: "compaction", id: "c", encrypted_content: `offshoot1.${"A".repeat(10_000)}` },
      user("x"),
    ],
  },
  "a container outside of its folder": {
    input: [
      { type: "code_interpreter_call", id: "c", container_id: "../../etc", code: "x", outputs: [] },
      user("x"),
    ],
  },
};

async function post(server: AttackedServer, body: Body): Promise<Received> {
  return await server.send({ body, headers: { "content-type": "text/plain" } });
}

describe("bodies that attack the server", () => {
  it("are refused by the parameter at fault, and nothing reaches the model", async (t) => {
    const server = await startAttacked(t);
    for (const [name, [body, wanted]] of Object.entries(REFUSED)) {
      assertRefused(await post(server, body), wanted, name);
    }
    assert.equal(server.upstream.requests.length, 0);
    await server.isWell();
  });

  it("are accepted unchanged if they are harmless", async (t) => {
    const server = await startAttacked(t);
    for (const [name, body] of Object.entries(TAKEN)) {
      const answer = await post(server, body);
      assert.equal(answer.status, 200, `${name}: ${answer.text.slice(0, 300)}`);
      assert.equal(answer.headers["x-evil"], undefined, name);
      assert.equal(answer.headers["set-cookie"], undefined, name);
    }
    await server.isWell();
  });

  it("are refused for every byte that is not UTF-8", async (t) => {
    const server = await startAttacked(t);
    const bad = [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]];
    for (const bytes of bad) {
      const body = Buffer.concat([
        Buffer.from('{"input":"'),
        Buffer.from(bytes),
        Buffer.from('"}'),
      ]);
      const init = { method: "POST", body, headers: { authorization: `Bearer ${server.token}` } };
      const answer = await fetch(`${server.url}/v1/responses`, init);
      const { error } = (await answer.json()) as { error: { message: string } };
      assert.deepEqual([answer.status, error.message], [400, "The body is not UTF-8."]);
    }
    await server.isWell();
  });

  it("are refused on every other route that accepts one, too", async (t) => {
    const server = await startAttacked(t);
    const items = many(100_000, () => user("x"));
    const tools = many(10_000, (at) => ({ type: "function", name: `f${at}` }));
    const rows: readonly [string, Body, string | null][] = [
      ["/v1/responses/compact", { model: "m", input: items }, "input"],
      ["/v1/responses/input_tokens", { input: items }, "input"],
      ["/v1/responses/input_tokens", { input: "x", tools }, "tools"],
      ["/v1/chat/completions", { model: "m", messages: items }, "messages"],
      ["/v1/conversations", { items: items.slice(0, 21) }, "items"],
      ["/v1/conversations", { metadata: { k: "v".repeat(513) } }, "metadata.k"],
      ["/v1/conversations", '{"items":{"__proto__":1}}', "items"],
      ["/v1/vector_stores", { file_ids: many(100_000, () => "file-1") }, "file_ids"],
      ["/v1/vector_stores", { name: "x", expires_after: { anchor: "x", days: 1e9 } }, null],
      ["/v1/containers", { name: "x", file_ids: many(51, () => "file-1") }, "file_ids"],
      ["/v1/containers", { name: "x", memory_limit: "9999g" }, "memory_limit"],
      [
        "/v1/containers",
        { name: "x", expires_after: { anchor: "last_active_at", minutes: 1e9 } },
        null,
      ],
      ["/v1/containers", `{"name":${nested(1000)}}`, null],
    ];
    for (const [path, body, param] of rows) {
      const answer = await server.send({ path, body });
      const wanted = param === null ? { status: 400 } : { status: 400, param };
      assertRefused(answer, wanted, `${path} ${param}`);
    }
    await server.isWell();
  });

  it("fill the gaps of a prompt with text, and with nothing else", async (t) => {
    const text = "Say {{a}} to {{b}}.";
    const { root } = await startAttacked(t, undefined, { files: { "p/greet.md": text } });
    const server = await startAttacked(t, undefined, { settings: { promptsDir: `${root}/p` } });
    const variables = { a: "{{b}} $& $1 \u0000", b: "{{secret}}", secret: "heliotrope" };
    const prompt = { id: "greet", variables };
    const taken = await server.send({ body: { input: "Go", prompt, store: false } });
    assert.equal(taken.status, 200, taken.text);
    const told = JSON.stringify(server.upstream.requests.at(-1)?.body);
    assert.ok(told.includes(JSON.stringify("Say {{b}} $& $1 \u0000 to {{secret}}.")), told);
    const proto = JSON.parse(
      '{"id":"greet","variables":{"a":"x","__proto__":{"b":"y"}}}',
    ) as object;
    const refused = await server.send({ body: { input: "Go", prompt: proto } });
    assertRefused(refused, { status: 400, param: "prompt.variables.b" }, "a prototype's variable");
    await server.isWell();
  });
});
