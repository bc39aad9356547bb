import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelRequest } from "../../src/providers/provider.ts";
import {
  type GeminiUpstreamOptions,
  startGeminiUpstream,
} from "../../src/testing/gemini-upstream.ts";
import type { Upstream } from "../../src/testing/loopback.ts";
import { reply } from "../../src/testing/reply.ts";
import { script } from "../../src/testing/script.ts";
import { createScriptedProvider } from "../../src/testing/scripted-provider.ts";
import { eventsIn, type Loose, post } from "./post.ts";

const BODY = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] };
const READ = { functionDeclarations: [{ name: "read" }] };
const CALLS = reply.calls([
  { name: "read", arguments: { path: "a", lines: [1, 2] } },
  { name: "read", arguments: { path: "b" } },
]);

const address = ({ url }: Upstream, model = "gemini-3-flash"): string =>
  `${url}/models/${model}:streamGenerateContent?alt=sse`;

async function eventsOf(
  options: GeminiUpstreamOptions,
  { model, ...more }: { readonly model?: string; readonly [field: string]: unknown } = {},
): Promise<Loose[]> {
  await using upstream = await startGeminiUpstream(options);
  const answer = await post(address(upstream, model), { ...BODY, ...more });
  assert.equal(answer.status, 200, answer.text);
  return eventsIn(answer.text);
}

const partsOf = (events: readonly Loose[]): Loose[] =>
  events.flatMap((event) => event.candidates[0].content?.parts ?? []);

describe("gemini upstream", () => {
  it("streams parts, then the finish reason with the counts, and nothing after", async () => {
    const usage = { input: 7, output: 3, cached: 2, reasoning: 1 };
    const events = await eventsOf(
      { engine: script(reply.text("Hello, world!", { usage })) },
      { model: "gemini-2.5-flash" },
    );
    assert.deepEqual(partsOf(events), [{ text: "Hello, " }, { text: "world!" }, { text: "" }]);
    assert.equal(events.at(-1).candidates[0].finishReason, "STOP");
    assert.deepEqual(events.at(-1).usageMetadata, {
      promptTokenCount: 7,
      candidatesTokenCount: 2,
      totalTokenCount: 10,
      cachedContentTokenCount: 2,
      thoughtsTokenCount: 1,
    });
    assert.equal(new Set(events.map(({ responseId }) => responseId)).size, 1);
  });

  it("signs the first call, and the end of an answer without one", async () => {
    const calls = partsOf(await eventsOf({ engine: script(CALLS) }, { tools: [READ] }));
    assert.deepEqual(
      calls.map((part) => typeof part.thoughtSignature),
      ["string", "undefined", "undefined"],
    );
    const text = partsOf(await eventsOf({ engine: script(reply.text("Hi")) }));
    assert.ok(text.at(-1).text === "" && text.at(-1).thoughtSignature);
  });

  it("shows thoughts only to clients that ask for them", async () => {
    const thinking = reply.reasoning("Hm.", reply.text("Yes."));
    const generationConfig = { thinkingConfig: { includeThoughts: true } };
    const shown = partsOf(await eventsOf({ engine: script(thinking) }, { generationConfig }));
    assert.deepEqual(shown[0], { text: "Hm.", thought: true });
    const hidden = partsOf(await eventsOf({ engine: script(thinking) }));
    assert.deepEqual(hidden[0], { text: "Yes." });
  });

  it("sends calls in pieces, without ids, on request", async () => {
    const options = { engine: script(CALLS), includeIds: false, isPartial: true };
    const parts = partsOf(await eventsOf(options, { tools: [READ] }));
    const calls = parts.flatMap((part) => (part.functionCall ? [part.functionCall] : []));
    assert.deepEqual(calls.slice(0, 6), [
      { name: "read", willContinue: true },
      {
        partialArgs: [{ jsonPath: "$.path", stringValue: "a", willContinue: true }],
        willContinue: true,
      },
      { partialArgs: [{ jsonPath: "$.path", stringValue: "" }], willContinue: true },
      { partialArgs: [{ jsonPath: "$.lines[0]", numberValue: 1 }], willContinue: true },
      { partialArgs: [{ jsonPath: "$.lines[1]", numberValue: 2 }], willContinue: true },
      {},
    ]);
  });

  it("reports length, filter and malformed calls in the finish reason", async () => {
    const reasonOf = async (answer: ReturnType<typeof reply.text>) =>
      (await eventsOf({ engine: script(answer) }, { tools: [READ] })).at(-1).candidates[0];
    assert.equal((await reasonOf(reply.length("Half a"))).finishReason, "MAX_TOKENS");
    const refused = await reasonOf(reply.refusal("No."));
    assert.deepEqual([refused.finishReason, refused.finishMessage], ["SAFETY", "No."]);
    const broken = await reasonOf(reply.calls([{ name: "read", arguments: "{" }]));
    assert.equal(broken.finishReason, "MALFORMED_FUNCTION_CALL");
  });

  it("ends a stream that fails with an error object", async () => {
    const events = await eventsOf({ engine: script(reply.failure("broke", { text: "So" })) });
    assert.deepEqual(events.at(-1).error, { code: 500, status: "INTERNAL", message: "broke" });
  });

  it("asks its engine for the whole conversation", async () => {
    let asked: ModelRequest | undefined;
    const inner = createScriptedProvider(reply.text("Done."));
    const engine = (request: ModelRequest, call: { signal: AbortSignal }) => {
      asked = request;
      return inner.stream(request, call);
    };
    const image = { mimeType: "image/png", data: "AA==" };
    await eventsOf(
      { engine },
      {
        model: "gemini-2.5-flash",
        systemInstruction: { parts: [{ text: "Be brief." }] },
        contents: [
          { role: "user", parts: [{ text: "Read it" }, { inlineData: image }] },
          {
            role: "model",
            parts: [{ text: "Hm.", thought: true }, { functionCall: { name: "read" } }],
          },
          {
            role: "user",
            parts: [{ functionResponse: { name: "read", response: { output: "t" } } }],
          },
        ],
        tools: [READ],
        toolConfig: { functionCallingConfig: { mode: "ANY" } },
        generationConfig: { maxOutputTokens: 50, thinkingConfig: { thinkingBudget: 9000 } },
      },
    );
    assert.equal(asked?.instructions, "Be brief.");
    assert.equal(asked?.max_output_tokens, 50);
    assert.deepEqual([asked?.tool_choice, asked?.reasoning.effort], ["required", "high"]);
    assert.deepEqual(asked?.items, [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Read it" },
          { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "auto" },
        ],
      },
      { type: "function_call", call_id: "call_1", name: "read", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "t" },
    ]);
  });

  it("answers from the embedded model when it is given no engine", async () => {
    assert.ok(partsOf(await eventsOf({})).some((part) => part.text));
  });
});

