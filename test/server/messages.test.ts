/** The Messages API over HTTP: what its clients send, and the words they act on. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { MODEL_RETRY } from "../../src/base/retry.ts";
import { readCosts } from "../../src/delegation/ledger/costs.ts";
import { toRunId } from "../../src/responses/fold/response-object.ts";
import { reply, respond, type Script, script } from "../../src/testing/index.ts";
import { assemble, framesIn } from "../responses/messages/read-stream.ts";
import { type ServerSetup, startServer, type TestServer } from "./server-bench.ts";

type Fields = Record<string, unknown>;

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Fields;
}

async function ask(
  server: TestServer,
  body: object,
  { headers = {}, path = "/v1/messages?beta=true" }: Asked = {},
): Promise<Answered> {
  const answer = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "anthropic-version": "2023-06-01", ...headers },
    body: JSON.stringify({ model: "m", max_tokens: 1000, ...body }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: isJson ? JSON.parse(text) : {},
  };
}

const hears = (content: unknown): object => ({ messages: [{ role: "user", content }] });

function sentTo({ upstream }: TestServer, at = 0): Fields & { messages: Fields[] } {
  return upstream.requests[at]?.body as unknown as Fields & { messages: Fields[] };
}

function start(t: TestContext, engine: Script, setup?: ServerSetup): Promise<TestServer> {
  return startServer(t, engine, setup);
}

const hi = (): Script => script(reply.text("Hi."));

describe("a Messages request", () => {
  it("passes with every field and beta that nobody here knows", async (t) => {
    const server = await start(t, hi());
    const { status } = await ask(
      server,
      {
        ...hears([{ type: "text", text: "Hi", cache_control: { type: "ephemeral", ttl: "1h" } }]),
        ...{ new_field_2031: { a: 1 }, betas: ["x"], diagnostics: {}, speed: "fast" },
        ...{ context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] } },
        tools: [
          { name: "t", input_schema: { type: "object" }, eager_input_streaming: true, new: 1 },
          { type: "hologram_20310101", name: "hologram" },
        ],
      },
      { headers: { "anthropic-beta": "claude-code-20250219,unheard-of-2031-01-01" } },
    );
    assert.equal(status, 200);
  });

  it("names what of it was left out", async (t) => {
    const server = await start(t, hi());
    const tools = [{ type: "hologram_20310101", name: "hologram" }];
    const { body } = await ask(server, { ...hears("Hi"), tools, speed: "fast" });
    assert.deepEqual(body["offshoot"], { ignored: ["speed", "tools (hologram_20310101)"] });
  });

  it("takes instructions in the middle of the conversation where they stand", async (t) => {
    const server = await start(t, hi());
    const messages = [
      { role: "user", content: "Hi" },
      { role: "system", content: "Be brief." },
    ];
    await ask(server, { messages, system: [{ type: "text", text: "You are kind." }] });
    assert.deepEqual(
      sentTo(server).messages.map(({ role }) => role),
      ["system", "user", "system"],
    );
  });

  it("loses its line of attribution, and the name of its user, on the way to other vendors", async (t) => {
    const server = await start(t, hi());
    const system = [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2; cch=12ab;" },
      { type: "text", text: "You are kind." },
    ];
    await ask(server, { ...hears("Hi"), system, metadata: { user_id: "SECRET-USER" } });
    const { text = "" } = server.upstream.requests[0] ?? {};
    assert.doesNotMatch(text, /billing|SECRET-USER/);
    assert.match(text, /You are kind/);
  });

  it("asks for no thinking where it does not name it", async (t) => {
    const server = await start(t, script(reply.reasoning("Hm.", reply.text("Yes."))));
    const { body } = await ask(server, hears("Hi"));
    assert.deepEqual(
      (body["content"] as Fields[]).map(({ type }) => type),
      ["text"],
    );
  });

  it("brings thinking back as the model thought it", async (t) => {
    const server = await start(
      t,
      script(reply.reasoning("Hm.", reply.text("Yes.")), reply.text("So.")),
    );
    const thinking = { type: "adaptive" };
    const { body } = await ask(server, { ...hears("Hi"), thinking });
    const [thought] = body["content"] as Fields[];
    assert.equal(thought?.["thinking"], "Hm.");
    assert.match(String(thought?.["signature"]), /^offshoot-/);
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: body["content"] },
      { role: "user", content: "And?" },
    ];
    assert.equal((await ask(server, { messages, thinking })).status, 200);
    assert.equal(sentTo(server, 1).messages[1]?.["reasoning_content"] ?? "Hm.", "Hm.");
  });

  it("asks for no more than the model can say", async (t) => {
    const server = await start(t, hi());
    const usual = {
      model: "openai/gpt-4o",
      provider: "openai-chat",
      url: server.upstream.url,
      api_key_name: null,
    };
    const limited = await start(t, hi(), {
      settings: { models: { named: [["m", usual]], usual } },
    });
    await ask(limited, { ...hears("Hi"), max_tokens: 64_000 });
    const sent = sentTo(server) as Fields;
    assert.equal(sent["max_completion_tokens"] ?? sent["max_tokens"], 16_384);
  });

  it("offers tools that are deferred once a result has named them", async (t) => {
    const server = await start(t, script(reply.text("a"), reply.text("b")));
    const tools = [
      { name: "find", input_schema: { type: "object" } },
      { name: "late", input_schema: { type: "object" }, defer_loading: true },
    ];
    await ask(server, { ...hears("Hi"), tools });
    const messages = [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "toolu_1", name: "find", input: {} }],
      },
      {
        role: "user",
        content: [
          {
            ...{ type: "tool_result", tool_use_id: "toolu_1" },
            content: [{ type: "tool_reference", tool_name: "late" }],
          },
        ],
      },
    ];
    await ask(server, { messages, tools });
    const offered = [0, 1].map((at) =>
      (sentTo(server, at)["tools"] as { function: { name: string } }[]).map(
        (tool) => tool.function.name,
      ),
    );
    assert.deepEqual(offered, [["find"], ["find", "late"]]);
  });

  it("offers the client's own kinds of tools as functions with their published inputs", async (t) => {
    const server = await start(t, hi());
    const tools = [
      { type: "bash_20250124", name: "bash" },
      { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
      {
        type: "computer_20250124",
        name: "computer",
        display_width_px: 800,
        display_height_px: 600,
      },
      { type: "memory_20250818", name: "memory" },
    ];
    await ask(server, { ...hears("Hi"), tools });
    const offered = sentTo(server)["tools"] as {
      function: { name: string; parameters: { properties: object } };
    }[];
    assert.deepEqual(
      offered.map((tool) => [
        tool.function.name,
        Object.keys(tool.function.parameters.properties)[0],
      ]),
      [
        ["bash", "command"],
        ["str_replace_based_edit_tool", "command"],
        ["computer", "action"],
        ["memory", "command"],
      ],
    );
  });

  it("clears old results before the model reads them, and says so", async (t) => {
    const server = await start(t, hi());
    const turns = [1, 2, 3].flatMap((at) => [
      {
        role: "assistant",
        content: [{ type: "tool_use", id: `toolu_${at}`, name: "t", input: {} }],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: `toolu_${at}`, content: `RESULT-${at} `.repeat(50) },
        ],
      },
    ]);
    const edit = {
      ...{ type: "clear_tool_uses_20250919", trigger: { type: "tool_uses", value: 1 } },
      keep: { type: "tool_uses", value: 1 },
    };
    const { body } = await ask(server, {
      messages: [{ role: "user", content: "Hi" }, ...turns],
      tools: [{ name: "t", input_schema: { type: "object" } }],
      context_management: { edits: [edit] },
    });
    const { applied_edits } = body["context_management"] as { applied_edits: Fields[] };
    assert.equal(applied_edits[0]?.["cleared_tool_uses"], 2);
    const { text = "" } = server.upstream.requests[0] ?? {};
    assert.doesNotMatch(text, /RESULT-[12]/);
    assert.match(text, /RESULT-3/);
  });
});

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

  const BAD: Readonly<Record<string, [object, RegExp]>> = {
    "a tool without a schema": [
      { ...hears("Hi"), tools: [{ name: "t" }] },
      /tools\[0\]\.input_schema/,
    ],
    "a result of a call that nobody made": [
      hears([{ type: "tool_result", tool_use_id: "toolu_9", content: "x" }]),
      /toolu_9/,
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
    "messages that are no list": [{ messages: "Hi" }, /messages/],
    "a limit of no tokens": [{ ...hears("Hi"), max_tokens: 0 }, /max_tokens/],
    "a choice of a tool that is not offered": [
      {
        ...hears("Hi"),
        tools: [{ name: "t", input_schema: { type: "object" } }],
        tool_choice: { type: "tool", name: "u" },
      },
      /`u`/,
    ],
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

/** A model's server that answers everything with one refusal. */
async function startFailing(t: TestContext, status: number, body: object): Promise<TestServer> {
  const failing = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => failing.listen(0, "127.0.0.1", resolve));
  t.after(() => void failing.close());
  const url = `http://127.0.0.1:${(failing.address() as AddressInfo).port}/v1`;
  const usual = { model: "custom/m", provider: "openai-chat", url, api_key_name: null };
  return await start(t, hi(), {
    settings: { models: { named: [], usual } },
    retry: { ...MODEL_RETRY, attempts: 1 },
  });
}

