import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../../src/base/failure.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { Continuation } from "../../../src/protocol/model-events.ts";
import type { Tool } from "../../../src/protocol/tools.ts";
import { JSON_RULE } from "../../../src/providers/json-rule.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { encodeRequest } from "../../../src/providers/responses/encode.ts";
import { responsesWire } from "../../../src/providers/responses/wire.ts";
import type { Quirks } from "../../../src/providers/wire.ts";
import { request } from "../provider-contract.ts";

const encode = (more: Partial<ModelRequest> = {}, quirks: Quirks = {}): JsonObject =>
  encodeRequest(request({ instructions: undefined, ...more }), quirks);

const tool: Tool = {
  type: "function",
  name: "read",
  parameters: { type: "object" },
  strict: false,
};
const prompt: Item = { type: "message", role: "user", content: "Hello" };
const wirePrompt = { role: "user", content: [{ type: "input_text", text: "Hello" }] };
const call: Item = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "read",
  arguments: "{}",
};
const output: Item = { type: "function_call_output", call_id: "call_1", output: "one" };
const sealed: Item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" };
const unsealed: Item = { type: "reasoning", id: "rs_2", summary: [] };

const at = (more: Partial<Continuation> = {}): Continuation => ({
  response_id: "resp_1",
  dialect: "function_call",
  stored: false,
  ...more,
});

describe("a responses body", () => {
  it("is that of the founding document, thinking", () => {
    const body = encode({
      model: "gpt-x",
      instructions: "Be brief.",
      items: [prompt],
      temperature: 0.8,
      max_output_tokens: 8192,
      reasoning: { effort: "high", summary: "detailed" },
      tools: [tool],
    });
    assert.deepEqual(body, {
      model: "gpt-x",
      input: [wirePrompt],
      instructions: "Be brief.",
      stream: true,
      store: false,
      temperature: 0.8,
      max_output_tokens: 8192,
      reasoning: { effort: "high", summary: "detailed" },
      tools: [tool],
      tool_choice: "auto",
    });
  });

  it("is that of the founding document, not thinking, with nothing else set", () => {
    assert.deepEqual(encode({ model: "gpt-x", items: [prompt] }), {
      model: "gpt-x",
      input: [wirePrompt],
      stream: true,
      store: false,
      reasoning: { effort: "none" },
    });
  });

  it("does not mention thinking if the vendor is to choose", () => {
    const reasoning = { effort: undefined, summary: undefined };
    assert.ok(!("reasoning" in encode({ reasoning })));
    assert.deepEqual(encode({ reasoning: { ...reasoning, summary: "auto" } })["reasoning"], {
      summary: "auto",
    });
  });

  it("passes on tools of every kind and the choice among them unchanged", () => {
    const tools: Tool[] = [tool, { type: "web_search" }, { type: "custom", name: "sql" }];
    const tool_choice = { type: "function", name: "read" } as const;
    const body = encode({ tools, tool_choice, parallel_tool_calls: false });
    assert.deepEqual(
      [body["tools"], body["tool_choice"], body["parallel_tool_calls"]],
      [tools, tool_choice, false],
    );
  });

  it("leaves out what the vendor refuses", () => {
    const body = encode({ temperature: 1 }, { refuses: ["temperature", "reasoning"] });
    assert.ok(!("temperature" in body) && !("reasoning" in body));
  });

  it("asks the server to keep the answer if its row says so", () => {
    assert.equal(encode({}, { store: true })["store"], true);
  });

  it("asks for a schema, and for no format if the answer is text", () => {
    const format = {
      type: "json_schema",
      name: "city",
      schema: { type: "object" },
      strict: true,
    } as const;
    assert.deepEqual(encode({ format })["text"], { format });
    assert.ok(!("text" in encode()));
  });

  it("asks for an object in the input too, unless the prompt already does", () => {
    const format = { type: "json_object" } as const;
    const body = encode({ format, items: [prompt] });
    assert.deepEqual(body["text"], { format });
    assert.deepEqual(body["input"], [
      {
        role: "user",
        content: [
          { type: "input_text", text: "Hello" },
          { type: "input_text", text: JSON_RULE },
        ],
      },
    ]);
    const items: Item[] = [{ type: "message", role: "user", content: "As json, please" }];
    assert.deepEqual(encode({ format, items })["input"], [
      { role: "user", content: [{ type: "input_text", text: "As json, please" }] },
    ]);
  });
});

