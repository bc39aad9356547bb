import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelRequest } from "../../src/providers/provider.ts";
import {
  type BedrockUpstreamOptions,
  startBedrockUpstream,
} from "../../src/testing/bedrock-upstream.ts";
import { reply } from "../../src/testing/reply.ts";
import { script } from "../../src/testing/script.ts";
import { createScriptedProvider } from "../../src/testing/scripted-provider.ts";
import { post } from "./post.ts";

const PATH = "/model/m/converse-stream";
const user = (...content: object[]) => ({ role: "user", content });
const assistant = (...content: object[]) => ({ role: "assistant", content });
const text = (said: string) => ({ text: said });
const use = (toolUseId: string, more: object = {}) => ({
  toolUse: { toolUseId, name: "read", input: {}, ...more },
});
const result = (toolUseId: string) => ({ toolResult: { toolUseId, content: [text("one")] } });
const toolConfig = {
  tools: [{ toolSpec: { name: "read", inputSchema: { json: { type: "object" } } } }],
};
const HI = [user(text("Hi"))];
const CALLED = [...HI, assistant(use("a"))];
const image = (more: object) => ({ image: { format: "png", source: { bytes: "AAAA" }, ...more } });
const document = (name: string) => ({
  document: { format: "pdf", name, source: { bytes: "AAAA" } },
});

async function ask(body: object, options: BedrockUpstreamOptions = {}, path = PATH) {
  await using upstream = await startBedrockUpstream({
    engine: script(reply.text("Hi.")),
    ...options,
  });
  return await post(`${upstream.url}${path}`, body);
}

