import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { call, encode, hears, output, result, text, turnsOf, user } from "./wire-turns.ts";

const tool = { type: "function" as const, name: "read" };

describe("images and files of the Messages API", () => {
  const blocksOf = (...content: readonly JsonObject[]) => {
    const message = { type: "message", role: "user", content } as unknown as Item;
    return (turnsOf(message)[0]?.["content"] ?? []) as JsonObject[];
  };
  const base64 = (media_type: string, data: string) => ({ type: "base64", media_type, data });
  const cases: readonly [name: string, part: JsonObject, block: JsonObject][] = [
    [
      "an image as data",
      { type: "input_image", image_url: "data:image/png;base64,AA" },
      { type: "image", source: base64("image/png", "AA") },
    ],
    [
      "an image by URL",
      { type: "input_image", image_url: "https://x.org/a.png" },
      { type: "image", source: { type: "url", url: "https://x.org/a.png" } },
    ],
    [
      "an image by file id",
      { type: "input_image", file_id: "f1" },
      { type: "image", source: { type: "file", file_id: "f1" } },
    ],
    [
      "a PDF",
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA" },
      { type: "document", source: base64("application/pdf", "AA"), title: "a.pdf" },
    ],
    [
      "a PDF as bare data",
      { type: "input_file", filename: "a.pdf", file_data: "AA" },
      { type: "document", source: base64("application/pdf", "AA"), title: "a.pdf" },
    ],
    [
      "a text",
      { type: "input_file", file_data: "data:text/csv;base64,YSxi" },
      { type: "document", source: { type: "text", media_type: "text/plain", data: "a,b" } },
    ],
    [
      "a file by URL",
      { type: "input_file", file_url: "https://x.org/a.pdf" },
      { type: "document", source: { type: "url", url: "https://x.org/a.pdf" } },
    ],
  ];
  for (const [name, part, block] of cases) {
    it(`are blocks: ${name}`, () => assert.deepEqual(blocksOf(part), [block]));
  }

  it("may be a tool's result", () => {
    const image = { type: "input_image" as const, image_url: "data:image/webp;base64,AA" };
    const given: Item = {
      type: "function_call_output",
      call_id: "a",
      output: [{ type: "input_text", text: "See" }, image],
    };
    const content = [text("See"), { type: "image", source: base64("image/webp", "AA") }];
    assert.deepEqual(turnsOf(user("Go"), call("a"), given)[2], hears(result("a", content)));
  });

  const refused = [
    ["an image of another kind", { type: "input_image", image_url: "data:image/bmp;base64,AA" }],
    ["a file of another kind", { type: "input_file", file_data: "data:application/zip;base64,AA" }],
    ["sound", { type: "input_audio", data: "AA", format: "wav" }],
    ["nothing at all", { type: "input_image" }],
  ] as const;
  for (const [name, part] of refused) {
    it(`are refused before anything is sent: ${name}`, () => {
      assert.throws(() => blocksOf(part), { code: "invalid_request" });
    });
  }
});

describe("structured answers of the Messages API", () => {
  it("are requested with a schema that it accepts", () => {
    const schema = {
      $schema: "x",
      type: "object",
      properties: {
        age: { type: "integer", description: "Years.", minimum: 0, maximum: 150 },
        mail: { type: "string", format: "email", maxLength: 9 },
        tags: { type: "array", minItems: 1, maxItems: 3, items: { $ref: "#/$defs/tag" } },
        either: { oneOf: [{ type: "null" }, { properties: { a: { type: "string" } } }] },
      },
      required: ["age"],
      $defs: { tag: { type: "string", enum: ["a"] } },
    };
    const format = { type: "json_schema" as const, name: "out", schema, strict: true };
    const child = { type: "object", properties: { a: { type: "string" } } };
    assert.deepEqual(encode({ format })["output_config"], {
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: {
            age: { type: "integer", description: "Years. (minimum: 0, maximum: 150)" },
            mail: { type: "string", format: "email", description: "(maxLength: 9)" },
            tags: {
              type: "array",
              minItems: 1,
              description: "(maxItems: 3)",
              items: { $ref: "#/$defs/tag" },
            },
            either: { anyOf: [{ type: "null" }, { ...child, additionalProperties: false }] },
          },
          required: ["age"],
          additionalProperties: false,
          $defs: { tag: { type: "string", enum: ["a"] } },
        },
      },
    });
  });

  it("of any shape are refused before anything is sent", () => {
    assert.throws(() => encode({ format: { type: "json_object" } }), {
      code: "invalid_request",
      param: "text.format",
    });
  });
});

describe("marks for the cache of the Messages API", () => {
  const marksOf = (more: Partial<ModelRequest>) => {
    const body = encode({ instructions: "A", ...more }, {});
    const marked = (value: unknown): string[] =>
      (value as JsonObject[]).flatMap((block) =>
        block["cache_control"]
          ? [String(block["text"] ?? block["name"] ?? block["tool_use_id"])]
          : [],
      );
    const turns = body["messages"] as { content: JsonObject[] }[];
    return [
      ...marked(body["tools"] ?? []),
      ...marked(body["system"] ?? []),
      ...turns.flatMap(({ content }) => marked(content)),
    ];
  };

  it("are at the end of tools, instructions, and the last two turns of the user", () => {
    const items = [user("Go"), call("a"), output("a", "1"), call("b"), output("b", "2")];
    assert.deepEqual(marksOf({ tools: [tool], items }), ["read", "A", "a", "b"]);
  });

  it("all last an hour if the request asks for it", () => {
    const part = { type: "input_text" as const, text: "Go" };
    const own = { ...part, prompt_cache_breakpoint: { mode: "explicit" as const } };
    const items: Item[] = [{ type: "message", role: "user", content: [own] }];
    const marks = (prompt_cache_retention: string): unknown[] => {
      const options = { prompt_cache_retention };
      const body = encode({ instructions: "A", tools: [tool], items, options }, {});
      const turns = body["messages"] as { content: JsonObject[] }[];
      const blocks = [
        ...(body["tools"] as []),
        ...(body["system"] as []),
        ...(turns[0]?.content ?? []),
      ];
      return blocks.map(({ cache_control }: JsonObject) => cache_control);
    };
    const hour = { type: "ephemeral", ttl: "1h" };
    assert.deepEqual(marks("24h"), [hour, hour, hour]);
    assert.deepEqual(marks("1h"), [hour, hour, hour]);
    const short = { type: "ephemeral" };
    assert.deepEqual(marks("in_memory"), [short, short, short]);
  });

  it("are not at the end of a question that nothing will follow", () => {
    assert.deepEqual(marksOf({}), ["A"]);
  });

  it("are the caller's own first, and never more than four", () => {
    const content = ["1", "2", "3", "4", "5"].map((words) => ({
      type: "input_text" as const,
      text: words,
      prompt_cache_breakpoint: { mode: "explicit" as const },
    }));
    const items: Item[] = [{ type: "message", role: "user", content }];
    assert.deepEqual(marksOf({ tools: [tool], items }), ["2", "3", "4", "5"]);
  });
});