describe("responses input", () => {
  const inputOf = (items: readonly Item[], quirks: Quirks = {}) =>
    encode({ items }, quirks)["input"];

  it("has images, files and audio unchanged", () => {
    const content = [
      {
        type: "input_image" as const,
        image_url: "data:image/png;base64,AA",
        detail: "auto" as const,
      },
      {
        type: "input_file" as const,
        filename: "a.pdf",
        file_data: "data:application/pdf;base64,AA",
      },
      { type: "input_text" as const, text: "Look" },
    ];
    assert.deepEqual(inputOf([{ type: "message", role: "user", content }]), [
      { role: "user", content },
    ]);
  });

  it("keeps a tool's image in its result", () => {
    const result: Item = {
      type: "function_call_output",
      call_id: "call_1",
      output: [{ type: "input_image", image_url: "data:image/png;base64,AA" }],
    };
    assert.deepEqual(inputOf([prompt, call, result]), [wirePrompt, call, result]);
  });

  it("sends the model's own message back whole if the server named it", () => {
    const said: Item = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      phase: "commentary",
      content: [{ type: "output_text", text: "Hi", annotations: [] }],
    };
    assert.deepEqual(inputOf([said]), [said]);
  });

  it("sends a message of another server back as text, with its phase and its refusal", () => {
    const said: Item = {
      type: "message",
      role: "assistant",
      phase: "final_answer",
      content: [
        { type: "output_text", text: "Hi." },
        { type: "refusal", refusal: " No." },
      ],
    };
    assert.deepEqual(inputOf([said]), [
      { role: "assistant", content: "Hi. No.", phase: "final_answer" },
    ]);
  });

  it("has reasoning that is sealed, or that the server keeps", () => {
    assert.deepEqual(inputOf([sealed, unsealed]), [sealed]);
    assert.deepEqual(inputOf([sealed, unsealed], { store: true }), [sealed, unsealed]);
  });

  it("has items of every kind unchanged", () => {
    const items = [
      { type: "web_search_call", id: "ws_1", status: "completed" },
      { type: "custom_tool_call", call_id: "c", name: "sql", input: "select" },
      { type: "custom_tool_call_output", call_id: "c", output: "1" },
      { type: "brand_new_call", id: "x", field: [1] },
    ] as unknown as Item[];
    assert.deepEqual(inputOf(items), items);
    const foreign = { type: "acme:thing", id: "x" } as unknown as Item;
    assert.deepEqual(inputOf([...items, foreign]), items);
  });

  it("asks for sealed reasoning if the server does not keep it", () => {
    const reasoning = { effort: "high", summary: undefined, sealed: true } as const;
    assert.deepEqual(encode({ reasoning })["include"], ["reasoning.encrypted_content"]);
    assert.ok(!("include" in encode({ reasoning }, { store: true })));
    assert.ok(!("include" in encode({ reasoning: { ...reasoning, sealed: false } })));
  });
});

