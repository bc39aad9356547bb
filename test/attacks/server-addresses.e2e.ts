/**
 * Addresses that a request asks this server to read: every form of a private one, in every field that takes
 * an address. Nothing private is ever dialled, and the client learns which field it was.
 */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { startSmallServer } from "../runtime/small-mcp-server.ts";
import type { Received, Sent } from "../server/guard/guard-fixture.ts";
import { PUBLIC, startWeb } from "../tools/web/web-servers.ts";
import { ADDRESS_ROWS, type AddressRow } from "./address-rows.ts";
import { assertRefused, idOf, startAttacked } from "./server-attack-fixture.ts";

const user = (part: object): object => ({ role: "user", content: [part] });

/** Fields whose address is read with the request: each body with it, and the parameter. */
const FIELDS: Readonly<Record<string, (url: string) => Sent>> = {
  image_url: (image_url) => ({ body: { input: [user({ type: "input_image", image_url })] } }),
  file_url: (file_url) => ({ body: { input: [user({ type: "input_file", file_url })] } }),
};

const isNamed = ({ url }: AddressRow): boolean => !url.startsWith("data:");

describe("addresses in a request", () => {
  for (const [field, ask] of Object.entries(FIELDS)) {
    it(`that must not be read are refused in \`${field}\`, in every form`, async (t) => {
      // A test each, because each has a server of its own, which ends with it.
      for (const row of ADDRESS_ROWS.filter(isNamed)) {
        const name = `${field}: ${row.attack ?? row.url}`;
        await t.test(name, (inner) => checkField(inner, ask, { row, name }));
      }
    });
  }

  it("that must not be read are refused in `server_url`, in every form", async (t) => {
    for (const row of ADDRESS_ROWS.filter(({ redirects }) => !redirects)) {
      const name = `server_url: ${row.attack ?? row.url}`;
      await t.test(name, (inner) => checkServerUrl(inner, { row, name }));
    }
  });
});

interface NamedRow {
  readonly row: AddressRow;
  readonly name: string;
}

async function checkField(
  t: TestContext,
  ask: (url: string) => Sent,
  { row, name }: NamedRow,
): Promise<void> {
  await using web = await startWeb({
    names: row.names ?? {},
    answer(request, response) {
      const [status, location] = row.redirects?.[request.url ?? ""] ?? [200, ""];
      response.writeHead(status, location === "" ? {} : { location }).end("A secret.");
    },
  });
  const { resolve, dial } = web.parts;
  const settings = { web: { resolve, ...(dial ? { dial } : {}) } };
  const server = await startAttacked(t, undefined, { settings });
  const answer = await server.send(ask(row.url));
  assertRefused(answer, { status: 400, code: "invalid_request" }, name);
  assert.ok(answer.text.includes(row.why), `${name}: ${answer.text}`);
  assert.doesNotMatch(answer.text, /A secret/);
  assert.equal(server.upstream.requests.length, 0, name);
  assert.deepEqual(web.dialled, Array(row.reaches ?? 0).fill(`${PUBLIC}:80`), name);
}

async function checkServerUrl(t: TestContext, { row, name }: NamedRow): Promise<void> {
  const answers = new Map(Object.entries(row.names ?? {}));
  const resolve = async (host: string) => [...(answers.get(host)?.[0] ?? [PUBLIC])];
  const server = await startAttacked(t, undefined, { settings: { web: { resolve } } });
  const headers = { authorization: "Bearer client-secret" };
  const tool = { type: "mcp", server_label: "a", server_url: row.url, headers };
  const answer = await server.send({ body: { input: "x", tools: [tool] } });
  assert.ok(answer.status >= 400, `${name}: ${answer.text}`);
  assertRefused(answer, { status: answer.status }, name);
  assert.ok(answer.text.includes(row.why), `${name}: ${answer.text}`);
  assert.doesNotMatch(answer.text, /client-secret/);
  assert.equal(server.upstream.requests.length, 0, name);
}