const call = (name: string, more: object = {}) => ({ functionCall: { name, args: {} }, ...more });
const response = (name: string) => ({ functionResponse: { name, response: { output: "1" } } });
const LINKED = { functionResponse: { name: "f", response: {}, parts: [{ fileData: {} }] } };
const model = (...parts: object[]) => ({ role: "model", parts });
const user = (...parts: object[]) => ({ role: "user", parts });
const HI = user({ text: "Hi" });
const SKIP = { thoughtSignature: "skip_thought_signature_validator" };
const schema = (more: object) => ({
  tools: [
    { functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object", ...more } }] },
  ],
});

describe("gemini upstream refuses", () => {
  const cases: readonly [name: string, body: object, message: RegExp, model?: string][] = [
    ["no contents", { contents: [] }, /contents is not specified/],
    ["a content without parts", { contents: [user()] }, /parts must not be empty/],
    ["an empty part", { contents: [user({})] }, /must have one initialized field/],
    [
      "two things in one part",
      { contents: [user({ text: "a", ...response("f") })] },
      /already set/,
    ],
    [
      "another role",
      { contents: [{ role: "system", parts: [{ text: "a" }] }] },
      /valid role: user, model/,
    ],
    ["an unknown field", { messages: [] }, /Unknown name "messages": Cannot find field/],
    [
      "an unknown setting",
      { generationConfig: { max_tokens: 1 } },
      /"max_tokens" at 'generation_config'/,
    ],
    [
      "an unknown field of a part",
      { contents: [user({ text: "a", cache: 1 })] },
      /"cache" at 'contents\[0\].parts\[0\]'/,
    ],
    [
      "a response without its call",
      { contents: [HI, user(response("f"))] },
      /comes immediately after a function call turn/,
    ],
    [
      "too few responses",
      { contents: [HI, model(call("f", SKIP), call("g")), user(response("f"))] },
      /number of function response parts is equal/,
    ],
    [
      "no response",
      { contents: [HI, model(call("f", SKIP)), HI] },
      /number of function response parts is equal/,
    ],
    [
      "a call at the end",
      { contents: [HI, model(call("f", SKIP))] },
      /number of function response parts is equal/,
    ],
    [
      "a response to another call",
      { contents: [HI, model(call("f", SKIP)), user(response("g"))] },
      /matches no function call/,
    ],
    [
      "an address in a response",
      { contents: [HI, model(call("f", SKIP)), user(LINKED)] },
      /"fileData" at 'contents\[2\].parts\[0\].function_response.parts\[0\]'/,
    ],
    [
      "a call at the beginning",
      { contents: [model(call("f", SKIP)), user(response("f"))] },
      /immediately after a user turn/,
    ],
    [
      "a call without its signature",
      { contents: [HI, model(call("f")), user(response("f"))] },
      /missing a thought_signature.*default_api:f.*position 2/,
    ],
    [
      "a second step without its signature",
      {
        contents: [
          HI,
          model(call("f", SKIP)),
          user(response("f")),
          model(call("f")),
          user(response("f")),
        ],
      },
      /missing a thought_signature.*position 4/,
    ],
    [
      "a signature it never made",
      { contents: [HI, model(call("f", { thoughtSignature: "AA==" })), user(response("f"))] },
      /Corrupted thought signature/,
      "gemini-2.5-pro",
    ],
    [
      "a keyword it does not know",
      schema({ properties: { a: { pattern: "x" } } }),
      /"pattern" at 'tools\[0\].function_declarations\[0\].parameters_json_schema.properties\[0\].value'/,
    ],
    [
      "JSON schema where OpenAPI is wanted",
      {
        tools: [
          {
            functionDeclarations: [
              { name: "f", parameters: { type: "object", additionalProperties: false } },
            ],
          },
        ],
      },
      /"additionalProperties"/,
    ],
    [
      "a function's name",
      { tools: [{ functionDeclarations: [{ name: "1 f" }] }] },
      /Invalid function name/,
    ],
    [
      "a function twice",
      { tools: [{ functionDeclarations: [{ name: "f" }, { name: "f" }] }] },
      /Duplicate function declaration found: f/,
    ],
    [
      "a tool it does not know",
      { tools: [{ type: "function" }] },
      /Unknown name "type" at 'tools\[0\]'/,
    ],
    [
      "a choice it does not know",
      { tools: [READ], toolConfig: { functionCallingConfig: { mode: "auto" } } },
      /function_calling_config.mode/,
    ],
    [
      "a choice of a function that is not there",
      {
        tools: [READ],
        toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["g"] } },
      },
      /g is not in the function declarations/,
    ],
    [
      "a schema without JSON",
      { generationConfig: { responseJsonSchema: { type: "object" } } },
      /'text\/plain' is unsupported/,
    ],
    [
      "functions with JSON on older models",
      { tools: [READ], generationConfig: { responseMimeType: "application/json" } },
      /Function calling with a response mime type/,
      "gemini-2.5-pro",
    ],
    ["too high a temperature", { generationConfig: { temperature: 3 } }, /range \[0, 2\]/],
    [
      "a budget and a level",
      { generationConfig: { thinkingConfig: { thinkingBudget: 128, thinkingLevel: "LOW" } } },
      /only set one of/,
    ],
    [
      "a level on older models",
      { generationConfig: { thinkingConfig: { thinkingLevel: "LOW" } } },
      /level is not supported/,
      "gemini-2.5-pro",
    ],
    [
      "no thinking where there must be some",
      { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
      /only works in thinking mode/,
      "gemini-2.5-pro",
    ],
    [
      "data that is not base64",
      { contents: [user({ inlineData: { mimeType: "image/png", data: "data:x" } })] },
      /Base64 decoding failed/,
    ],
    [
      "an image it cannot read",
      { contents: [user({ inlineData: { mimeType: "image/gif", data: "AA==" } })] },
      /Unsupported MIME type: image\/gif/,
    ],
    [
      "a continuation of something else",
      { continuationToken: "AA==" },
      /Invalid continuation token/,
    ],
  ];
  for (const [name, body, message, name2] of cases) {
    it(name, async () => {
      await using upstream = await startGeminiUpstream({ engine: script(reply.text("Hi")) });
      const answer = await post(address(upstream, name2), { ...BODY, ...body });
      const { error } = JSON.parse(answer.text);
      assert.equal(answer.status, 400);
      assert.deepEqual([error.code, error.status], [400, "INVALID_ARGUMENT"]);
      assert.match(error.message, message);
    });
  }

  it("a signature on a part that it was not made for", async () => {
    await using upstream = await startGeminiUpstream({ engine: script(CALLS, reply.text("Ok.")) });
    const first = eventsIn((await post(address(upstream), { ...BODY, tools: [READ] })).text);
    const [one, two] = partsOf(first);
    const moved = { ...two, thoughtSignature: one.thoughtSignature };
    const results = [one, two].map(({ functionCall: { id } }) => ({
      functionResponse: { id, name: "read", response: {} },
    }));
    const send = (parts: object[]) =>
      post(address(upstream), { contents: [HI, model(...parts), user(...results)], tools: [READ] });
    assert.match((await send([one, moved])).text, /Corrupted/);
    assert.equal((await send([one, two])).status, 200);
  });

  it("a request with no key, the wrong key, or the wrong token", async () => {
    await using upstream = await startGeminiUpstream({
      engine: script(reply.text("Hi")),
      key: "k",
    });
    const send = (headers: Record<string, string>) => post(address(upstream), BODY, { headers });
    const none = await send({});
    assert.equal(none.status, 403);
    assert.equal(JSON.parse(none.text).error.status, "PERMISSION_DENIED");
    const wrong = await send({ "x-goog-api-key": "x" });
    assert.equal(wrong.status, 400);
    assert.equal(JSON.parse(wrong.text).error.details[0].reason, "API_KEY_INVALID");
    assert.equal((await send({ authorization: "Bearer x" })).status, 401);
    assert.equal((await send({ authorization: "Bearer k" })).status, 200);
  });

  it("a body that is not JSON, and an unknown address", async () => {
    await using upstream = await startGeminiUpstream({ engine: script() });
    assert.equal((await post(address(upstream), "{")).status, 400);
    assert.equal((await post(`${upstream.url}/chat/completions`, BODY)).status, 404);
  });
});