describe("bedrock upstream", () => {
  const schema = (given: string) => ({
    textFormat: { type: "json_schema", structure: { jsonSchema: { schema: given } } },
  });
  const thinking = { thinking: { type: "enabled", budget_tokens: 2000 } };
  const rejected: readonly [what: string, body: object, message: RegExp][] = [
    ["no messages", {}, /must start with a user message/],
    ["an assistant's turn first", { messages: [assistant(text("A"))] }, /must start with a user/],
    ["two turns of one role", { messages: [...HI, ...HI] }, /must alternate between user and/],
    ["another role", { messages: [{ role: "tool", content: [text("A")] }] }, /enum value set/],
    ["a turn without content", { messages: [user()] }, /content field .* messages\.0 is empty/],
    ["a blank text", { messages: [user(text(" "))] }, /messages\.0\.content\.0 is blank/],
    ["a blank system text", { messages: HI, system: [text("")] }, /system\.0 is blank/],
    ["an unknown block", { messages: [user({ poem: "A" })] }, /extraneous key \[poem\]/],
    ["an unknown field", { messages: HI, model: "m" }, /extraneous key \[model\]/],
    ["an unknown limit", { messages: HI, inferenceConfig: { topK: 1 } }, /extraneous key \[topK\]/],
    ["a high temperature", { messages: HI, inferenceConfig: { temperature: 2 } }, /less than or/],
    ["a call without tools", { messages: [...CALLED, user(result("a"))] }, /toolConfig field must/],
    [
      "a call without its result",
      { messages: [...CALLED, ...HI], toolConfig },
      /Expected toolResult blocks at messages\.2\.content for the following Ids: a/,
    ],
    [
      "a result without its call",
      { messages: [user(result("a"))], toolConfig },
      /exceeds the number of toolUse/,
    ],
    ["a last call", { messages: CALLED, toolConfig }, /without `tool_result` blocks/],
    [
      "an id of other characters",
      { messages: [...HI, assistant(use("a.b")), user(result("a.b"))], toolConfig },
      /regular expression pattern/,
    ],
    [
      "input that is not an object",
      { messages: [...HI, assistant(use("a", { input: "x" })), user(result("a"))], toolConfig },
      /Provide a json object/,
    ],
    [
      "no tools in the list",
      { messages: HI, toolConfig: { tools: [] } },
      /length greater than or equal to 1/,
    ],
    [
      "a choice that is not offered",
      { messages: HI, toolConfig: { ...toolConfig, toolChoice: { tool: { name: "x" } } } },
      /not in its tools/,
    ],
    [
      "a choice of none",
      { messages: HI, toolConfig: { ...toolConfig, toolChoice: { none: {} } } },
      /extraneous key \[none\]/,
    ],
    ["an image of another kind", { messages: [user(image({ format: "tiff" }))] }, /enum value set/],
    ["an image by URL", { messages: [user(image({ source: { url: "x" } }))] }, /neither base64/],
    ["a document without text", { messages: [user(document("a"))] }, /needs a text beside it/],
    ["a name with a dot", { messages: [user(document("a.pdf"), text("A"))] }, /document file name/],
    [
      "reasoning without a signature",
      {
        messages: [
          ...HI,
          assistant({ reasoningContent: { reasoningText: { text: "Hm" } } }, text("A")),
          ...HI,
        ],
      },
      /signature: Field required/,
    ],
    [
      "reasoning that was changed",
      {
        messages: [
          ...HI,
          assistant(
            { reasoningContent: { reasoningText: { text: "Hm", signature: "x" } } },
            text("A"),
          ),
          ...HI,
        ],
      },
      /Invalid `signature`/,
    ],
    [
      "too many cache points",
      { messages: [user(text("A"), ...Array(5).fill({ cachePoint: { type: "default" } }))] },
      /maximum of 4 blocks/,
    ],
    [
      "a budget over the limit",
      {
        messages: HI,
        inferenceConfig: { maxTokens: 2000 },
        additionalModelRequestFields: thinking,
      },
      /must be greater than `thinking.budget_tokens`/,
    ],
    [
      "a temperature beside thinking",
      { messages: HI, inferenceConfig: { temperature: 0 }, additionalModelRequestFields: thinking },
      /may only be set to 1/,
    ],
    [
      "a forced tool beside thinking",
      {
        messages: HI,
        toolConfig: { ...toolConfig, toolChoice: { any: {} } },
        additionalModelRequestFields: thinking,
      },
      /forces tool use/,
    ],
    [
      "a schema that is open",
      { messages: HI, outputConfig: schema('{"type":"object"}') },
      /must be explicitly set to false/,
    ],
    ["a schema that is not JSON", { messages: HI, outputConfig: schema("{") }, /is not JSON/],
  ];
  for (const [what, body, message] of rejected) {
    it(`refuses ${what}`, async () => {
      const answer = await ask(body);
      assert.equal(answer.status, 400);
      assert.match(String(answer.headers["x-amzn-errortype"]), /^ValidationException/);
      assert.match(JSON.parse(answer.text).message, message);
    });
  }

  it("refuses bodies that are not JSON, and unknown operations", async () => {
    assert.equal((await ask("{" as unknown as object)).status, 400);
    const unknown = await ask({ messages: HI }, {}, "/model/m/invoke");
    assert.equal(unknown.status, 404);
    assert.match(String(unknown.headers["x-amzn-errortype"]), /^UnknownOperationException/);
  });

  it("refuses requests without credentials", async () => {
    const callers = [{ accessKeyId: "A", secretAccessKey: "s" }];
    const answer = await ask({ messages: HI }, { callers });
    assert.equal(answer.status, 403);
    assert.match(String(answer.headers["x-amzn-errortype"]), /^MissingAuthenticationToken/);
  });

  it("refuses calls whose reasoning was dropped", async () => {
    const calls = reply.calls([{ name: "read", arguments: {} }]);
    const engine = script(reply.reasoning("Hm.", calls), reply.text("Done."));
    await using upstream = await startBedrockUpstream({ engine });
    const url = `${upstream.url}/model/m/converse`;
    const first = JSON.parse((await post(url, { messages: HI, toolConfig })).text);
    const content: { toolUse?: { toolUseId: string; type: string } }[] =
      first.output.message.content;
    assert.equal(content[1]?.toolUse?.type, "tool_use");
    const results = user(result(content[1]?.toolUse?.toolUseId ?? ""));
    const without = [...HI, assistant(...content.slice(1)), results];
    const refused = await post(url, { messages: without, toolConfig });
    assert.match(JSON.parse(refused.text).message, /Expected `thinking`/);
    const whole = [...HI, assistant(...content), results];
    assert.equal((await post(url, { messages: whole, toolConfig })).status, 200);
  });

  it("marks every streamed call as an ordinary one", async () => {
    const engine = script(reply.calls([{ name: "read", arguments: {} }]));
    const answer = await ask({ messages: HI, toolConfig }, { engine });
    assert.match(answer.text, /"toolUse":\{[^}]*"type":"tool_use"/);
  });

  it("accepts a conversation with a call, its result and a cache point", async () => {
    const cachePoint = { cachePoint: { type: "default" } };
    const messages = [...CALLED, user(result("a"), text("And?"), cachePoint)];
    const answer = await ask({ messages, toolConfig });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers["content-type"], "application/vnd.amazon.eventstream");
  });

  it("asks its engine for the whole conversation", async () => {
    let asked: ModelRequest | undefined;
    const inner = createScriptedProvider(reply.text("Done."));
    const engine = (request: ModelRequest, call: { signal: AbortSignal }) => {
      asked = request;
      return inner.stream(request, call);
    };
    const messages = [...CALLED, user(result("a"), text("And?"))];
    const system = [text("Be brief.")];
    await ask({ messages, system, toolConfig, inferenceConfig: { maxTokens: 50 } }, { engine });
    assert.equal(asked?.model, "m");
    assert.equal(asked?.instructions, "Be brief.");
    assert.equal(asked?.max_output_tokens, 50);
    assert.deepEqual(
      asked?.items.map(({ type }) => type),
      ["message", "function_call", "function_call_output", "message"],
    );
  });

  it("answers from the embedded model when it is given no engine", async () => {
    await using upstream = await startBedrockUpstream();
    const answer = await post(`${upstream.url}/model/m/converse`, { messages: HI });
    assert.ok(JSON.parse(answer.text).output.message.content[0].text);
  });
});
