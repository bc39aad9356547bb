/** Checks that an answer that is sent back as history keeps everything that the server needs. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { FunctionCall, Item } from "../../src/protocol/items.ts";
import { chatWire } from "../../src/providers/chat/wire.ts";
import { responsesWire } from "../../src/providers/responses/wire.ts";
import type { Wire } from "../../src/providers/wire.ts";
import { request } from "./provider-contract.ts";
import { decodeBody, itemsOf, type Stream, type StreamFolder, toSseBody } from "./streams.ts";

export function describeChatHistory(title: string, { streams }: StreamFolder): void {
  describe(title, () => {
    it("the recorded conversations contain tool calls", () =>
      assertSome(chatWire, streams, "function_call"));

    for (const stream of streams) {
      it(`keep every call and its answer together: ${stream.name}`, () => {
        const items = decode(chatWire, stream);
        const body = chatWire.encode(request({ items: withResults(items) }), {
          reasoningField: "reasoning_content",
        });
        const messages = body["messages"] as JsonObject[];
        const sent = messages.flatMap((message) => (message["tool_calls"] ?? []) as JsonObject[]);
        const calls = items.filter((item) => item.type === "function_call");
        assert.deepEqual(sent, calls.map(toChatCall));
        const results = messages.filter(({ role }) => role === "tool");
        assert.deepEqual(
          results.map((message) => message["tool_call_id"]),
          calls.map(({ call_id }) => call_id),
        );
      });
    }
  });
}

export function describeResponsesHistory(title: string, { streams }: StreamFolder): void {
  describe(title, () => {
    it("have messages and calls", () => {
      assertSome(responsesWire, streams, "message");
      assertSome(responsesWire, streams, "function_call");
    });

    for (const stream of streams) {
      it(`come back item for item: ${stream.name}`, () => {
        const items = decode(responsesWire, stream);
        const body = responsesWire.encode(request({ items }), { store: true });
        assert.deepEqual(body["input"], items);
      });

      it(`come back without items that a server that stores nothing does not know: ${stream.name}`, () => {
        const items = decode(responsesWire, stream);
        const input = responsesWire.encode(request({ items }), { store: false })["input"];
        const known = items.filter((item) => item.type !== "reasoning" || item.encrypted_content);
        assert.deepEqual(input, known);
      });
    }
  });
}

/** The items of a stream; none if the server reports a failure in it. */
function decode(wire: Wire, { lines }: Stream): Item[] {
  try {
    return itemsOf(decodeBody(wire.decoder(request(), {}), toSseBody(lines)));
  } catch (thrown) {
    assert.ok(thrown instanceof Failure && thrown.code !== "provider_broke_protocol", `${thrown}`);
    return [];
  }
}

function assertSome(wire: Wire, streams: readonly Stream[], type: Item["type"]): void {
  const items = streams.flatMap((stream) => decode(wire, stream));
  assert.ok(items.some((item) => item.type === type));
}

function withResults(items: readonly Item[]): Item[] {
  return items.flatMap((item): Item[] =>
    item.type === "function_call"
      ? [item, { type: "function_call_output", call_id: item.call_id, output: "ok" }]
      : [item],
  );
}

function toChatCall({ call_id, name, arguments: text }: FunctionCall): JsonObject {
  return { id: call_id, type: "function", function: { name, arguments: text } };
}
