/**
 * Data that only its vendor can read (code that Gemini ran, a tool that Bedrock ran) goes back to that vendor in the
 * next turn, through a whole server; no other vendor gets it.
 */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { encodeTextFrame } from "../../src/testing/bedrock/event-frames.ts";
import {
  type Reply,
  reply,
  type Script,
  script,
  startBedrockUpstream,
  startGeminiUpstream,
  startMessagesUpstream,
  type Upstream,
} from "../../src/testing/index.ts";
import { startServer, type TestServer } from "./server-fixture.ts";

interface Row {
  readonly model: string;
  readonly provider: string;
  readonly start: (options: { readonly engine: Script }) => Promise<Upstream>;
  /** An answer with blocks of the vendor's own before its text. */
  readonly first: Reply;
  /** The types of its items. */
  readonly types: readonly string[];
  /** The blocks of the model's turn, as the next request has to bring them. */
  readonly blocks: readonly object[];
  readonly blocksOf: (body: unknown) => unknown;
}

const AWS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" };
const env = {
  ANTHROPIC_API_KEY: "k",
  GEMINI_API_KEY: "k",
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: AWS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: AWS.secretAccessKey,
};

const CODE = { executableCode: { language: "PYTHON", code: "print(6 * 7)" } };
const RESULT = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "42\n" } };
const OWN_CALL = {
  toolUse: {
    toolUseId: "tooluse_own_1",
    name: "nova_grounding",
    type: "server_tool_use",
    input: { query: "Belt" },
  },
};
const OWN_RESULT = {
  toolResult: {
    toolUseId: "tooluse_own_1",
    type: "nova_grounding_result",
    status: "success",
    content: [{ text: "A strait." }],
  },
};
const SEARCH = {
  type: "server_tool_use",
  id: "srvtoolu_1",
  name: "web_search",
  input: { query: "Belt" },
};
const FOUND = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };

function toBedrock(): Reply {
  const { input, ...call } = OWN_CALL.toolUse;
  const { content, ...result } = OWN_RESULT.toolResult;
  const events: [string, object][] = [
    ["messageStart", { role: "assistant" }],
    ["contentBlockStart", { contentBlockIndex: 0, start: { toolUse: call } }],
    [
      "contentBlockDelta",
      { contentBlockIndex: 0, delta: { toolUse: { input: JSON.stringify(input) } } },
    ],
    ["contentBlockStop", { contentBlockIndex: 0 }],
    ["contentBlockStart", { contentBlockIndex: 1, start: { toolResult: result } }],
    ["contentBlockDelta", { contentBlockIndex: 1, delta: { toolResult: content } }],
    ["contentBlockStop", { contentBlockIndex: 1 }],
    ["contentBlockDelta", { contentBlockIndex: 2, delta: { text: "Water." } }],
    ["contentBlockStop", { contentBlockIndex: 2 }],
    ["messageStop", { stopReason: "end_turn" }],
    ["metadata", { usage: { inputTokens: 5, outputTokens: 9, totalTokens: 14 } }],
  ];
  return reply.raw(events.map(([name, payload]) => encodeTextFrame(name, { ...payload })).join(""));
}

function toMessages(): Reply {
  const usage = { input_tokens: 5, output_tokens: 1 };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const block = (index: number, content_block: object, delta?: object): object[] => [
    { type: "content_block_start", index, content_block },
    ...(delta ? [{ type: "content_block_delta", index, delta }] : []),
    { type: "content_block_stop", index },
  ];
  const events = [
    { type: "message_start", message },
    ...block(
      0,
      { ...SEARCH, input: {} },
      { type: "input_json_delta", partial_json: JSON.stringify(SEARCH.input) },
    ),
    ...block(1, FOUND),
    ...block(2, { type: "text", text: "" }, { type: "text_delta", text: "Water." }),
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ];
  return reply.raw(events.map((event) => JSON.stringify(event)));
}

