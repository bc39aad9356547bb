/** Errors of the Messages API over HTTP: their form, and the words that clients act on. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reply, respond } from "../../src/testing/index.ts";
import { ask, type Fields, hears, hi, start, startFailing } from "./messages-fixture.ts";

describe("errors of the Messages API", () => {
  it("have its form, with an id that the header repeats", async (t) => {
    const server = await start(t, hi());
    const { status, body, headers } = await ask(server, { messages: [] });
    assert.equal(status, 400);
    const { type, error, request_id } = body as { type: string; error: Fields; request_id: string };
    assert.equal(type, "error");
    assert.equal(error["type"], "invalid_request_error");
    assert.match(String(error["message"]), /messages.*at least one/);
    assert.equal(headers.get("request-id"), request_id);
  });

  /** A question, a call and its result. */
  const turnWith = (call: { readonly id: string } & Fields): object[] => [
    { role: "user", content: "Hi" },
    { role: "assistant", content: [call] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "x" }] },
  ];
  const BAD: Readonly<Record<string, [object, RegExp]>> = {
    "a tool without a schema": [
      { ...hears("Hi"), tools: [{ name: "t" }] },
      /tools\[0\]\.input_schema/,
    ],
    "a result of a call that was not made": [
      hears([{ type: "tool_result", tool_use_id: "toolu_9", content: "x" }]),
      /`messages\[0\]\.content\[0\]`: a `tool_result` must have its `tool_use` before it.*toolu_9/,
    ],
    "two results of one call": [
      {
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: [{ type: "tool_use", id: "t_1", name: "t", input: {} }] },
          {
            role: "user",
            content: [1, 2].map(() => ({ type: "tool_result", tool_use_id: "t_1", content: "x" })),
          },
        ],
      },
      /messages\[2\]\.content\[1\].*each tool_use must have a single result/,
    ],
    "two calls with one id, with other turns between them": [
      {
        messages: [
          ...turnWith({ type: "tool_use", id: "t_1", name: "t", input: {} }),
          ...turnWith({ type: "tool_use", id: "t_1", name: "t", input: {} }),
        ],
      },
      /^`messages\[4\].content\[0\]`: `tool_use` ids must be unique.*t_1/,
    ],
    "a call of a hosted tool with the id of another call": [
      {
        messages: [
          ...turnWith({ type: "tool_use", id: "t_1", name: "t", input: {} }),
          ...turnWith({ type: "server_tool_use", id: "t_1", name: "web_search", input: {} }),
        ],
      },
      /^`messages\[4\].content\[0\]`: `tool_use` ids must be unique.*t_1/,
    ],
    "a result of the client's for a call of a hosted tool": [
      {
        messages: turnWith({ type: "server_tool_use", id: "t_1", name: "web_search", input: {} }),
      },
      /messages\[2\]\.content\[0\].*must have its `tool_use` before it/,
    ],
    "a set of tools of a server that is not named": [
      { ...hears("Hi"), tools: [{ type: "mcp_toolset", mcp_server_name: "x" }] },
      /tools\[0\]\.mcp_server_name.*`x`/,
    ],
    "compaction and edits at once": [
      { ...hears("Hi"), compaction: { type: "summarize" }, context_management: { edits: [] } },
      /`compaction` cannot be combined/,
    ],
    "a role that there is not": [
      { messages: [{ role: "tool", content: "x" }] },
      /messages\[0\]\.role/,
    ],
    "messages that are not a list": [{ messages: "Hi" }, /messages/],
    "a limit of no tokens": [{ ...hears("Hi"), max_tokens: 0 }, /max_tokens/],
    "a choice of a tool that is not offered": [
      {
        ...hears("Hi"),
        tools: [{ name: "t", input_schema: { type: "object" } }],
        tool_choice: { type: "tool", name: "u" },
      },
      /`u`/,
    ],
    "a choice of a tool without its name": [
      {
        ...hears("Hi"),
        tools: [{ name: "t", input_schema: { type: "object" } }],
        tool_choice: { type: "tool" },
      },
      /^`tool_choice\.name` is missing/,
    ],
    "messages without any content": [{ messages: [{ role: "user", content: [] }] }, /`messages`/],
  };
  for (const [name, [body, message]] of Object.entries(BAD)) {
    it(`say what is wrong with ${name}`, async (t) => {
      const server = await start(t, hi());
      const answer = await ask(server, body);
      assert.equal(answer.status, 400, answer.text);
      assert.match(String((answer.body["error"] as Fields)["message"]), message);
      assert.equal(server.upstream.requests.length, 0);
    });
  }

  it("tell of a conversation that does not fit in the words that make clients compact it", async (t) => {
    const message =
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.";
    const error = { message, type: "invalid_request_error", code: "context_length_exceeded" };
    for (const stream of [false, true]) {
      const server = await startFailing(t, 400, { error });
      const { status, body } = await ask(server, { ...hears("Hi"), stream });
      assert.equal(status, 400);
      assert.deepEqual(body["error"], {
        type: "invalid_request_error",
        message: "prompt is too long: 9001 tokens > 8192 maximum",
      });
    }
  });

  it("say that the vendor is busy so that clients try again", async (t) => {
    const server = await startFailing(t, 429, { error: { message: "Slow down." } });
    const { status, body } = await ask(server, hears("Hi"));
    assert.equal(status, 529);
    assert.equal((body["error"] as Fields)["type"], "overloaded_error");
  });
});

describe("an address of the Messages API that is not served", () => {
  for (const path of [
    "/v1/messages/batches",
    "/v1/messages/batches/b_1/results",
    "/v1/messages/x",
  ]) {
    it(`is refused in the words of that API, also without its version: ${path}`, async (t) => {
      const server = await start(t, hi());
      for (const method of ["POST", "GET", "DELETE"]) {
        const answer = await fetch(`${server.url}${path}`, { method });
        const body = (await answer.json()) as Fields;
        assert.equal(answer.status, 404);
        assert.equal(body["type"], "error");
        assert.equal((body["error"] as Fields)["type"], "not_found_error");
        assert.equal(answer.headers.get("request-id"), body["request_id"]);
      }
    });
  }
});

describe("the version of the Messages API", () => {
  const asked = JSON.stringify({ model: "m", max_tokens: 10, ...hears("Hi") });

  for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
    it(`is one of those that were published, if it is named: ${path}`, async (t) => {
      const server = await start(
        t,
        respond(() => reply.text("Hi.")),
      );
      const ask = (version: string | undefined): Promise<Response> => {
        const headers = version === undefined ? {} : { "anthropic-version": version };
        return fetch(`${server.url}${path}`, { method: "POST", headers, body: asked });
      };
      for (const version of [undefined, "2023-01-01", "2023-06-01", "2026-10-21"]) {
        const { status, headers } = await ask(version);
        assert.equal(status, 200, version);
        assert.match(headers.get("request-id") ?? "", /^(req|resp)_/);
      }
      const answer = await ask("2031-01-01");
      assert.equal(answer.status, 400);
      const { error } = (await answer.json()) as { error: Fields };
      assert.equal(error["type"], "invalid_request_error");
      assert.match(
        String(error["message"]),
        /anthropic-version: "2031-01-01" is not a valid version/,
      );
    });
  }
});
