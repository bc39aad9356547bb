import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { seal } from "../../../src/protocol/sealed-reasoning.ts";
import type { Tool, ToolChoice } from "../../../src/protocol/tools.ts";
import { JSON_RULE } from "../../../src/providers/json-rule.ts";
import { encodeRequest, relaxThinking } from "../../../src/providers/ollama/encode.ts";
import type { ModelRequest, ReasoningOptions } from "../../../src/providers/provider.ts";
import type { Quirks } from "../../../src/providers/wire.ts";
import { assistant, call, output, thought, user } from "../conversation.ts";
import { request } from "../provider-contract.ts";

const AUTO = { effort: undefined, summary: undefined } as const;

const encode = (more: Partial<ModelRequest> = {}, quirks: Quirks = {}): JsonObject =>
  encodeRequest(request({ instructions: undefined, reasoning: AUTO, ...more }), quirks);

const messagesOf = (...items: readonly Item[]) => encode({ items })["messages"];

const wireCall = (id: string, args = {}) => ({ id, function: { name: "read", arguments: args } });
const result = (id: string, content: string) => ({
  role: "tool",
  content,
  tool_call_id: id,
  tool_name: "read",
});

const parameters = { type: "object", required: ["path"], properties: { path: { type: "string" } } };
const tool = (name: string): Tool => ({
  type: "function",
  name,
  description: `Does ${name}.`,
  parameters,
  strict: true,
});

describe("an ollama body", () => {
  it("has nothing that the request did not set, and forbids silent cutting", () => {
    assert.deepEqual(encode({ model: "qwen3:8b" }), {
      model: "qwen3:8b",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      truncate: false,
      shift: false,
    });
  });

  it("has every parameter that was set, in the API's field", () => {
    const body = encode(
      { temperature: 0, top_p: 0.5, max_output_tokens: 100, tools: [tool("read")] },
      { keepAlive: "10m", numCtx: 16_384 },
    );
    assert.deepEqual(body["options"], {
      num_predict: 100,
      num_ctx: 16_384,
      temperature: 0,
      top_p: 0.5,
    });
    assert.equal(body["keep_alive"], "10m");
    assert.deepEqual(body["tools"], [
      {
        type: "function",
        function: { name: "read", description: "Does read.", parameters },
      },
    ]);
  });

  const efforts: readonly [effort: ReasoningOptions["effort"], think: unknown][] = [
    [undefined, undefined],
    ["none", false],
    ["minimal", "low"],
    ["low", "low"],
    ["medium", "medium"],
    ["high", "high"],
    ["xhigh", "high"],
    ["max", "high"],
  ];
  for (const [effort, think] of efforts) {
    it(`sets the thinking as requested: ${effort}`, () => {
      assert.equal(encode({ reasoning: { effort, summary: "auto" } })["think"], think);
    });
  }

  const choices: readonly [choice: ToolChoice, offered: readonly string[] | undefined][] = [
    ["auto", ["a", "b"]],
    ["required", ["a", "b"]],
    ["none", undefined],
    [{ type: "function", name: "b" }, ["b"]],
    [{ type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "a" }] }, ["a"]],
    [{ type: "web_search" } as ToolChoice, ["a", "b"]],
  ];
  for (const [tool_choice, offered] of choices) {
    it(`offers the tools that may be called: ${JSON.stringify(tool_choice)}`, () => {
      const { tools } = encode({
        tools: [tool("a"), tool("b"), { type: "web_search" }],
        tool_choice,
      });
      const names = (tools as { function: { name: string } }[] | undefined)?.map(
        (entry) => entry.function.name,
      );
      assert.deepEqual(names, offered);
    });
  }

  it("gives a tool without a schema an empty one", () => {
    assert.deepEqual(encode({ tools: [{ type: "function", name: "now" }] })["tools"], [
      {
        type: "function",
        function: { name: "now", parameters: { type: "object", properties: {} } },
      },
    ]);
  });

  it("asks for a schema and for JSON in `format`, and in the instructions", () => {
    const format = { type: "json_schema", name: "out", schema: parameters, strict: true } as const;
    const body = encode({ format, instructions: "Be brief." });
    assert.deepEqual(body["format"], parameters);
    assert.deepEqual(body["messages"], [
      { role: "system", content: `Be brief.\n\n${JSON_RULE}` },
      { role: "user", content: "Hello" },
    ]);
    const said = encode({ format: { type: "json_object" }, items: [user("Give me JSON")] });
    assert.equal(said["format"], "json");
    assert.deepEqual(said["messages"], [{ role: "user", content: "Give me JSON" }]);
  });

  it("leaves out what a vendor's row refuses", () => {
    assert.ok(!("truncate" in encode({}, { refuses: ["truncate"] })));
  });

  it("refuses an empty conversation, which would only load the model", () => {
    for (const items of [[], [user("")], [thought("Hm")]]) {
      assert.throws(() => encode({ items }), { code: "invalid_request" });
    }
  });
});

