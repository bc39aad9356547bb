import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import type { Tool } from "../../../src/protocol/tools.ts";
import { createDecoder } from "../../../src/providers/gemini/decode.ts";
import { toGeminiRequest } from "../../../src/providers/gemini/encode.ts";
import { request } from "../provider-contract.ts";

const CODE = { executableCode: { language: "PYTHON", code: "print(4)" }, thoughtSignature: "s" };
const RESULT = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "4\\n" } };
const GROUNDING = {
  webSearchQueries: ["a", "b"],
  groundingChunks: [{ web: { uri: "https://one.example.org/", title: "One" } }],
};

function read(model: string, type: string): { items: Item[]; calls: object | undefined } {
  const out: ModelEvent[] = [];
  const tools = [{ type }] as unknown as Tool[];
  const decoder = createDecoder({ items: [], tools, model });
  const parts = [CODE, RESULT, { text: "It is 4." }];
  const candidate = { content: { parts }, groundingMetadata: GROUNDING, finishReason: "STOP" };
  decoder.read(JSON.stringify({ responseId: "r", candidates: [candidate] }), out);
  decoder.end(out);
  const end = out.at(-1);
  assert.ok(end?.type === "end");
  const items = out.flatMap((event) => (event.type === "item_end" ? [event.item] : []));
  return { items, calls: end.usage.native_calls };
}

describe("a tool that Google runs", () => {
  it("is a call of the code interpreter if that was requested, and is sent back unchanged", () => {
    const { items } = read("gemini-3.8-flash", "code_interpreter");
    const call = items.find(({ type }) => type === "code_interpreter_call");
    assert.match(JSON.stringify(call), /"code":"print\(4\)","outputs":\[\{"type":"logs"/);
    const user: Item = { type: "message", role: "user", content: "Go." };
    const body = toGeminiRequest(request({ items: [user, ...items] }), "studio");
    assert.deepEqual(body.contents[1]?.parts.slice(0, 2), [CODE, RESULT]);
  });

  it("is parts of its own if its own tool was requested", () => {
    const types = read("gemini-3.8-flash", "code_execution").items.map(({ type }) => type);
    assert.deepEqual(types, ["google:executableCode", "google:codeExecutionResult", "message"]);
  });

  it("is billed for each search, and before Gemini 3 for each prompt", () => {
    const newer = read("gemini-3.8-flash", "web_search");
    assert.deepEqual(newer.calls, { google_search: 2, code_execution: 1 });
    assert.ok(newer.items.some(({ type }) => type === "web_search_call"));
    const older = read("gemini-2.5-flash", "google_search");
    assert.deepEqual(older.calls, { google_search: 1, code_execution: 1 });
  });
});
