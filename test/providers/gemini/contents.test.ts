import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { ContentPart } from "../../../src/protocol/content.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { seal } from "../../../src/protocol/sealed-reasoning.ts";
import type { GeminiMedia, GeminiRequest } from "../../../src/providers/gemini/schema.ts";
import { sealPart } from "../../../src/providers/gemini/sealed-part.ts";
import { geminiWire } from "../../../src/providers/gemini/wire.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { assistant, call, output, user } from "../conversation.ts";
import { request } from "../provider-contract.ts";

const encode = (more: Partial<ModelRequest>): GeminiRequest =>
  geminiWire.encode(request({ instructions: undefined, ...more }), {}) as GeminiRequest;

/** The contents of these items. */
const contentsOf = (items: readonly Item[], model = "gemini-2.5-flash") =>
  encode({ items, model }).contents;

const system = (content: string): Item => ({ type: "message", role: "developer", content });
const sealed = (part: Parameters<typeof sealPart>[0], text = ""): Item => ({
  type: "reasoning",
  summary: text === "" ? [] : [{ type: "summary_text", text }],
  encrypted_content: sealPart(part),
});
const said = (role: "user" | "model", ...texts: readonly string[]) => ({
  role,
  parts: texts.map((text) => ({ text })),
});
const called = (id: string, args: JsonObject = {}) => ({
  functionCall: { id, name: "read", args },
});
const answered = (id: string, response: JsonObject) => ({
  functionResponse: { id, name: "read", response },
});

