import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Json, type JsonObject, parseJson, tryParsePayload } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { createDecoder } from "../../../src/providers/gemini/decode.ts";
import { geminiWire } from "../../../src/providers/gemini/wire.ts";
import { assertEventOrder } from "../event-order.ts";
import { request } from "../provider-contract.ts";
import {
  decodeAll,
  decodeBody,
  endOf,
  itemsOf,
  readRecordings,
  readWholeAnswers,
  toSseBody,
} from "../recordings.ts";

const QUESTION: Item = { type: "message", role: "user", content: "Hello" };

const createFresh = () => createDecoder({ items: [QUESTION] });

/** The parts that the items become when they go back as history. */
function partsOf(items: readonly Item[], model = "gemini-3-pro-preview"): readonly JsonObject[] {
  const body = geminiWire.encode(request({ model, items: [QUESTION, ...items] }), {});
  const contents = body["contents"] as readonly { role: string; parts: readonly JsonObject[] }[];
  return contents.filter(({ role }) => role === "model").flatMap(({ parts }) => parts);
}

/** The recorded parts as one would write them in one piece: an own, slower reading of the same data. */
function expectedParts(chunks: readonly Json[]): JsonObject[] {
  const parts: Record<string, Json>[] = [];
  for (const part of chunks.flatMap(partsIn)) {
    const { text, thought, thoughtSignature, functionCall } = part as Record<string, never>;
    const last = parts.at(-1);
    const signed = thoughtSignature ? { thoughtSignature } : {};
    if (functionCall) readExpectedCall(parts, functionCall, signed);
    else if (text === "" && !thoughtSignature) continue;
    else if (
      last?.["text"] &&
      last["thought"] === thought &&
      !thoughtSignature &&
      !last["thoughtSignature"]
    )
      last["text"] = `${String(last["text"])}${String(text)}`;
    else parts.push({ text: String(text), ...(thought ? { thought } : {}), ...signed });
  }
  return parts;
}

function partsIn(chunk: Json): readonly JsonObject[] {
  const { candidates = [] } = chunk as { candidates?: { content?: { parts?: JsonObject[] } }[] };
  return candidates[0]?.content?.parts ?? [];
}

function readExpectedCall(
  parts: Record<string, Json>[],
  call: { name?: string; args?: JsonObject; partialArgs?: readonly Record<string, never>[] },
  signed: JsonObject,
): void {
  if (call.name)
    parts.push({ functionCall: { name: call.name, args: call.args ?? {} }, ...signed });
  const { args } = (parts.at(-1)?.["functionCall"] ?? {}) as { args: Record<string, never> };
  for (const { jsonPath, stringValue, numberValue } of call.partialArgs ?? []) {
    // `$.a.b[0].c` as `["a", "b", 0, "c"]`.
    const path = String(jsonPath)
      .slice(2)
      .split(/[.[\]]+/)
      .filter(Boolean);
    const last = path.pop() ?? "";
    let at: Record<string, never> = args;
    for (const [depth, key] of path.entries()) {
      at[key] ??= (/^\d+$/.test(path[depth + 1] ?? last) ? [] : {}) as never;
      at = at[key] ?? at;
    }
    at[last] = (numberValue ?? `${at[last] ?? ""}${String(stringValue)}`) as never;
  }
}

function assertWhole(events: readonly ModelEvent[]): void {
  assertEventOrder(events);
  const items = itemsOf(events);
  assert.ok(items.length > 0);
  const { usage, reason } = endOf(events);
  assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0);
  const calls = items.filter((item) => item.type === "function_call");
  assert.equal(reason, calls.length > 0 ? "tool_calls" : "stop");
  assert.equal(new Set(calls.map(({ call_id }) => call_id)).size, calls.length);
  for (const [index, item] of itemsOf(events).entries()) {
    const deltas = events.flatMap((event) =>
      event.type === "arguments_delta" && event.index === index ? [event.delta] : [],
    );
    if (item.type === "function_call") assert.equal(deltas.join(""), item.arguments);
  }
}

describe("gemini recordings", () => {
  const kinds: Readonly<Record<string, readonly string[]>> = {
    "google-reasoning.jsonl": ["message", "reasoning"],
    "google-stream-no-args-tool-call.jsonl": [
      "reasoning",
      "function_call",
      "function_call",
      "function_call",
      "function_call",
    ],
    "google-stream-tool-call-arguments.jsonl": ["reasoning", "function_call", "function_call"],
  };
  for (const { name, lines } of readRecordings("gemini")) {
    const chunks = lines.map((line) => tryParsePayload(line) ?? {});

    it(`decode to the same events however they are cut: ${name}`, () => {
      const body = toSseBody(lines);
      const events = decodeBody(createFresh(), body);
      assertWhole(events);
      for (const pieceBytes of [1, 2, 7, 64]) {
        assert.deepEqual(decodeBody(createFresh(), body, pieceBytes), events, `${pieceBytes}`);
      }
      assert.deepEqual(decodeAll(createFresh(), JSON.stringify(chunks)), events, "as one list");
      const types = itemsOf(events).map(({ type }) => type);
      assert.deepEqual(types, kinds[name] ?? types);
    });

    it(`go back as history part for part: ${name}`, () => {
      const items = itemsOf(decodeBody(createFresh(), toSseBody(lines)));
      assert.deepEqual(partsOf(items), expectedParts(chunks));
    });
  }

  for (const { name, body } of readWholeAnswers("gemini")) {
    const whole = parseJson(body, name) as JsonObject;
    if (whole["error"]) {
      it(`fail as the server says: ${name}`, () => {
        assert.throws(() => decodeAll(createFresh(), whole), { code: "provider_overloaded" });
      });
      continue;
    }
    it(`decode an answer that was not streamed, and go back: ${name}`, () => {
      const events = decodeAll(createFresh(), whole);
      assertWhole(events);
      assert.deepEqual(partsOf(itemsOf(events)), partsIn(whole));
    });
  }
});
