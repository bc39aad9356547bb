import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { Tool, ToolChoice } from "../../../src/protocol/tools.ts";
import { encodeRequest } from "../../../src/providers/chat/encode.ts";
import { JSON_RULE } from "../../../src/providers/json-rule.ts";
import type { ModelRequest, OutputFormat } from "../../../src/providers/provider.ts";
import type { Quirks } from "../../../src/providers/wire.ts";
import { assistant, call, output, thought, user } from "../conversation.ts";
import { request } from "../provider-contract.ts";

const encode = (more: Partial<ModelRequest> = {}, quirks: Quirks = {}): JsonObject =>
  encodeRequest(request({ instructions: undefined, ...more }), quirks);

/** The messages that the items become. */
const messagesOf = (items: readonly Item[], quirks: Quirks = {}) =>
  encode({ items }, quirks)["messages"];

const wireCall = (id: string, text = "{}") => ({
  id,
  type: "function",
  function: { name: "read", arguments: text },
});

const parameters = {
  type: "object",
  required: ["path"],
  properties: { path: { type: "string", description: "..." } },
};
const tool: Tool = {
  type: "function",
  name: "read",
  description: "Read the contents of a file.",
  parameters,
  strict: false,
};

describe("a chat body", () => {
  it("is that of the founding document", () => {
    const items = [
      user("Read it"),
      assistant("Let me."),
      call("call_abc", '{"path":"a"}'),
      output("call_abc", "one"),
    ];
    assert.deepEqual(
      encode({ model: "gpt-4o-mini", instructions: "Be brief.", items, tools: [tool] }),
      {
        model: "gpt-4o-mini",
        stream: true,
        stream_options: { include_usage: true },
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Read it" },
          {
            role: "assistant",
            content: "Let me.",
            tool_calls: [wireCall("call_abc", '{"path":"a"}')],
          },
          { role: "tool", tool_call_id: "call_abc", content: "one" },
        ],
        tools: [
          {
            type: "function",
            function: { name: "read", description: "Read the contents of a file.", parameters },
          },
        ],
        tool_choice: "auto",
      },
    );
  });

  it("has nothing that the request did not set", () => {
    assert.deepEqual(encode({ model: "m" }), {
      model: "m",
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: "Hello" }],
    });
  });

  it("has every parameter that was set", () => {
    const { temperature, top_p, max_tokens, reasoning_effort, parallel_tool_calls } = encode({
      temperature: 0,
      top_p: 0.5,
      max_output_tokens: 100,
      reasoning: { effort: "low", summary: "auto" },
      tools: [tool],
      parallel_tool_calls: false,
    });
    assert.deepEqual(
      [temperature, top_p, max_tokens, reasoning_effort, parallel_tool_calls],
      [0, 0.5, 100, "low", false],
    );
  });

  const choices: readonly [choice: ToolChoice, encoded: string | object][] = [
    ["required", "required"],
    ["none", "none"],
    [
      { type: "function", name: "read" },
      { type: "function", function: { name: "read" } },
    ],
    [{ type: "web_search" } as ToolChoice, "auto"],
  ];
  for (const [tool_choice, encoded] of choices) {
    it(`encodes a tool choice: ${JSON.stringify(tool_choice)}`, () => {
      assert.deepEqual(encode({ tools: [tool], tool_choice })["tool_choice"], encoded);
    });
  }

  it("leaves out tools that only other vendors run, and a choice without tools", () => {
    const body = encode({
      tools: [{ type: "web_search" }],
      tool_choice: "required",
      parallel_tool_calls: true,
    });
    assert.ok(!("tools" in body) && !("tool_choice" in body) && !("parallel_tool_calls" in body));
  });

  it("gives a tool without a schema an empty one, and sends `strict` if it is set", () => {
    const tools: Tool[] = [{ type: "function", name: "now", strict: true }];
    assert.deepEqual(encode({ tools })["tools"], [
      {
        type: "function",
        function: { name: "now", parameters: { type: "object", properties: {} }, strict: true },
      },
    ]);
  });
});

