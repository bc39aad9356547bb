import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import { seal } from "../../../src/protocol/sealed-reasoning.ts";
import { toHistory } from "../../../src/providers/gguf/history.ts";
import { JSON_RULE } from "../../../src/providers/json-rule.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { assistant, call, output, thought, user } from "../conversation.ts";
import { request } from "../provider-contract.ts";

const historyOf = (more: Partial<ModelRequest>, isInWords = false) =>
  toHistory(request({ instructions: undefined, ...more }), { isInWords });

describe("a conversation for a GGUF model", () => {
  it("is one response between two messages of the user", () => {
    const items = [
      user("Read both"),
      thought("Two files."),
      assistant("Let me."),
      call("a", '{"path":"x"}'),
      call("b", '{"path":'),
      output("a", "1"),
      output("b", "2"),
      call("c"),
      output("c", "3"),
      assistant("Done."),
      user("Thanks"),
    ];
    const made = (params: unknown, result: string, startsNewChunk: boolean) => ({
      type: "functionCall",
      name: "read",
      params,
      result,
      startsNewChunk,
    });
    assert.deepEqual(historyOf({ instructions: "Be brief.", items }), [
      { type: "system", text: "Be brief." },
      { type: "user", text: "Read both" },
      {
        type: "model",
        response: [
          { type: "segment", segmentType: "thought", text: "Two files.", ended: true },
          "Let me.",
          made({ path: "x" }, "1", true),
          made('{"path":', "2", false),
          made({}, "3", true),
          "Done.",
        ],
      },
      { type: "user", text: "Thanks" },
    ]);
  });

  it("keeps instructions in the middle, and leaves out other vendors' items", () => {
    const sealed = { ...thought("Theirs"), encrypted_content: seal("messages", {}) } as Item;
    const items = [
      user("A"),
      sealed,
      { type: "anthropic:server_tool_use", id: "x", block: {} } as unknown as Item,
      { type: "message", role: "developer", content: "B" } as const,
      assistant(""),
      { type: "reasoning", summary: [{ type: "summary_text", text: "S" }] } as Item,
    ];
    assert.deepEqual(historyOf({ items }), [
      { type: "user", text: "A" },
      { type: "system", text: "B" },
      {
        type: "model",
        response: [{ type: "segment", segmentType: "thought", text: "S", ended: true }],
      },
    ]);
  });

  it("gives an interrupted call a placeholder result", () => {
    const [last] = historyOf({ items: [call("a")] });
    assert.match(JSON.stringify(last), /No result/);
  });

  it("asks for JSON in the instructions, and describes a schema if no grammar enforces it", () => {
    const schema = { type: "object" };
    const format = { type: "json_schema", name: "o", schema, strict: true } as const;
    const [told] = historyOf({ format, instructions: "Be brief." });
    assert.deepEqual(told, { type: "system", text: `Be brief.\n\n${JSON_RULE}` });
    const [spelt] = historyOf({ format }, true);
    assert.match(JSON.stringify(spelt), /JSON schema:\\n\{\\"type/);
    const [said] = historyOf({ format, instructions: "Write JSON." });
    assert.deepEqual(said, { type: "system", text: "Write JSON." });
  });

  it("a conversation for a GGUF model accepts only text", () => {
    for (const part of [
      { type: "input_image", image_url: "data:image/png;base64,AA" },
      { type: "input_file", file_data: "AA" },
    ]) {
      const item = { type: "message", role: "user", content: [part] } as unknown as Item;
      assert.throws(() => historyOf({ items: [item] }), {
        code: "invalid_request",
        message: /takes text only/,
      });
    }
  });
});