const ROWS: Readonly<Record<string, Row>> = {
  gemini: {
    model: "gemini/m",
    provider: "gemini",
    start: startGeminiUpstream,
    first: reply.raw([
      JSON.stringify({
        candidates: [
          {
            content: { role: "model", parts: [CODE, RESULT, { text: "Water." }] },
            finishReason: "STOP",
            index: 0,
          },
        ],
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 9, totalTokenCount: 14 },
      }),
    ]),
    types: ["google:executableCode", "google:codeExecutionResult", "message"],
    blocks: [CODE, RESULT, { text: "Water." }],
    blocksOf: (body) => (body as { contents: { parts: unknown }[] }).contents[1]?.parts,
  },
  bedrock: {
    model: "bedrock/m",
    provider: "bedrock",
    start: (options) => startBedrockUpstream({ ...options, callers: [AWS] }),
    first: toBedrock(),
    types: ["bedrock:toolUse", "bedrock:toolResult", "message"],
    blocks: [OWN_CALL, OWN_RESULT, { text: "Water." }],
    blocksOf: (body) => (body as { messages: { content: unknown }[] }).messages[1]?.content,
  },
  messages: {
    model: "anthropic/m",
    provider: "anthropic",
    start: startMessagesUpstream,
    first: toMessages(),
    types: ["anthropic:server_tool_use", "anthropic:web_search_tool_result", "message"],
    blocks: [SEARCH, FOUND, { type: "text", text: "Water." }],
    blocksOf: (body) => (body as { messages: { content: unknown }[] }).messages[1]?.content,
  },
};

async function open(
  t: TestContext,
  { model, provider, start, first }: Row,
): Promise<{ server: TestServer; upstream: Upstream }> {
  const engine = script(first, reply.text("Yes."));
  const upstream = await start({ engine });
  t.after(() => upstream.close());
  const usual = { model, provider, url: upstream.url, api_key_name: null };
  const chat = script(reply.text("Chat."));
  const settings = { models: { named: [], usual } };
  return { server: await startServer(t, chat, { settings, env }), upstream };
}

/** Bedrock takes calls of any kind only beside tools. */
const tools = [{ type: "function", name: "look", parameters: { type: "object", properties: {} } }];

describe("what only its vendor can read", () => {
  for (const [name, row] of Object.entries(ROWS)) {
    it(`goes back to it in a stored chain (${name})`, async (t) => {
      const { server, upstream } = await open(t, row);
      const first = await server.create({ input: "What is it?", tools });
      assert.deepEqual(
        first.output.map(({ type }) => type),
        row.types,
      );
      const asked = { input: "Sure?", previous_response_id: first.id, tools };
      assert.equal((await server.create(asked)).output_text, "Yes.");
      assert.deepEqual(row.blocksOf(upstream.requests.at(-1)?.body), row.blocks);
    });

    it(`goes back to it where its client keeps the conversation (${name})`, async (t) => {
      const { server, upstream } = await open(t, row);
      const question = { role: "user", content: "What is it?" };
      const first = await server.create({ input: [question], store: false, tools });
      const input = [question, ...first.output, { role: "user", content: "Sure?" }];
      const second = await server.create({ input, store: false, tools });
      assert.equal(second.output_text, "Yes.");
      assert.equal(second.metadata["offshoot_ignored"], undefined);
      assert.deepEqual(row.blocksOf(upstream.requests.at(-1)?.body), row.blocks);
    });
  }

  it("is sent to no other vendor, and named as left out", async (t) => {
    const engine = script(reply.text("Yes."));
    const server = await startServer(t, engine);
    const item = { type: "google:executableCode", id: "x", block: CODE };
    const made = await server.create({ input: [item, { role: "user", content: "Sure?" }] });
    assert.match(made.metadata["offshoot_ignored"] ?? "", /input\[0\] \(google:executableCode\)/);
    assert.doesNotMatch(JSON.stringify(server.upstream.requests.at(-1)?.body), /print/);
  });
});
