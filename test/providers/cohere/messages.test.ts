import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ContentPart } from "../../../src/protocol/content.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { createDecoder } from "../../../src/providers/cohere/decode.ts";
import { encodeMessages } from "../../../src/providers/cohere/messages.ts";
import { assistant, call, output, thought, user } from "../conversation.ts";
import { request } from "../provider-contract.ts";
import { decodeAll, itemsOf, readOwnStreams } from "../streams.ts";

const encode = (...items: readonly Item[]): readonly object[] => encodeMessages(undefined, items);

const plan = (text: string): Item => ({
  type: "reasoning",
  summary: [{ type: "summary_text", text }],
});
const made = (id: string, text = "{}") => ({
  id,
  type: "function",
  function: { name: "read", arguments: text },
});
const result = (tool_call_id: string, content: string) => ({ role: "tool", tool_call_id, content });
const system = (content: string): Item => ({ type: "message", role: "developer", content });

describe("a conversation for cohere", () => {
  it("has reasoning, plans and calls in one message, and the results after it", () => {
    const items = [user("Look"), thought("Hm."), plan("I will read."), call("a"), call("b")];
    assert.deepEqual(encode(...items, output("a", "A"), output("b", "B")), [
      { role: "user", content: "Look" },
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: "Hm." }],
        tool_plan: "I will read.",
        tool_calls: [made("a"), made("b")],
      },
      result("a", "A"),
      result("b", "B"),
    ]);
  });

  it("has reasoning before the text that it led to", () => {
    assert.deepEqual(encode(user("Why?"), thought("Hm."), assistant("So."), user("And?")), [
      { role: "user", content: "Why?" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm." },
          { type: "text", text: "So." },
        ],
      },
      { role: "user", content: "And?" },
    ]);
  });

  it("calls another model's text before its calls a plan", () => {
    const [, told] = encode(user("Look"), assistant("Let me see."), call("a"));
    assert.deepEqual(told, {
      role: "assistant",
      tool_plan: "Let me see.",
      tool_calls: [made("a")],
    });
  });

  it("leaves out reasoning that another vendor sealed, and reasoning that led to nothing", () => {
    const sealed: Item = { ...plan("Secret"), encrypted_content: "sealed.messages.e30" } as Item;
    assert.deepEqual(encode(user("Hi"), thought("Hm."), user("Still there?")), [
      { role: "user", content: "Hi" },
      { role: "user", content: "Still there?" },
    ]);
    const [, said] = encode(user("Hi"), sealed, assistant("Yes."), user("Ok"));
    assert.deepEqual(said, { role: "assistant", content: "Yes." });
  });

  it("answers each call directly after it, once, and drops results without one", () => {
    const items = [
      user("Look"),
      call("a"),
      call("b"),
      user("Wait"),
      output("b", ""),
      output("x", "?"),
    ];
    assert.deepEqual(encode(...items), [
      { role: "user", content: "Look" },
      { role: "assistant", tool_calls: [made("a"), made("b")] },
      result("a", "No result: the call was interrupted."),
      result("b", "(no output)"),
      { role: "user", content: "Wait" },
    ]);
  });

  it("distinguishes calls with the same id", () => {
    const items = [user("Look"), call("0"), output("0", "A"), call("0"), output("0", "B")];
    assert.deepEqual(encode(...items), [
      { role: "user", content: "Look" },
      { role: "assistant", tool_calls: [made("0")] },
      result("0", "A"),
      { role: "assistant", tool_calls: [made("0_2")] },
      result("0_2", "B"),
    ]);
  });

  it("has one system message, the first, with later instructions too, in order", () => {
    const items = [system("Be kind."), user("Hi"), system("Be quick."), system("Be glad.")];
    assert.deepEqual(encodeMessages("Be brief.", items), [
      { role: "system", content: "Be brief.\n\nBe kind.\n\nBe quick.\n\nBe glad." },
      { role: "user", content: "Hi" },
    ]);
  });

  it("keeps calls and their results together around later instructions", () => {
    const items = [user("Look"), call("0"), system("Be quick."), output("0", "A")];
    assert.deepEqual(encodeMessages(undefined, items), [
      { role: "system", content: "Be quick." },
      { role: "user", content: "Look" },
      { role: "assistant", tool_calls: [made("0")] },
      result("0", "A"),
    ]);
  });

  it("ends with a message of the user", () => {
    assert.deepEqual(encode(user("Hi"), assistant("Hello.")).at(-1), {
      role: "user",
      content: "Go on.",
    });
  });
});

