/**
 * Requests that do not fit in a model's window, and compacted conversations, in the form of the Messages API.
 */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { MODEL_RETRY } from "../../src/base/retry.ts";
import { reply, respond, script } from "../../src/testing/index.ts";
import { assemble, framesIn } from "../responses/messages/read-stream.ts";
import { type ServerSetup, startServer, type TestServer } from "./server-fixture.ts";

type Fields = Record<string, unknown>;
const HI = { role: "user", content: "Hi" };

async function ask(server: TestServer, body: object): Promise<{ status: number; body: Fields }> {
  const asked = { model: "m", max_tokens: 1000, messages: [HI], ...body };
  const answer = await server.ask("POST", "/v1/messages", asked);
  return { status: answer.status, body: answer.body as Fields };
}

/** A model's server that refuses everything as too long, in these words. */
async function startRefusing(t: TestContext, message: string): Promise<TestServer> {
  const refusing = createServer((request, response) => {
    request.resume();
    const error = { message, type: "BadRequestError", code: 400 };
    response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error }));
  });
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  t.after(() => void refusing.close());
  const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/v1`;
  const usual = { model: "custom/m", provider: "openai-chat", url, api_key_name: null };
  return await startServer(t, script(), {
    settings: { models: { named: [], usual } },
    retry: { ...MODEL_RETRY, attempts: 1 },
  });
}

describe("a request that does not fit into the window", () => {
  const SPLIT =
    "input length and `max_tokens` exceed context limit: 8000 + 1000 > 8192, decrease input length or `max_tokens` and try again";
  const TOO_LONG = "prompt is too long: 9000 tokens > 8192 maximum";
  const ROWS: readonly (readonly [string, string])[] = [
    [
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
      SPLIT,
    ],
    [
      "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 tokens: 8000 tokens from the input messages and 1000 tokens for the completion.",
      SPLIT,
    ],
    [
      "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 8192 tokens and your request has 8000 input tokens (1000 > 8192 - 8000).",
      SPLIT,
    ],
    [
      "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (9000 in the messages, 1000 in the completion).",
      TOO_LONG,
    ],
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      TOO_LONG,
    ],
    ["the request (9000 tokens) exceeds the available context size (8192 tokens)", TOO_LONG],
  ];
  for (const [said, told] of ROWS) {
    it(`is refused in the words that clients act on: ${said.slice(0, 70)}`, async (t) => {
      const server = await startRefusing(t, said);
      for (const stream of [false, true]) {
        const { status, body } = await ask(server, { stream });
        assert.equal(status, 400);
        assert.deepEqual(body["error"], { type: "invalid_request_error", message: told });
      }
    });
  }

  it("has its answer made shorter if that is enough", async (t) => {
    const plain = await startServer(t, script(reply.text("Hi."), reply.text("Hi.")));
    const usual = {
      model: "custom/m",
      provider: "openai-chat",
      url: plain.upstream.url,
      api_key_name: null,
    };
    const overrides = [{ vendor: "custom", name: "m", contextTokens: 20_000 }];
    const setup: ServerSetup = { settings: { models: { named: [], usual } }, overrides };
    const server = await startServer(t, script(), setup);
    const content = "word ".repeat(8000);
    for (const messages of [
      [{ role: "user", content }],
      [{ role: "user", content: [{ type: "text", text: content }] }],
    ]) {
      assert.equal((await ask(server, { messages, max_tokens: 16_000 })).status, 200);
      const sent = plain.upstream.requests.at(-1)?.body as Fields;
      const limit = Number(sent["max_completion_tokens"] ?? sent["max_tokens"]);
      assert.ok(limit >= 1000 && limit < 12_000, String(limit));
    }
  });
});

describe("an answer that does not fit beside its conversation", () => {
  /** 100,000 tokens by our estimate, of a window of 128,000. */
  const messages = [{ role: "user", content: "word ".repeat(60_000) }];
  const tools = [{ name: "t", input_schema: { type: "object" } }];

  /** The limits that reach the model's server for answers of 32,000 tokens. */
  async function limitsOf(t: TestContext, bodies: readonly object[]): Promise<number[]> {
    const plain = await startServer(
      t,
      respond(() => reply.text("Hi.")),
    );
    const { url } = plain.upstream;
    const usual = { model: "custom/m", provider: "openai-chat", url, api_key_name: null };
    const overrides = [{ vendor: "custom", name: "m", contextTokens: 128_000 }];
    const setup: ServerSetup = { settings: { models: { named: [], usual } }, overrides };
    const server = await startServer(t, script(), setup);
    for (const body of bodies) {
      assert.equal((await ask(server, { messages, max_tokens: 32_000, ...body })).status, 200);
    }
    return plain.upstream.requests.map(({ body }) => {
      const sent = body as Fields;
      return Number(sent["max_completion_tokens"] ?? sent["max_tokens"]);
    });
  }

  it("is made shorter also where it is only a quarter of the window", async (t) => {
    const limits = await limitsOf(t, [{ stream: true }, { stream: true, tools }, { tools }]);
    assert.equal(limits.length, 3);
    for (const limit of limits) assert.ok(limit > 15_000 && limit < 19_000, `${limits}`);
  });

  it("is left as it is where both fit", async (t) => {
    const short = { messages: [HI] };
    const bodies = [
      { ...short, stream: true },
      { ...short, stream: true, tools },
    ];
    assert.deepEqual(await limitsOf(t, bodies), [32_000, 32_000]);
  });
});

describe("a conversation that is compacted for a Messages client", () => {
  const messages = [HI, { role: "assistant", content: "Hello." }, { role: "user", content: "Go" }];
  const compaction = { type: "summarize" };

  it("is the whole answer where the request asks for that, in words and sealed", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("They greeted each other.")),
    );
    const { body } = await ask(server, { messages, compaction });
    assert.equal(body["stop_reason"], "compaction");
    const [block, ...more] = body["content"] as Fields[];
    assert.deepEqual([block?.["type"], more.length], ["compaction", 0]);
    assert.equal(block?.["content"], "They greeted each other.");
    assert.match(String(block?.["encrypted_content"]), /^offshoot1\./);
    const streamed = await server.ask("POST", "/v1/messages", {
      model: "m",
      max_tokens: 1000,
      messages,
      compaction,
      stream: true,
    });
    const { content, end } = assemble(framesIn(String(streamed.body)));
    assert.equal(content[0]?.["content"], "They greeted each other.");
    assert.equal((end["delta"] as Fields)["stop_reason"], "compaction");
  });

  it("continues from what was compacted", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("SUMMARY-WORDS")),
    );
    const { body } = await ask(server, { messages, compaction });
    const short = [
      { role: "assistant", content: body["content"] },
      { role: "user", content: "And?" },
    ];
    assert.equal((await ask(server, { messages: short })).status, 200);
    assert.match(server.upstream.requests.at(-1)?.text ?? "", /SUMMARY-WORDS/);
  });

  it("keeps the readable summary of another server's compaction", async (t) => {
    const server = await startServer(t, script(reply.text("Hi.")));
    const block = { type: "compaction", content: "FOREIGN-WORDS", encrypted_content: "x" };
    await ask(server, { messages: [{ role: "assistant", content: [block] }, HI] });
    assert.match(server.upstream.requests[0]?.text ?? "", /FOREIGN-WORDS/);
  });

  it("names what of the wish was left out", async (t) => {
    const server = await startServer(
      t,
      respond(() => reply.text("Short.")),
    );
    const wish = { ...compaction, instructions: "In verse" };
    const { body } = await ask(server, { messages, compaction: wish });
    assert.deepEqual(body["offshoot"], { ignored: ["compaction.instructions"] });
    const edits = [{ type: "compact_20260112", pause_after_compaction: true }];
    const paused = await ask(server, { context_management: { edits } });
    assert.deepEqual(paused.body["offshoot"], {
      ignored: ["context_management.edits[0].pause_after_compaction"],
    });
  });
});

describe("counting tokens for a Messages client", () => {
  it("tells the length before and after the edits of the context", async (t) => {
    const server = await startServer(t, script());
    const turns = [1, 2, 3].flatMap((at) => [
      { role: "assistant", content: [{ type: "tool_use", id: `t_${at}`, name: "t", input: {} }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: `t_${at}`, content: "word ".repeat(500) }],
      },
    ]);
    const edit = {
      type: "clear_tool_uses_20250919",
      trigger: { type: "tool_uses", value: 1 },
      keep: { type: "tool_uses", value: 1 },
    };
    const asked = { model: "m", messages: [HI, ...turns] };
    const path = "/v1/messages/count_tokens";
    const plain = (await server.ask("POST", path, asked)).body as Fields;
    assert.equal(plain["context_management"], null);
    const { body } = await server.ask("POST", path, {
      ...asked,
      context_management: { edits: [edit] },
    });
    const { input_tokens, context_management } = body as Fields;
    assert.deepEqual(context_management, { original_input_tokens: plain["input_tokens"] });
    assert.ok(Number(input_tokens) < Number(plain["input_tokens"]) - 500);
  });

  it("counts a document of text as much as the same text in a message", async (t) => {
    const server = await startServer(t, script());
    const data = "A line of plain text.\n".repeat(3000);
    const counts: number[] = [];
    for (const block of [
      { type: "text", text: data },
      { type: "document", source: { type: "text", media_type: "text/plain", data } },
    ]) {
      const asked = { model: "m", messages: [{ role: "user", content: [block] }] };
      const { body } = await server.ask("POST", "/v1/messages/count_tokens", asked);
      counts.push(Number((body as Fields)["input_tokens"]));
    }
    const [said = 0, file = 0] = counts;
    assert.ok(said > 22_000 && Math.abs(file - said) < 100, `${counts}`);
  });
});
