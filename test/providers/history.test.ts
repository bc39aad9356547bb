/** What was recorded, given back as history: nothing that the server needs is lost on the way. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Failure } from "../../src/base/failure.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Item } from "../../src/protocol/items.ts";
import { chatWire } from "../../src/providers/chat/wire.ts";
import { responsesWire } from "../../src/providers/responses/wire.ts";
import type { Wire } from "../../src/providers/wire.ts";
import { request } from "./provider-contract.ts";
import { decodeBody, itemsOf, type Recording, readRecordings, toSseBody } from "./recordings.ts";

/** The items of a recording; none where it is one of a failure. */
function decode(wire: Wire, { lines }: Recording): Item[] {
  try {
    return itemsOf(decodeBody(wire.decoder(request(), {}), toSseBody(lines)));
  } catch (thrown) {
    assert.ok(thrown instanceof Failure);
    return [];
  }
}

function withResults(items: readonly Item[]): Item[] {
  return items.flatMap((item): Item[] =>
    item.type === "function_call"
      ? [item, { type: "function_call_output", call_id: item.call_id, output: "ok" }]
      : [item],
  );
}

describe("chat answers as history", () => {
  for (const recording of readRecordings("chat")) {
    it(`keep every call and its answer together: ${recording.name}`, () => {
      const items = decode(chatWire, recording);
      const body = chatWire.encode(request({ items: withResults(items) }), {
        reasoningField: "reasoning_content",
      });
      const messages = body["messages"] as JsonObject[];
      for (const item of items) {
        if (item.type !== "function_call") continue;
        const call = {
          id: item.call_id,
          type: "function",
          function: { name: item.name, arguments: item.arguments },
        };
        assert.ok(
          messages.some((message) =>
            JSON.stringify(message["tool_calls"] ?? []).includes(JSON.stringify(call)),
          ),
        );
        assert.ok(messages.some((message) => message["tool_call_id"] === item.call_id));
      }
    });
  }
});

describe("Responses answers as history", () => {
  for (const recording of readRecordings("responses")) {
    it(`come back item for item: ${recording.name}`, () => {
      const items = decode(responsesWire, recording);
      const body = responsesWire.encode(request({ items }), { store: true });
      assert.deepEqual(body["input"], items);
    });

    it(`come back without what an unstored server does not know: ${recording.name}`, () => {
      const items = decode(responsesWire, recording);
      const input = responsesWire.encode(request({ items }), { store: false })["input"];
      const known = items.filter((item) => item.type !== "reasoning" || item.encrypted_content);
      assert.deepEqual(input, known);
    });
  }
});