describe("parts of a conversation for cohere", () => {
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const message = (...content: readonly ContentPart[]): Item => ({
    type: "message",
    role: "user",
    content: [...content],
  });

  it("are images with their detail, and text", () => {
    const image = { type: "input_image" as const, image_url: url, detail: "original" as const };
    const [told] = encode(message({ type: "input_text", text: "Look:" }, image));
    assert.deepEqual(told, {
      role: "user",
      content: [
        { type: "text", text: "Look:" },
        { type: "image_url", image_url: { url, detail: "high" } },
      ],
    });
  });

  it("are shown by the user after all results, if a tool returned them", () => {
    const image = { type: "input_image" as const, image_url: url };
    const given: Item = { type: "function_call_output", call_id: "a", output: [image] };
    assert.deepEqual(encode(user("Look"), call("a"), call("b"), given, output("b", "B")).slice(2), [
      result("a", "[image below]"),
      result("b", "B"),
      { role: "user", content: [{ type: "image_url", image_url: { url } }] },
    ]);
  });

  it("are refused if the API cannot express them", () => {
    const refused: readonly [ContentPart, RegExp][] = [
      [{ type: "input_image", file_id: "file_1" }, /not by file id/],
      [{ type: "input_image", image_url: "data:image/tiff;base64,AA==" }, /not `image\/tiff`/],
      [{ type: "input_file", filename: "a.pdf", file_data: "JVBERi0=" }, /not `application\/pdf`/],
      [{ type: "input_file", file_url: "https://example.org/a.txt" }, /by its id or URL/],
    ];
    for (const [part, words] of refused) {
      const failure = { code: "invalid_request", param: "input", message: words };
      assert.throws(() => encode(message(part)), failure);
    }
  });
});

describe("answers of cohere as history", () => {
  const { streams } = readOwnStreams("cohere");

  for (const { name, lines } of streams.filter((stream) => !/error|timeout/.test(stream.name))) {
    it(`lose nothing: ${name}`, () => {
      const items = itemsOf(decodeAll(createDecoder(request()), ...lines));
      const told = JSON.stringify(encode(user("Hi"), ...items, user("And?")));
      const sent = encodeMessages(undefined, [user("Hi"), ...items, user("And?")]);
      const answer = sent.find((message) => message.role === "assistant") ?? assert.fail(told);
      const pieces = (field: string): string => piecesOf(lines, field);
      assert.equal(answer.tool_plan ?? "", pieces("tool_plan"));
      const blocks = typeof answer.content === "string" ? [] : (answer.content ?? []);
      const thoughts = blocks.map((block) => (block.type === "thinking" ? block.thinking : ""));
      assert.equal(thoughts.join(""), pieces("thinking"));
      const text = typeof answer.content === "string" ? answer.content : lastText(blocks);
      assert.equal(text, pieces("text"));
      const calls = (answer.tool_calls ?? []).map(({ id }) => id);
      assert.deepEqual(calls, idsOf(lines));
    });
  }

  function lastText(blocks: readonly { type: string; text?: string }[]): string {
    return blocks.map((block) => block.text ?? "").join("");
  }

  /** All pieces of a field in the events of a stream. */
  function piecesOf(lines: readonly string[], field: string): string {
    const texts = lines.map((line) => {
      const { delta } = JSON.parse(line) as { delta?: { message?: Record<string, never> } };
      const message: Record<string, unknown> = delta?.message ?? {};
      const content = (message["content"] ?? {}) as Record<string, unknown>;
      return String(message[field] ?? content[field] ?? "");
    });
    return texts.join("");
  }

  function idsOf(lines: readonly string[]): string[] {
    return lines.flatMap((line) => /"tool-call-start".*?"id":"([^"]*)"/.exec(line)?.[1] ?? []);
  }
});