describe("gemini contents", () => {
  it("use all system messages as instructions, in order", () => {
    const items = [system("A"), system(""), user("Hi"), assistant("B"), system("C"), user("D")];
    const body = encode({ instructions: "I", items });
    assert.deepEqual(body.systemInstruction, said("user", "I", "A", "C"));
    assert.deepEqual(body.contents, [said("user", "Hi"), said("model", "B"), said("user", "D")]);
  });

  it("have one model's step in one content, and all its results in the next, in order", () => {
    const items = [
      user("Hi"),
      assistant("A"),
      call("a", '{"x":1}'),
      call("b"),
      output("b", "2"),
      output("a", "1"),
      call("c"),
      output("c", "3"),
      user("And?"),
    ];
    assert.deepEqual(contentsOf(items), [
      said("user", "Hi"),
      { role: "model", parts: [{ text: "A" }, called("a", { x: 1 }), called("b")] },
      { role: "user", parts: [answered("a", { output: "1" }), answered("b", { output: "2" })] },
      { role: "model", parts: [called("c")] },
      { role: "user", parts: [answered("c", { output: "3" })] },
      said("user", "And?"),
    ]);
  });

  it("answer each call once, and no missing one", () => {
    const items = [
      user("Hi"),
      call("a"),
      user("Stop."),
      output("lost", "1"),
      call("a"),
      output("a", "2"),
    ];
    assert.deepEqual(contentsOf(items), [
      said("user", "Hi"),
      { role: "model", parts: [called("a")] },
      { role: "user", parts: [answered("a", { error: "This call was not answered." })] },
      said("user", "Stop.", "[Result of an earlier call]\n1"),
      { role: "model", parts: [called("a")] },
      { role: "user", parts: [answered("a", { output: "2" })] },
    ]);
  });

  it("never begin with the model", () => {
    const [first, second] = contentsOf([assistant("A"), user("Hi")]);
    assert.deepEqual([first?.role, second], ["user", said("model", "A")]);
  });

  it("leave out empty texts, and ids that are not the vendor's", () => {
    const items = [
      user(""),
      user("Hi"),
      assistant(""),
      call("call_noid_r1_0"),
      output("call_noid_r1_0", "1"),
    ];
    assert.deepEqual(contentsOf(items), [
      said("user", "Hi"),
      { role: "model", parts: [{ functionCall: { name: "read", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "1" } } }] },
    ]);
  });

  it("show arguments that are not an object unchanged", () => {
    const [, step] = contentsOf([user("Hi"), call("a", '{"x":'), call("b", "[1]"), call("c", " ")]);
    const args = step?.parts.map(({ functionCall }) => functionCall?.args);
    assert.deepEqual(args, [{ arguments: '{"x":' }, { arguments: "[1]" }, {}]);
  });

  it("keep the text of a refusal, and skip items of other vendors' tools", () => {
    const refusal: Item = {
      type: "message",
      role: "assistant",
      content: [{ type: "refusal", refusal: "No." }],
    };
    const foreign = [
      { type: "web_search_call", id: "ws_1", status: "completed" },
      { type: "anthropic:server_tool_use", id: "x", block: { type: "server_tool_use" } },
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] },
      {
        type: "reasoning",
        summary: [{ type: "summary_text", text: "Hm." }],
        encrypted_content: seal("messages", { signature: "s" }),
      },
    ] as unknown as Item[];
    assert.deepEqual(contentsOf([user("Hi"), ...foreign, refusal]), [
      said("user", "Hi"),
      said("model", "No."),
    ]);
  });

  const media: readonly [part: ContentPart, encoded: object][] = [
    [
      { type: "input_image", image_url: "data:image/png;base64,AA==" },
      { inlineData: { mimeType: "image/png", data: "AA==" } },
    ],
    [
      { type: "input_image", image_url: "https://x.org/a.WEBP?x=1" },
      { fileData: { mimeType: "image/webp", fileUri: "https://x.org/a.WEBP?x=1" } },
    ],
    [
      { type: "input_file", file_url: "https://www.youtube.com/watch?v=abc" },
      { fileData: { mimeType: "video/mp4", fileUri: "https://www.youtube.com/watch?v=abc" } },
    ],
    [
      { type: "input_file", file_url: "gs://bucket/a.mp4" },
      { fileData: { mimeType: "video/mp4", fileUri: "gs://bucket/a.mp4" } },
    ],
    [
      { type: "input_image", file_id: "files/abc" },
      {
        fileData: {
          mimeType: "image/jpeg",
          fileUri: "https://generativelanguage.googleapis.com/v1beta/files/abc",
        },
      },
    ],
    [
      { type: "input_file", filename: "a.csv", file_data: "QQ==" },
      { inlineData: { mimeType: "text/csv", data: "QQ==" } },
    ],
    [
      { type: "input_file", file_data: "data:text/plain,%C3%A9" },
      { inlineData: { mimeType: "text/plain", data: "w6k=" } },
    ],
    [
      { type: "input_file", file_url: "gs://bucket/a.pdf" },
      { fileData: { mimeType: "application/pdf", fileUri: "gs://bucket/a.pdf" } },
    ],
    [
      { type: "input_audio", input_audio: { data: "AA==", format: "mp3" } },
      { inlineData: { mimeType: "audio/mp3", data: "AA==" } },
    ],
  ];
  for (const [part, encoded] of media) {
    it(`carry ${JSON.stringify(part)}`, () => {
      const item: Item = { type: "message", role: "user", content: [part] };
      assert.deepEqual(contentsOf([item]), [{ role: "user", parts: [encoded] }]);
    });
  }

  it("refuse another vendor's file, and one without data", () => {
    const parts = [
      { type: "input_file", file_id: "file_1" },
      { type: "input_file" },
      { type: "input_image" },
    ] as ContentPart[];
    for (const part of parts) {
      const item: Item = { type: "message", role: "user", content: [part] };
      assert.throws(() => contentsOf([item]), { code: "invalid_request" });
    }
  });

  it("show a tool's image in its response, or after it to models that accept none there", () => {
    const image = { type: "input_image" as const, image_url: "data:image/png;base64,AA==" };
    const inline = { inlineData: { mimeType: "image/png", data: "AA==" } };
    const items: Item[] = [
      user("Hi"),
      call("a"),
      {
        type: "function_call_output",
        call_id: "a",
        output: [{ type: "input_text", text: "see" }, image],
      },
    ];
    const response = { id: "a", name: "read", response: { output: "see" } };
    assert.deepEqual(contentsOf(items, "gemini-4-argon").slice(2), [
      { role: "user", parts: [{ functionResponse: { ...response, parts: [inline] } }] },
    ]);
    assert.deepEqual(contentsOf(items).slice(2), [
      { role: "user", parts: [{ functionResponse: response }] },
      { role: "user", parts: [inline] },
    ]);
  });

  const fromTools: readonly [part: ContentPart, encoded: GeminiMedia, isInside: boolean][] = [
    [
      { type: "input_file", file_data: "data:application/pdf;base64,AA==" },
      { inlineData: { mimeType: "application/pdf", data: "AA==" } },
      true,
    ],
    [
      { type: "input_audio", data: "AA==", format: "mp3" },
      { inlineData: { mimeType: "audio/mp3", data: "AA==" } },
      false,
    ],
    [
      { type: "input_file", file_data: "data:video/mp4;base64,AA==" },
      { inlineData: { mimeType: "video/mp4", data: "AA==" } },
      false,
    ],
    [
      { type: "input_image", image_url: "https://x.org/a.png" },
      { fileData: { mimeType: "image/png", fileUri: "https://x.org/a.png" } },
      false,
    ],
  ];
  for (const [part, encoded, isInside] of fromTools) {
    it(`are ${isInside ? "in" : "after"} a tool's response: ${JSON.stringify(encoded)}`, () => {
      const items: Item[] = [
        user("Hi"),
        call("a"),
        call("b"),
        { type: "function_call_output", call_id: "a", output: [part] },
        { type: "function_call_output", call_id: "b", output: "2" },
      ];
      const [responses, behind] = contentsOf(items, "gemini-4-argon").slice(2);
      assert.equal(responses?.parts.length, 2);
      const inside = responses?.parts[0]?.functionResponse?.parts;
      assert.deepEqual(isInside ? inside : behind?.parts, [encoded]);
      assert.equal(isInside ? behind : inside, undefined);
    });
  }
});