describe("chat messages", () => {
  it("have one role for instructions, whatever the item's", () => {
    const items: Item[] = [
      { type: "message", role: "developer", content: "A" },
      { type: "message", role: "system", content: [{ type: "input_text", text: "B" }] },
    ];
    assert.deepEqual(messagesOf(items), [
      { role: "system", content: "A" },
      { role: "system", content: "B" },
    ]);
  });

  it("contain an assistant's text and all the calls after it", () => {
    const items = [
      assistant("A"),
      call("a"),
      call("b"),
      output("a", "1"),
      output("b", "2"),
      call("c"),
    ];
    assert.deepEqual(messagesOf(items), [
      { role: "assistant", content: "A", tool_calls: [wireCall("a"), wireCall("b")] },
      { role: "tool", tool_call_id: "a", content: "1" },
      { role: "tool", tool_call_id: "b", content: "2" },
      { role: "assistant", content: null, tool_calls: [wireCall("c")] },
    ]);
  });

  it("keep arguments as the model wrote them", () => {
    const [message] = messagesOf([call("a", '{ "x":1')]) as JsonObject[];
    assert.deepEqual(message?.["tool_calls"], [wireCall("a", '{ "x":1')]);
  });

  it("keep the text of several parts, and of a refusal", () => {
    const items: Item[] = [
      {
        type: "message",
        role: "assistant",
        content: [
          { type: "output_text", text: "A" },
          { type: "refusal", refusal: "No." },
        ],
      },
    ];
    assert.deepEqual(messagesOf(items), [{ role: "assistant", content: "A\nNo." }]);
  });

  it("skip items of tools that other vendors ran", () => {
    const items = [
      user("Hi"),
      { type: "web_search_call", id: "ws_1", status: "completed" } as Item,
    ];
    assert.deepEqual(messagesOf(items), [{ role: "user", content: "Hi" }]);
  });

  it("have images, audio and files in chat's form", () => {
    const items: Item[] = [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_image", image_url: "data:image/png;base64,AA", detail: "low" },
          { type: "input_image", image_url: "https://x.org/a.png" },
          { type: "input_audio", input_audio: { data: "AA", format: "wav" } },
          { type: "input_audio", data: "AA", format: "mp3" },
          { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA" },
          { type: "input_file", file_id: "file_1" },
          { type: "input_text", text: "Look" },
        ],
      },
    ];
    assert.deepEqual(messagesOf(items), [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,AA", detail: "low" } },
          { type: "image_url", image_url: { url: "https://x.org/a.png" } },
          { type: "input_audio", input_audio: { data: "AA", format: "wav" } },
          { type: "input_audio", input_audio: { data: "AA", format: "mp3" } },
          {
            type: "file",
            file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA" },
          },
          { type: "file", file: { file_id: "file_1" } },
          { type: "text", text: "Look" },
        ],
      },
    ]);
  });

  const wordless = [
    ["an image by file id", { type: "input_image", file_id: "file_1" }],
    ["a file by URL", { type: "input_file", file_url: "https://x.org/a.pdf" }],
    ["a kind it does not know", { type: "computer_screenshot", image_url: "x" }],
    [
      "a file of a kind it does not read",
      { type: "input_file", filename: "a.docx", file_data: "AA" },
    ],
  ] as const;
  for (const [name, part] of wordless) {
    it(`refuse what chat cannot express: ${name}`, () => {
      const items = [{ type: "message", role: "user", content: [part] } as unknown as Item];
      assert.throws(() => messagesOf(items), { code: "invalid_request", param: "input" });
    });
  }

  it("give a PDF a name and type if they are missing, and show an image as one", () => {
    const image = "data:image/png;base64,AA";
    const content = [
      { type: "input_file" as const, file_data: "AA" },
      { type: "input_file" as const, file_data: image },
      { type: "input_image" as const, image_url: image, detail: "original" as const },
    ];
    const file_data = "data:application/pdf;base64,AA";
    assert.deepEqual(messagesOf([{ type: "message", role: "user", content }]), [
      {
        role: "user",
        content: [
          { type: "file", file: { filename: "document.pdf", file_data } },
          { type: "image_url", image_url: { url: image } },
          { type: "image_url", image_url: { url: image, detail: "high" } },
        ],
      },
    ]);
  });

  it("show a tool's PDF after its result, and the text of a file in it", () => {
    const pdf = { filename: "a.pdf", file_data: "data:application/pdf;base64,AA" };
    const text = { filename: "a.json", file_data: "data:application/json,{}" };
    const items: Item[] = [
      call("a"),
      {
        type: "function_call_output",
        call_id: "a",
        output: [
          { type: "input_file", ...pdf },
          { type: "input_file", ...text },
        ],
      },
    ];
    const content = '[file below]\n<file name="a.json">\n{}\n</file>';
    assert.deepEqual((messagesOf(items) as JsonObject[]).slice(1), [
      { role: "tool", tool_call_id: "a", content },
      { role: "user", content: [{ type: "file", file: pdf }] },
    ]);
  });

  it("show a tool's image after all results of the turn", () => {
    const image = { type: "input_image" as const, image_url: "data:image/png;base64,AA" };
    const items: Item[] = [
      call("a"),
      call("b"),
      {
        type: "function_call_output",
        call_id: "a",
        output: [{ type: "input_text", text: "see" }, image],
      },
      output("b", "2"),
      user("And?"),
    ];
    assert.deepEqual(messagesOf(items), [
      { role: "assistant", content: null, tool_calls: [wireCall("a"), wireCall("b")] },
      { role: "tool", tool_call_id: "a", content: "see\n[image below]" },
      { role: "tool", tool_call_id: "b", content: "2" },
      { role: "user", content: [{ type: "image_url", image_url: { url: image.image_url } }] },
      { role: "user", content: "And?" },
    ]);
  });

  it("show a tool's image at the end if nothing follows", () => {
    const image = { type: "input_image" as const, image_url: "data:image/png;base64,AA" };
    const items: Item[] = [
      call("a"),
      { type: "function_call_output", call_id: "a", output: [image] },
    ];
    assert.equal((messagesOf(items) as JsonObject[]).at(-1)?.["role"], "user");
  });
});

