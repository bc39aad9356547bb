/** Answers of servers that leave out a field, or send one in the wrong place. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import type { Tool } from "../../../src/protocol/tools.ts";
import { NO_USAGE, toUsage } from "../../../src/protocol/usage.ts";
import { assertEventOrder } from "../event-order.ts";
import { endOf, itemsOf } from "../streams.ts";
import { CLAUDE, decodeFrames, decodeWhole, NOVA, toFrames } from "./converse.ts";

const STOP = { messageStop: { stopReason: "end_turn" } };
const delta = (piece: JsonObject): JsonObject => ({
  contentBlockDelta: { contentBlockIndex: 0, delta: piece },
});

function decode(...events: readonly JsonObject[]): ModelEvent[] {
  const decoded = decodeFrames(toFrames(events), { model: CLAUDE });
  assertEventOrder(decoded);
  return decoded;
}

/** The texts of the messages. */
function textsOf(events: readonly ModelEvent[]): string[] {
  return itemsOf(events).flatMap((item) =>
    item.type === "message" && typeof item.content !== "string"
      ? item.content.flatMap((part) => (part.type === "output_text" ? [part.text] : []))
      : [],
  );
}

describe("a converse stream", () => {
  it("may have no reason for its end, and no counts", () => {
    const events = decode(delta({ text: "A" }), { messageStop: {} }, { metadata: {} });
    assert.deepEqual(textsOf(events), ["A"]);
    assert.equal(endOf(events).reason, "stop");
    assert.deepEqual(endOf(events).usage, toUsage({}));
  });

  it("may have blocks without a number: they are the first", () => {
    const start = { toolUse: { toolUseId: "a", name: "read" } };
    const events = decode(
      { contentBlockStart: { start } },
      { contentBlockDelta: { delta: { toolUse: { input: "{}" } } } },
      { contentBlockStop: {} },
      STOP,
    );
    assert.deepEqual(
      itemsOf(events).map((item) => item.type === "function_call" && item.arguments),
      ["{}"],
    );
  });

  it("is broken if its reason names a tool that it did not call", () => {
    const toolUse = { toolUseId: "s1", name: "nova_grounding", type: "server_tool_use" };
    const own = { contentBlockStart: { start: { toolUse } } };
    for (const events of [[], [delta({ text: "Let me see." })], [own]]) {
      const sent = [...events, { messageStop: { stopReason: "tool_use" } }];
      assert.throws(() => decode(...sent), { code: "broken_answer" });
    }
  });

  it("adds nothing after the reason for its end", () => {
    const start = { toolUse: { toolUseId: "a", name: "read" } };
    const late = [
      delta({ text: "B" }),
      { contentBlockStart: { contentBlockIndex: 1, start } },
      { metadata: { usage: { inputTokens: 1, outputTokens: 1 } } },
    ];
    const events = decode(delta({ text: "A" }), STOP, ...late);
    assert.deepEqual(textsOf(events), ["A"]);
    assert.equal(itemsOf(events).length, 1);
    assert.equal(endOf(events).usage.total_tokens, 2);
  });

  it("has no item for a source without a text, or for an empty piece", () => {
    const citation = { title: "X", location: { web: { url: "https://x.example" } } };
    const image = { source: { bytes: "AAAA" } };
    const events = decode(delta({ citation }), delta({ image }), delta({ toolResult: [] }), STOP);
    assert.deepEqual(itemsOf(events), []);
  });

  it("may have a source without a title", () => {
    const citation = { location: { web: { url: "https://x.example" } } };
    const events = decode(delta({ text: "A" }), delta({ citation }), STOP);
    assert.deepEqual(
      events.flatMap((event) => (event.type === "annotation" ? [event.annotation] : [])),
      [{ type: "url_citation", url: "https://x.example", title: "" }],
    );
  });

  const failures: readonly [payload: JsonObject, vendorCode: string][] = [
    [{ Message: "It broke" }, "modelStreamErrorException"],
    [{ originalMessage: "It broke", originalStatusCode: 500 }, "modelStreamErrorException"],
    [{ code: "own_code", message: "It broke" }, "own_code"],
  ];
  for (const [payload, vendorCode] of failures) {
    it(`reports a failure under any field name: ${Object.keys(payload)[0]}`, () => {
      assert.throws(() => decode({ modelStreamErrorException: payload }), {
        code: "provider_failed",
        vendorCode,
        message: /It broke/,
      });
    });
  }
});

describe("a converse answer in one piece", () => {
  const decodeAnswer = (answer: JsonObject): ModelEvent[] => {
    const events = decodeWhole(JSON.stringify(answer), { model: CLAUDE });
    assertEventOrder(events);
    return events;
  };

  it("may have no message, no reason and no counts", () => {
    for (const output of [null, {}, { message: {} }]) {
      const events = decodeAnswer({ output });
      assert.deepEqual(itemsOf(events), []);
      assert.equal(endOf(events).reason, "stop");
      assert.deepEqual(endOf(events).usage, NO_USAGE);
    }
  });

  it("has no item for empty blocks", () => {
    const content = [{ reasoningContent: {} }, { citationsContent: {} }, { text: "A" }];
    const events = decodeAnswer({ output: { message: { content } }, stopReason: "end_turn" });
    assert.deepEqual(textsOf(events), ["A"]);
    assert.equal(itemsOf(events).length, 1);
  });

  it("has no item for a block of null, and does not decide its kind by such a field", () => {
    const video = { format: "mp4", source: { bytes: "AAAA" } };
    const content = [{ toolUse: null }, { text: null }, { toolUse: null, video }, { text: "A" }];
    const events = decodeAnswer({ output: { message: { content } }, stopReason: "end_turn" });
    assert.deepEqual(
      itemsOf(events).map(({ type }: { type: string }) => type),
      ["bedrock:video", "message"],
    );
    assert.deepEqual(endOf(events).usage, NO_USAGE);
  });
});

describe("a search that the vendor made", () => {
  const tools = [{ type: "web_search" }] as unknown as Tool[];
  const idsOf = (events: readonly ModelEvent[]): string[] => {
    assertEventOrder(events);
    return events.flatMap((event) =>
      "item" in event && event.item.type === "web_search_call" ? [event.item.id ?? ""] : [],
    );
  };
  const own = { name: "nova_grounding", type: "server_tool_use", input: { query: "Öresund" } };

  for (const given of [undefined, null, 7, {}, ""]) {
    const toolUse = given === undefined ? own : { ...own, toolUseId: given };

    it(`has an id, also if the server sends ${JSON.stringify(given)}`, () => {
      const start = { contentBlockStart: { start: { toolUse } } } as JsonObject;
      const events = decodeFrames(toFrames([start, STOP]), { model: NOVA, tools });
      assert.deepEqual(idsOf(events), ["search_0", "search_0"]);
    });

    it(`has an id in a whole answer, too: ${JSON.stringify(given)}`, () => {
      const answer = { output: { message: { content: [{ text: "A" }, { toolUse }] } } };
      const events = decodeWhole(JSON.stringify(answer), { model: NOVA, tools });
      assert.deepEqual(idsOf(events), ["search_1", "search_1"]);
    });
  }

  it("has an id of its own, even if the vendor sends one twice", () => {
    const toolUse = { ...own, toolUseId: "s1" };
    const content = [{ toolUse }, { toolUse }];
    const answer = { output: { message: { content } }, stopReason: "end_turn" };
    const events = decodeWhole(JSON.stringify(answer), { model: NOVA, tools });
    assert.deepEqual(idsOf(events), ["s1", "s1", "search_1", "search_1"]);
  });
});