describe("a session of a Messages client", () => {
  it("groups its runs in the record", async (t) => {
    const usage = { input: 100, output: 10 };
    const server = await startServer(
      t,
      respond(() => reply.text("Yes.", { usage })),
    );
    const ids: string[] = [];
    for (const session of ["one", "one", "two"]) {
      const headers = { "x-claude-code-session-id": session };
      const { body } = await ask(server, hears("Hi"), { headers });
      ids.push(toRunId(String(body["id"]).replace("msg_", "resp_")));
    }
    const rows = await readCosts(server.responses.durable.record, ids, "session");
    assert.deepEqual(
      rows.map(({ key, calls }) => [key, calls]),
      [
        ["one", 2],
        ["two", 1],
      ],
    );
    const record = await server.runtime.openRecord();
    const viewer = { tenant: "tenant" };
    const query = new URLSearchParams({ session: "client:one" });
    const { data } = await record.list(viewer, query);
    assert.deepEqual(data.map(({ id }) => id).sort(), ids.slice(0, 2).sort());
  });

  it("is what is stored: other requests leave nothing", async (t) => {
    const server = await start(t, hi());
    const { body } = await ask(server, hears("Hi"));
    const id = String(body["id"]).replace("msg_", "resp_");
    assert.equal((await server.ask("GET", `/v1/responses/${id}`)).status, 404);
  });
});

describe("a Messages stream", () => {
  it("has no frame of another API, and ends with `message_stop`", async (t) => {
    const server = await start(t, script(reply.text("One two.")));
    const { text, headers } = await ask(server, { ...hears("Hi"), stream: true });
    assert.match(headers.get("content-type") ?? "", /^text\/event-stream/);
    assert.doesNotMatch(text, /\[DONE\]|response\./);
    const { content } = assemble(framesIn(text));
    assert.deepEqual(content, [{ type: "text", text: "One two." }]);
  });
});