describe("gemini signatures", () => {
  const partsOf = (...items: readonly Item[]) => contentsOf([user("Hi"), ...items])[1]?.parts;
  const thoughtSignature = "s";

  it("are on the part that they came with", () => {
    assert.deepEqual(partsOf(sealed({ thought: "s" }, "Hm.")), [
      { text: "Hm.", thought: true, thoughtSignature },
    ]);
    assert.deepEqual(partsOf(sealed({ next: "s" }, "Hm."), call("a"), call("b")), [
      { text: "Hm.", thought: true },
      { ...called("a"), thoughtSignature },
      called("b"),
    ]);
    assert.deepEqual(partsOf(call("a"), call("b"), sealed({ last: "s" })), [
      called("a"),
      { ...called("b"), thoughtSignature },
    ]);
    const segments = sealed({
      text: [
        [1, "s"],
        [2, null],
        [0, "s"],
      ],
    });
    assert.deepEqual(partsOf(assistant("ABC"), segments), [
      { text: "A", thoughtSignature },
      { text: "BC" },
      { text: "", thoughtSignature },
    ]);
    assert.deepEqual(partsOf(sealed({ text: [[0, "s"]] })), [{ text: "", thoughtSignature }]);
  });

  it("are left out if the signed part has changed", () => {
    assert.deepEqual(partsOf(assistant("AB"), sealed({ text: [[1, "s"]] })), [{ text: "AB" }]);
    assert.deepEqual(partsOf(sealed({ next: "s" }), assistant("A"), call("a")), [
      { text: "A" },
      called("a"),
    ]);
    assert.deepEqual(partsOf(assistant("A"), sealed({ last: "s" })), [{ text: "A" }]);
  });

  it("are made up for calls of other models in this turn, one for each step", () => {
    const made = "skip_thought_signature_validator";
    const items = [
      user("Hi"),
      call("a"),
      output("a", "1"),
      user("Go on."),
      call("b"),
      call("c"),
      output("b", "1"),
      output("c", "1"),
      sealed({ next: "s" }),
      call("d"),
      output("d", "1"),
    ];
    const signaturesOf = (model: string) =>
      contentsOf(items, model)
        .flatMap(({ parts }) => parts)
        .flatMap((part) => (part.functionCall ? [part.thoughtSignature] : []));
    assert.deepEqual(signaturesOf("gemini-3-flash"), [undefined, made, undefined, "s"]);
    assert.deepEqual(signaturesOf("gemini-2.5-flash"), [undefined, undefined, undefined, "s"]);
  });

  it("come with Google's own parts, which are sent back unchanged", () => {
    const block = { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature };
    const item = { type: "google:executableCode", id: "x", block } as unknown as Item;
    assert.deepEqual(partsOf(item), [block]);
  });

  it("are not a token: a paused answer continues with the request that it answered", () => {
    const token = sealed({ token: "t" });
    const paused = encode({ items: [user("Hi"), assistant("A"), token, assistant("B"), token] });
    assert.deepEqual(paused, { contents: [said("user", "Hi")], continuationToken: "t" });
    const later = encode({
      items: [user("Hi"), assistant("A"), token, assistant("B"), user("And?")],
    });
    assert.deepEqual(later, {
      contents: [said("user", "Hi"), said("model", "A", "B"), said("user", "And?")],
    });
  });
});
