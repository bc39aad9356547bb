import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OpenAI } from "openai";
import type { Item } from "../../../../src/protocol/items.ts";
import { toCreateResponse } from "../../../../src/responses/chat/parse-chat.ts";

type Said = OpenAI.Chat.ChatCompletionMessageParam;

function itemsOf(messages: readonly unknown[]): unknown {
  return toCreateResponse({ model: "m", messages }).request.input;
}

const call = { type: "function_call", call_id: "c1", name: "f", arguments: "{}" } as const;
const chatCall = {
  id: "c1",
  type: "function" as const,
  function: { name: "f", arguments: "{}" },
};
const mark = { mode: "explicit" as const };

describe("chat messages as items", () => {
  const cases: readonly [name: string, messages: readonly Said[], items: readonly Item[]][] = [
    [
      "text of each role",
      [
        { role: "system", content: "A" },
        { role: "developer", content: [{ type: "text", text: "B" }] },
        { role: "user", content: "C" },
        { role: "assistant", content: "D" },
      ],
      [
        { type: "message", role: "system", content: "A" },
        { type: "message", role: "developer", content: [{ type: "input_text", text: "B" }] },
        { type: "message", role: "user", content: "C" },
        { type: "message", role: "assistant", content: "D" },
      ],
    ],
    [
      "every part of a user's message",
      [
        {
          role: "user",
          content: [
            { type: "text", text: "See", prompt_cache_breakpoint: mark },
            { type: "image_url", image_url: { url: "https://x.org/a.png", detail: "low" } },
            {
              type: "image_url",
              image_url: { url: "data:image/png;base64,AA==" },
              prompt_cache_breakpoint: mark,
            },
            { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
            { type: "file", file: { filename: "a.pdf", file_data: "AA==" } },
            { type: "file", file: { file_id: "file-1" }, prompt_cache_breakpoint: mark },
          ],
        },
      ],
      [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "See", prompt_cache_breakpoint: mark },
            { type: "input_image", image_url: "https://x.org/a.png", detail: "low" },
            {
              type: "input_image",
              image_url: "data:image/png;base64,AA==",
              detail: "auto",
              prompt_cache_breakpoint: mark,
            },
            { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
            { type: "input_file", filename: "a.pdf", file_data: "AA==" },
            { type: "input_file", file_id: "file-1", prompt_cache_breakpoint: mark },
          ],
        },
      ],
    ],
    [
      "words, calls and their results",
      [
        { role: "assistant", content: "Look.", tool_calls: [chatCall, { ...chatCall, id: "c2" }] },
        { role: "tool", tool_call_id: "c1", content: "one" },
        { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "two" }] },
      ],
      [
        { type: "message", role: "assistant", content: "Look." },
        call,
        { ...call, call_id: "c2" },
        { type: "function_call_output", call_id: "c1", output: "one" },
        {
          type: "function_call_output",
          call_id: "c2",
          output: [{ type: "input_text", text: "two" }],
        },
      ],
    ],
    [
      "calls without a word",
      [
        { role: "assistant", content: null, tool_calls: [chatCall] },
        { role: "assistant", content: "", tool_calls: [chatCall] },
        { role: "assistant", tool_calls: [chatCall] },
        { role: "assistant", content: "" },
      ],
      [call, call, call],
    ],
    [
      "custom calls and their results",
      [
        {
          role: "assistant",
          tool_calls: [{ id: "c3", type: "custom", custom: { name: "sql", input: "select" } }],
        },
        { role: "tool", tool_call_id: "c3", content: "1" },
      ],
      [
        { type: "custom_tool_call", call_id: "c3", name: "sql", input: "select" },
        { type: "custom_tool_call_output", call_id: "c3", output: "1" },
      ],
    ],
    [
      "calls of the older form, each with its own result",
      [
        { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
        { role: "assistant", content: null, function_call: { name: "g", arguments: "{}" } },
        { role: "function", name: "g", content: "2" },
        { role: "function", name: "f", content: null },
        { role: "assistant", content: null, function_call: { name: "f", arguments: "[]" } },
        { role: "function", name: "f", content: "3" },
      ],
      [
        { ...call, call_id: "call_function_0" },
        { ...call, call_id: "call_function_1", name: "g" },
        { type: "function_call_output", call_id: "call_function_1", output: "2" },
        { type: "function_call_output", call_id: "call_function_0", output: "" },
        { ...call, call_id: "call_function_4", arguments: "[]" },
        { type: "function_call_output", call_id: "call_function_4", output: "3" },
      ],
    ],
    [
      "refusals in both places",
      [
        { role: "assistant", content: null, refusal: "No." },
        { role: "assistant", content: "But", refusal: "No." },
        {
          role: "assistant",
          content: [
            { type: "text", text: "But" },
            { type: "refusal", refusal: "No." },
          ],
        },
      ],
      [
        { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
        ...[1, 2].map(
          (): Item => ({
            type: "message",
            role: "assistant",
            content: [
              { type: "output_text", text: "But", annotations: [] },
              { type: "refusal", refusal: "No." },
            ],
          }),
        ),
      ],
    ],
    ["sound that another server keeps", [{ role: "assistant", audio: { id: "a" } }], []],
  ];
  for (const [name, messages, items] of cases) {
    it(`have the same content: ${name}`, () => assert.deepEqual(itemsOf(messages), items));
  }

  const thought = { type: "reasoning_text", text: "Hm" };
  for (const field of ["reasoning_content", "reasoning"]) {
    it(`keep an assistant's reasoning before its text and calls: ${field}`, () => {
      const message = { role: "assistant", content: "A", [field]: "Hm", tool_calls: [chatCall] };
      assert.deepEqual(itemsOf([message]), [
        { type: "reasoning", summary: [], content: [thought] },
        { type: "message", role: "assistant", content: "A" },
        call,
      ]);
    });
  }

  it("read reasoning once if it is sent twice, and only as text", () => {
    const twice = { role: "assistant", content: "A", reasoning_content: "Hm", reasoning: "Hm" };
    const other = { role: "assistant", content: "A", reasoning: { effort: "high" } };
    const said = { type: "message", role: "assistant", content: "A" };
    assert.deepEqual(itemsOf([twice, other]), [
      { type: "reasoning", summary: [], content: [thought] },
      said,
      said,
    ]);
  });

  it("accept what other servers accept", () => {
    const parts = [
      { type: "image_url", image_url: "https://x.org/a.png" },
      { type: "input_text", text: "A" },
      { type: "video_url", video_url: { url: "https://x.org/a.mp4" } },
    ];
    const untyped = { id: "c1", function: { name: "f", arguments: "{}" } };
    const messages = [
      { role: "user", content: parts },
      { role: "assistant", tool_calls: [untyped] },
      { role: "tool", tool_call_id: "c1", content: [parts[0]] },
    ];
    const image = { type: "input_image", image_url: "https://x.org/a.png", detail: "auto" };
    assert.deepEqual(itemsOf(messages), [
      { type: "message", role: "user", content: [image, parts[1], parts[2]] },
      call,
      { type: "function_call_output", call_id: "c1", output: [image] },
    ]);
  });
});
