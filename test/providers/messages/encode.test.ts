import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import type { Tool, ToolChoice } from "../../../src/protocol/tools.ts";
import {
  assistant,
  call,
  encode,
  foreign,
  hears,
  output,
  result,
  says,
  text,
  thought,
  turnsOf,
  use,
  user,
} from "./wire-turns.ts";

const parameters = { type: "object", properties: { path: { type: "string" } } };
const tool: Tool = { type: "function", name: "read", description: "Reads.", parameters };

describe("a body of the Messages API", () => {
  it("has what every request has", () => {
    assert.deepEqual(encode({ instructions: "Be brief." }), {
      model: "claude-sonnet-4-5",
      max_tokens: 32_000,
      stream: true,
      system: [text("Be brief.")],
      messages: [hears(text("Hello"))],
    });
  });

  it("has tools, a choice among them, and every parameter that was set", () => {
    const { tools, tool_choice, temperature, max_tokens } = encode({
      tools: [tool, { type: "function", name: "now" }],
      parallel_tool_calls: false,
      temperature: 0.5,
      top_p: 0.5,
      max_output_tokens: 100,
    });
    assert.deepEqual(tools, [
      { name: "read", description: "Reads.", input_schema: parameters },
      { name: "now", input_schema: { type: "object", properties: {} } },
    ]);
    assert.deepEqual(tool_choice, { type: "auto", disable_parallel_tool_use: true });
    assert.deepEqual([temperature, max_tokens], [0.5, 100]);
  });

  it("makes only tools strict that ask for it", () => {
    const range = { type: "integer", minimum: 1 };
    const strict: Tool = {
      type: "function",
      name: "turn",
      parameters: { type: "object", properties: { page: range }, required: ["page"] },
      strict: true,
    };
    assert.deepEqual(encode({ tools: [strict, { ...tool, strict: false }] })["tools"], [
      {
        name: "turn",
        strict: true,
        input_schema: {
          type: "object",
          properties: { page: { type: "integer", description: "(minimum: 1)" } },
          required: ["page"],
          additionalProperties: false,
        },
      },
      { name: "read", description: "Reads.", input_schema: parameters },
    ]);
  });

  it("has one of two sampling parameters, which are refused together", () => {
    assert.ok(!("top_p" in encode({ temperature: 0.5, top_p: 0.5 })));
    assert.equal(encode({ top_p: 0.5 })["top_p"], 0.5);
  });

  const choices: readonly [choice: ToolChoice, encoded: object][] = [
    ["auto", { type: "auto" }],
    ["required", { type: "any" }],
    ["none", { type: "none" }],
    [
      { type: "function", name: "read" },
      { type: "tool", name: "read" },
    ],
    [
      { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "read" }] },
      { type: "any" },
    ],
    [{ type: "web_search" }, { type: "auto" }],
  ];
  for (const [tool_choice, encoded] of choices) {
    it(`encodes a tool choice: ${JSON.stringify(tool_choice)}`, () => {
      assert.deepEqual(encode({ tools: [tool], tool_choice })["tool_choice"], encoded);
    });
  }

  it("passes on the vendor's own tools, and leaves out other vendors'", () => {
    const own = { type: "code_execution_20250825", name: "code_execution" } as unknown as Tool;
    const search: Tool = { type: "web_search", filters: { allowed_domains: ["x.org"] } };
    assert.deepEqual(encode({ tools: [own, search, { type: "image_generation" }] })["tools"], [
      own,
      { type: "web_search_20250305", name: "web_search", allowed_domains: ["x.org"] },
    ]);
    assert.ok(!("tool_choice" in encode({ tools: [{ type: "image_generation" }] })));
  });
});