describe("ollama messages", () => {
  it("have one role for instructions, wherever they are", () => {
    assert.deepEqual(
      messagesOf({ type: "message", role: "developer", content: "A" }, user("B"), {
        type: "message",
        role: "system",
        content: [{ type: "input_text", text: "C" }],
      }),
      [
        { role: "system", content: "A" },
        { role: "user", content: "B" },
        { role: "system", content: "C" },
      ],
    );
  });

  it("have an assistant's reasoning, text and all the calls after it", () => {
    assert.deepEqual(
      messagesOf(
        user("Read"),
        thought("Hm."),
        assistant("A"),
        call("a", '{"path":"x"}'),
        call("b"),
        output("a", "1"),
        output("b", "2"),
        thought("Again."),
        call("c"),
        output("c", "3"),
        assistant("Done."),
      ),
      [
        { role: "user", content: "Read" },
        {
          role: "assistant",
          content: "A",
          thinking: "Hm.",
          tool_calls: [wireCall("a", { path: "x" }), wireCall("b")],
        },
        result("a", "1"),
        result("b", "2"),
        { role: "assistant", content: "", thinking: "Again.", tool_calls: [wireCall("c")] },
        result("c", "3"),
        { role: "assistant", content: "Done." },
      ],
    );
  });

  it("start a new message if reasoning comes between text and a call", () => {
    assert.deepEqual(messagesOf(assistant("A"), thought("B"), call("c")), [
      { role: "assistant", content: "A" },
      { role: "assistant", content: "", thinking: "B", tool_calls: [wireCall("c")] },
    ]);
  });

  it("leave out what another vendor sealed, and reasoning that led to nothing", () => {
    const sealed = seal("messages", { signature: "s" });
    const foreign: Item = { ...thought("Theirs"), encrypted_content: sealed } as Item;
    assert.deepEqual(messagesOf(foreign, call("a"), thought("Mine"), user("B"), assistant("C")), [
      { role: "assistant", content: "", tool_calls: [wireCall("a")] },
      { role: "user", content: "B" },
      { role: "assistant", content: "C" },
    ]);
  });

  it("use a summary if there is no other reasoning", () => {
    const summary: Item = { type: "reasoning", summary: [{ type: "summary_text", text: "S" }] };
    assert.deepEqual(messagesOf(summary, assistant("A")), [
      { role: "assistant", content: "A", thinking: "S" },
    ]);
  });

  it("show a model its own arguments if they are not an object", () => {
    assert.deepEqual(messagesOf(call("a", '{"x":'), call("b", "[1]"), call("c", "")), [
      {
        role: "assistant",
        content: "",
        tool_calls: [
          wireCall("a", { invalid_arguments: '{"x":' }),
          wireCall("b", { invalid_arguments: "[1]" }),
          wireCall("c"),
        ],
      },
    ]);
  });

  it("carry images as bare base64, of a user and of a tool", () => {
    const image = { type: "input_image" as const, image_url: "data:image/png;base64,iVBORw0K" };
    assert.deepEqual(
      messagesOf(
        { type: "message", role: "user", content: [image, { type: "input_text", text: "Look" }] },
        call("a"),
        { type: "function_call_output", call_id: "a", output: [image] },
      ),
      [
        { role: "user", content: "Look", images: ["iVBORw0K"] },
        { role: "assistant", content: "", tool_calls: [wireCall("a")] },
        { ...result("a", ""), images: ["iVBORw0K"] },
      ],
    );
  });

  it("join the text of several parts, drop empty ones, and keep a refusal", () => {
    const content = [
      { type: "input_text" as const, text: "A" },
      { type: "input_text" as const, text: "" },
      { type: "refusal" as const, refusal: "No." },
    ];
    assert.deepEqual(messagesOf({ type: "message", role: "user", content }, assistant("")), [
      { role: "user", content: "A\nNo." },
    ]);
  });

  it("skip items of tools that other vendors ran, and name a tool by its result alone", () => {
    const items = [
      { type: "web_search_call", id: "ws_1", status: "completed" },
      { type: "anthropic:server_tool_use", id: "x", block: {} },
      { type: "function_call_output", call_id: "gone", output: "1", name: "look" },
      { type: "function_call_output", call_id: "lost", output: "2" },
    ] as Item[];
    assert.deepEqual(messagesOf(...items), [
      { role: "tool", content: "1", tool_call_id: "gone", tool_name: "look" },
      { role: "tool", content: "2", tool_call_id: "lost" },
    ]);
  });

  const refused = [
    [
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA" },
      /input_file/,
    ],
    [{ type: "input_audio", data: "AA", format: "wav" }, /input_audio/],
    [{ type: "input_image", image_url: "https://x.org/a.png" }, /base64 data, not by `https:/],
    [{ type: "input_image", file_id: "file_1" }, /not by a file id/],
  ] as const;
  for (const [part, message] of refused) {
    it(`refuse before sending what the API cannot express: ${JSON.stringify(part)}`, () => {
      const item = { type: "message", role: "user", content: [part] } as unknown as Item;
      assert.throws(() => messagesOf(item), { code: "invalid_request", message });
    });
  }
});

describe("an ollama request that was refused for its thinking", () => {
  const asked = request({ reasoning: { effort: "high", summary: undefined } });
  const rejected = (message: string): Failure => new Failure("provider_rejected", message);

  for (const message of [
    'ollama answered 400: "gemma3" does not support thinking.',
    'ollama answered 400: invalid think value: "high" (must be true or false).',
    "json: cannot unmarshal string into Go struct field ChatRequest.think of type bool",
  ]) {
    it(`is sent again without it: ${message}`, () => {
      const mended = relaxThinking(asked, rejected(message));
      assert.deepEqual(mended?.reasoning, { effort: undefined, summary: undefined });
      assert.equal(mended && relaxThinking(mended, rejected(message)), undefined);
    });
  }

  it("is not sent again if it was refused for something else", () => {
    assert.equal(relaxThinking(asked, rejected("model 'x' not found.")), undefined);
    const failed = new Failure("provider_failed", "does not support thinking");
    assert.equal(relaxThinking(asked, failed), undefined);
  });
});