describe("quirks of chat servers", () => {
  it("name the limit of the answer", () => {
    const body = encode({ max_output_tokens: 5 }, { maxTokensField: "max_completion_tokens" });
    assert.deepEqual([body["max_completion_tokens"], "max_tokens" in body], [5, false]);
  });

  it("leave out what the vendor refuses", () => {
    const body = encode(
      { temperature: 1, top_p: 1 },
      { refuses: ["temperature", "stream_options"] },
    );
    assert.deepEqual(
      ["temperature" in body, "stream_options" in body, "top_p" in body],
      [false, false, true],
    );
  });

  it("send the effort `none` only to a server that supports it", () => {
    const reasoning = { effort: "none", summary: undefined } as const;
    assert.ok(!("reasoning_effort" in encode({ reasoning })));
    assert.equal(encode({ reasoning }, { effortNone: true })["reasoning_effort"], "none");
  });

  for (const reasoningField of ["reasoning_content", "reasoning"] as const) {
    it(`give the chain of thought back in \`${reasoningField}\`, with the message it led to`, () => {
      const items = [thought("Hm."), call("a"), output("a", "1"), thought("So."), assistant("A")];
      assert.deepEqual(messagesOf(items, { reasoningField }), [
        { role: "assistant", content: null, tool_calls: [wireCall("a")], [reasoningField]: "Hm." },
        { role: "tool", tool_call_id: "a", content: "1" },
        { role: "assistant", content: "A", [reasoningField]: "So." },
      ]);
    });
  }

  it("send no reasoning to a server that does not want it", () => {
    assert.deepEqual(messagesOf([thought("Hm."), assistant("A")]), [
      { role: "assistant", content: "A" },
    ]);
  });

  it("send reasoning only with the message of its own turn", () => {
    const items = [thought("Hm."), user("And?"), assistant("A")];
    assert.deepEqual(messagesOf(items, { reasoningField: "reasoning" }), [
      { role: "user", content: "And?" },
      { role: "assistant", content: "A" },
    ]);
  });
});

describe("structured chat answers", () => {
  const format: OutputFormat = {
    type: "json_schema",
    name: "city",
    schema: { type: "object" },
    strict: true,
  };

  it("are requested as in the founding document", () => {
    assert.deepEqual(encode({ format })["response_format"], {
      type: "json_schema",
      json_schema: { name: "city", schema: { type: "object" }, strict: true },
    });
  });

  it("are requested in the instructions if the server does not support schemas", () => {
    const body = encode({ format, instructions: "Be brief." }, { jsonSchema: false });
    assert.deepEqual(body["response_format"], { type: "json_object" });
    const [{ role, content } = {}] = body["messages"] as JsonObject[];
    assert.equal(role, "system");
    assert.match(String(content), /^Be brief\.\n\n/);
    assert.ok(String(content).includes('{"type":"object"}'));
  });

  it("of any shape are requested in the instructions too, unless the prompt already does", () => {
    const asked = encode({ format: { type: "json_object" } });
    assert.deepEqual(asked["response_format"], { type: "json_object" });
    assert.deepEqual(asked["messages"], [
      { role: "system", content: JSON_RULE },
      { role: "user", content: "Hello" },
    ]);
    const items = [user("Answer in JSON")];
    assert.equal(
      (encode({ format: { type: "json_object" }, items })["messages"] as object[]).length,
      1,
    );
  });
});