describe("turns of the Messages API", () => {
  it("pair every call with its result, with reasoning before the calls", () => {
    const thinking = { type: "thinking", thinking: "Hm.", signature: "s" };
    assert.deepEqual(
      turnsOf(
        user("Go"),
        thought(thinking),
        assistant("Let me."),
        call("a", '{"path":"x"}'),
        call("b"),
        output("a", "1"),
        output("b", "2"),
        assistant("Done."),
        user("And?"),
      ),
      [
        hears(text("Go")),
        says(thinking, text("Let me."), use("a", { path: "x" }), use("b")),
        hears(result("a", "1"), result("b", "2")),
        says(text("Done.")),
        hears(text("And?")),
      ],
    );
  });

  it("put results first, wherever their items are, in the order of the calls", () => {
    const items = [
      user("Go"),
      call("a"),
      call("b"),
      user("Wait"),
      output("b", "2"),
      output("a", "1"),
    ];
    assert.deepEqual(turnsOf(...items), [
      hears(text("Go")),
      says(use("a"), use("b")),
      hears(result("a", "1"), result("b", "2"), text("Wait")),
    ]);
  });

  it("add a placeholder for a call without a result, and drop a result without its call", () => {
    const missing = result("a", "No result: the call was interrupted.");
    assert.deepEqual(turnsOf(user("Go"), output("z", "?"), call("a"), user("Stop")), [
      hears(text("Go")),
      says(use("a")),
      hears({ ...missing, is_error: true }, text("Stop")),
    ]);
  });

  it("mark a failed call", () => {
    const failed: Item = {
      type: "function_call_output",
      call_id: "a",
      output: "No such file.",
      status: "incomplete",
    };
    const turns = turnsOf(user("Go"), call("a"), call("b"), failed, output("b", "one"));
    assert.deepEqual(turns.at(-1)?.["content"], [
      { type: "tool_result", tool_use_id: "a", content: "No such file.", is_error: true },
      { type: "tool_result", tool_use_id: "b", content: "one" },
    ]);
    const wordless = turnsOf(user("Go"), call("a"), { ...failed, output: "" });
    assert.deepEqual(wordless.at(-1)?.["content"], [{ type: "tool_result", tool_use_id: "a" }]);
  });

  it("give calls ids that the API accepts, and no id twice", () => {
    const items = [
      user("Go"),
      call("a:b/1"),
      output("a:b/1", "1"),
      call("a:b/1"),
      output("a:b/1", "2"),
    ];
    assert.deepEqual(turnsOf(...items), [
      hears(text("Go")),
      says(use("a_b_1")),
      hears(result("a_b_1", "1")),
      says(use("a_b_1_2")),
      hears(result("a_b_1_2", "2")),
    ]);
  });

  it("put arguments that are not JSON where the vendor's guide puts them", () => {
    const [, said] = turnsOf(user("Go"), call("a", '{"x":'), output("a", "?"), call("b", ""));
    assert.deepEqual(said, says(use("a", { INVALID_JSON: '{"x":' })));
  });

  it("start and end with the user, even without a message", () => {
    const goOn = hears(text("Go on."));
    assert.deepEqual(turnsOf(assistant("Hi.")), [goOn, says(text("Hi.")), goOn]);
    assert.deepEqual(turnsOf(), [goOn]);
  });

  it("have no empty texts, and join what is left", () => {
    assert.deepEqual(turnsOf(user("A"), assistant("  \n"), user(""), user("B"), output("z", "")), [
      hears(text("A"), text("B")),
    ]);
  });

  it("leave out what other vendors sealed, ran, or named", () => {
    const items = [
      user("Go"),
      thought({ type: "thinking" }, "gemini"),
      { type: "reasoning", summary: [], encrypted_content: "gAAAA" } as Item,
      { type: "web_search_call", id: "ws_1", status: "completed" } as Item,
      { type: "google:executable_code", block: { type: "text", text: "?" } } as unknown as Item,
    ];
    assert.deepEqual(turnsOf(...items), [hears(text("Go"))]);
  });

  it("send the vendor's own blocks back, and continue where it paused", () => {
    const block = { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} };
    assert.deepEqual(turnsOf(user("Go"), assistant("A"), foreign(block)), [
      hears(text("Go")),
      says(text("A"), block),
    ]);
  });

  it("send back a call's other fields", () => {
    const caller = { type: "code_execution_20250825", tool_id: "srv_1" };
    const kept = {
      type: "anthropic:tool_use",
      id: "a",
      block: { type: "tool_use", id: "a", caller },
    };
    const [, said] = turnsOf(user("Go"), kept as unknown as Item, call("a"), output("a", "1"));
    assert.deepEqual(said, says({ ...use("a"), caller }));
  });

  it("name the container of the current turn, and none of an earlier one", () => {
    const container = foreign({ type: "container", id: "c_1" });
    assert.equal(encode({ items: [user("Go"), container] })["container"], "c_1");
    assert.ok(!("container" in encode({ items: [user("Go"), container, user("More")] })));
  });

  it("use system messages before the first turn as instructions, and later ones as marked text", () => {
    const developer = (content: string): Item => ({ type: "message", role: "developer", content });
    const { system, messages } = encode({
      instructions: "A",
      items: [developer("B"), user("Go"), call("a"), developer("C"), output("a", "1")],
    });
    assert.deepEqual(system, [text("A"), text("B")]);
    assert.deepEqual(messages, [
      hears(text("Go")),
      says(use("a")),
      hears(result("a", "1"), text("<system>\nC\n</system>")),
    ]);
  });

  it("repeat citations, without the field that is refused", () => {
    const citation = { type: "page_location", cited_text: "x", document_index: 0 };
    const annotation = {
      type: "file_citation" as const,
      file_id: "f1",
      anthropic: { ...citation, file_id: "f1" },
    };
    const cited: Item = {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "A", annotations: [annotation] }],
    };
    const [, said] = turnsOf(user("Go"), cited);
    assert.deepEqual(said, says({ ...text("A"), citations: [citation] }));
  });

  it("keep another model's content that can be expressed", () => {
    const said: Item = {
      type: "message",
      role: "assistant",
      content: [
        { type: "refusal", refusal: "No." },
        { type: "output_audio", data: "AA", transcript: "Yes." },
      ],
    };
    assert.deepEqual(turnsOf(user("Go"), said)[1], says(text("No."), text("Yes.")));
  });
});