describe("continuing from an earlier answer", () => {
  const items = [prompt, sealed, call, output];
  const whole = [wirePrompt, sealed, call, output];
  const since = [output];
  const legacy = [{ type: "tool_result", tool_call_id: "call_1", content: "one" }];

  type Way = "auto" | "chain" | "replay" | undefined;
  const cases: readonly [
    asked: Way,
    row: Way,
    at: Continuation | undefined,
    input: readonly object[],
  ][] = [
    [undefined, undefined, undefined, whole],
    [undefined, undefined, at(), whole],
    [undefined, undefined, at({ stored: true }), since],
    [undefined, undefined, at({ dialect: "tool_call" }), legacy],
    [undefined, undefined, at({ response_id: "" }), whole],
    ["auto", "replay", at({ stored: true }), since],
    ["chain", undefined, at(), since],
    ["chain", undefined, undefined, whole],
    ["chain", "replay", at(), since],
    ["replay", "chain", at({ stored: true }), whole],
    [undefined, "chain", at(), since],
    [undefined, "replay", at({ stored: true }), whole],
    [undefined, "auto", at({ stored: true }), since],
    ["chain", undefined, at({ dialect: "tool_call" }), legacy],
    ["replay", undefined, at({ dialect: "tool_call" }), whole],
  ];
  for (const [asked, row, previous, input] of cases) {
    const name = `${asked} over ${row}, ${JSON.stringify(previous)}`;
    it(`${input === whole ? "replays" : "chains"}: ${name}`, () => {
      const body = encode(
        {
          items,
          instructions: "Be brief.",
          continuation: asked,
          previous: previous && { at: previous, covered: 3 },
        },
        row === undefined ? {} : { continuation: row },
      );
      assert.deepEqual(body["input"], input);
      assert.equal(body["previous_response_id"], input === whole ? undefined : "resp_1");
      assert.equal(body["instructions"], "Be brief.");
    });
  }

  it("sends the user's newer messages, beside the results", () => {
    const previous = { at: at({ dialect: "tool_call" }), covered: 3 };
    assert.deepEqual(encode({ items: [...items, prompt], previous })["input"], [
      ...legacy,
      wirePrompt,
    ]);
  });

  it("gives parts of a result to an older server as JSON", () => {
    const parts: Item = {
      type: "function_call_output",
      call_id: "call_1",
      output: [{ type: "input_text", text: "one" }],
    };
    const previous = { at: at({ dialect: "tool_call" }), covered: 1 };
    assert.deepEqual(encode({ items: [prompt, parts], previous })["input"], [
      {
        type: "tool_result",
        tool_call_id: "call_1",
        content: '[{"type":"input_text","text":"one"}]',
      },
    ]);
  });

  it("is sent again, whole, if the server has forgotten the answer", () => {
    const forgotten = new Failure("provider_rejected", "Not found.", {
      vendorCode: "previous_response_not_found",
    });
    const chained = request({ items, previous: { at: at({ stored: true }), covered: 3 } });
    const recovered = responsesWire.recover?.(chained, forgotten);
    assert.ok(recovered);
    const body = encodeRequest(recovered, {});
    assert.deepEqual([body["input"], body["previous_response_id"]], [whole, undefined]);
    assert.equal(responsesWire.recover?.(recovered, forgotten), undefined);
    assert.equal(
      responsesWire.recover?.(chained, new Failure("provider_rejected", "No.")),
      undefined,
    );
  });
});

describe("reasoning that another account has sealed", () => {
  it("is left out if the server refuses it, once", () => {
    const refusal = new Failure("provider_rejected", "The encrypted content is not ours.", {
      vendorCode: "invalid_encrypted_content",
    });
    const thought: Item = { type: "reasoning", summary: [], encrypted_content: "gAAAother" };
    const asked: Item = { type: "message", role: "user", content: "Hi" };
    const recovered = responsesWire.recover?.(request({ items: [thought, asked] }), refusal);
    assert.deepEqual(recovered?.items, [asked]);
    assert.equal(recovered && responsesWire.recover?.(recovered, refusal), undefined);
  });
});

describe("options in a Responses body", () => {
  it("are beside the format and the sealed reasoning", () => {
    const format = { type: "json_schema", name: "a", schema: {}, strict: true } as const;
    const body = encode({
      format,
      reasoning: { effort: "high", summary: undefined, sealed: true },
      options: { verbosity: "low", top_logprobs: 0 },
    });
    assert.deepEqual(body["text"], { format, verbosity: "low" });
    assert.deepEqual(body["include"], [
      "reasoning.encrypted_content",
      "message.output_text.logprobs",
    ]);
    assert.equal(body["top_logprobs"], 0);
  });

  it("leave the body unchanged if there are none", () => {
    assert.deepEqual(encode({ options: {} }), encode());
    assert.equal(encode({ whole: true })["stream"], false);
  });

  it("have sound in the API's own form", () => {
    const content = [{ type: "input_audio" as const, data: "AA", format: "mp3" as const }];
    assert.deepEqual(encode({ items: [{ type: "message", role: "user", content }] })["input"], [
      {
        role: "user",
        content: [{ type: "input_audio", input_audio: { data: "AA", format: "mp3" } }],
      },
    ]);
  });
});