const METADATA = "http://169.254.169.254/latest/meta-data/";
const image = { type: "input_image", image_url: METADATA };
const call = { type: "function_call", call_id: "1", name: "f", arguments: "{}" };

/** Every other place for an image or a file. */
const PLACES: Readonly<Record<string, Sent>> = {
  "a chat's picture": {
    path: "/v1/chat/completions",
    body: {
      model: "m",
      messages: [user({ type: "image_url", image_url: { url: METADATA } })],
    },
  },
  "a call's result": {
    body: { input: [call, { type: "function_call_output", call_id: "1", output: [image] }] },
  },
  "a free-text call's result": {
    body: {
      input: [
        { type: "custom_tool_call", call_id: "1", name: "f", input: "" },
        { type: "custom_tool_call_output", call_id: "1", output: [image] },
      ],
    },
  },
  "a screenshot": {
    body: {
      input: [
        {
          type: "computer_call_output",
          call_id: "1",
          output: { type: "computer_screenshot", image_url: METADATA },
        },
      ],
    },
  },
  "an older message": { body: { input: [user(image), { role: "user", content: "And now?" }] } },
  "a message of a developer": { body: { input: [{ role: "developer", content: [image] }] } },
  "a stream": { body: { input: [user(image)], stream: true } },
  "what is not stored": { body: { input: [user(image)], store: false } },
  "the background": { body: { input: [user(image)], background: true } },
  "an estimate": { path: "/v1/responses/input_tokens", body: { input: [user(image)] } },
  "a compaction": { path: "/v1/responses/compact", body: { model: "m", input: [user(image)] } },
  "a prompt's variable": {
    body: { prompt: { id: "look", variables: { picture: image } }, input: "What is it?" },
  },
};

describe("private addresses", () => {
  it("are refused in every place of a request", async (t) => {
    const dialled: string[] = [];
    const dial = (address: string) => {
      dialled.push(address);
      return { host: "127.0.0.1", port: 9 };
    };
    const files = { "prompts/look.md": "---\nrole: user\n---\nLook at {{picture}}." };
    const { root } = await startAttacked(t, undefined, { files });
    const settings = { web: { dial }, promptsDir: `${root}/prompts` };
    const server = await startAttacked(t, undefined, { settings });
    for (const [name, asked] of Object.entries(PLACES)) {
      const answer = await server.send(asked);
      assertRefused(answer, { status: 400, message: /169\.254\.169\.254/ }, name);
    }
    assert.equal(server.upstream.requests.length, 0);
    assert.deepEqual(dialled, []);
    await server.isWell();
  });

  it("are not reached through a conversation", async (t) => {
    const server = await startAttacked(t);
    const body = { items: [{ type: "message", ...user(image) }] };
    const made = await server.send({ path: "/v1/conversations", body });
    if (made.status !== 200) return assertRefused(made, { status: 400 }, "conversation");
    const answer = await server.send({ body: { input: "x", conversation: idOf(made) } });
    assertRefused(answer, { status: 400, message: /169\.254\.169\.254/ }, "conversation");
    assert.equal(server.upstream.requests.length, 0);
  });

  it("are not reached by a redirect of an MCP server, which does not get the headers either", async (t) => {
    const inside = await startSmallServer(t);
    const outside = await startSmallServer(t, {
      before(_, response) {
        response.writeHead(307, { location: inside.url }).end();
        return true;
      },
    });
    const web = { privateHosts: [`127.0.0.1:${outside.port}`] };
    const server = await startAttacked(t, undefined, { settings: { web } });
    const tool = {
      type: "mcp",
      server_label: "a",
      server_url: outside.url,
      authorization: "client-secret",
    };
    const answer: Received = await server.send({ body: { input: "x", tools: [tool] } });
    assert.ok(answer.status >= 400, answer.text);
    assert.equal(outside.headers[0]?.["authorization"], "Bearer client-secret");
    assert.equal(inside.headers.length, 0);
    await server.isWell();
  });
});
