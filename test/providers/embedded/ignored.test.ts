/** The parameters that the embedded model ignores and reports. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ContentPart } from "../../../src/protocol/content.ts";
import type { Item } from "../../../src/protocol/items.ts";
import { createEmbeddedProvider } from "../../../src/providers/embedded/provider.ts";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { patience } from "../../patience.ts";
import { ask, listen } from "./replies.ts";

/** The names in its notices. */
async function ignoredIn(request: ModelRequest): Promise<readonly string[]> {
  const named: string[] = [];
  const stream = createEmbeddedProvider().stream(request, {
    signal: patience(),
    notice: ({ code, message, params = [] }) => {
      assert.equal(code, "dropped");
      for (const name of params) assert.ok(message.includes(`\`${name}\``), message);
      named.push(...params);
    },
  });
  for await (const _ of stream);
  return named;
}

const CONVERT: ContentPart = { type: "input_text", text: "Convert it." };

const saying = (...content: ContentPart[]): ModelRequest =>
  ask([
    {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "What is it?" }, ...content],
    },
  ]);

const toBase64 = (text: string): string => Buffer.from(text).toString("base64");

describe("what the embedded model leaves out", () => {
  it("is named in the spelling of requests", async () => {
    const options = { stop: ["x"], verbosity: "low", top_logprobs: 0, user: "u" } as const;
    const request = ask("Hello", { temperature: 0, top_p: 1, options });
    assert.deepEqual([...(await ignoredIn(request))].sort(), [
      "stop",
      "temperature",
      "text.verbosity",
      "top_logprobs",
      "top_p",
      "user",
    ]);
  });

  it("is empty for a request without such parameters", async () => {
    const reasoning = { effort: "high", summary: "auto" } as const;
    const request = ask("Hello", { reasoning, max_output_tokens: 9, parallel_tool_calls: false });
    assert.deepEqual(await ignoredIn(request), []);
  });

  it("contains unreadable parts anywhere, once for each kind", async () => {
    const image = { type: "input_image", image_url: "data:image/png;base64,AA==" } as const;
    const pdf = { type: "input_file", filename: "a.pdf", file_data: "JVBERg==" } as const;
    const sound = { type: "input_audio", data: "AA==", format: "wav" } as const;
    assert.deepEqual(await ignoredIn(saying(image, image, pdf, sound)), [
      "input_image",
      "input_file",
      "input_audio",
    ]);
    const { items } = saying();
    const call_id = "c";
    const looked: Item[] = [
      { type: "function_call", call_id, name: "look", arguments: "{}" },
      { type: "function_call_output", call_id, output: [image] },
    ];
    assert.deepEqual(await ignoredIn(ask([...items, ...looked])), ["input_image"]);
  });

  it("does not contain text files, recognized by their data or their name", async () => {
    const format = { type: "json_object" } as const;
    for (const file of [
      { file_data: `data:text/plain;base64,${toBase64('{"zebra":1}')}` },
      {
        file_data: `data:application/octet-stream;base64,${toBase64('{"zebra":1}')}`,
        filename: "a.md",
      },
      { file_data: toBase64('{"zebra":1}'), filename: "a.txt" },
    ]) {
      const request = { ...saying({ type: "input_file", ...file }), format };
      assert.deepEqual(await ignoredIn(request), []);
      const converting = request.items.map((item) =>
        item.type === "message" && typeof item.content !== "string"
          ? { ...item, content: [CONVERT, ...item.content.slice(1)] }
          : item,
      );
      assert.match((await listen({ ...request, items: converting })).text, /zebra/);
    }
  });

  it("contains office documents, although they are made of XML", async () => {
    const type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    const file_data = `data:${type};base64,${toBase64("PK")}`;
    const request = saying({ type: "input_file", filename: "a.docx", file_data });
    assert.deepEqual(await ignoredIn(request), ["input_file"]);
  });
});
