import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FailureCode } from "../../../src/base/failure.ts";
import { tryParsePayload } from "../../../src/base/json.ts";
import type { Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { assertEventOrder } from "../event-order.ts";
import {
  decodeAll,
  decodeBody,
  endOf,
  itemsOf,
  readRecordings,
  readWholeAnswers,
  terminalOf,
  toSseBody,
} from "../recordings.ts";
import { createResponsesDecoder } from "./wire-events.ts";

/** Recordings that are to fail, and how. */
const FAILING: Readonly<Record<string, FailureCode>> = {
  "openai-error.1.jsonl": "provider_rejected",
};

/** Servers that give their items other ids at the end than in the stream. */
const CHANGES_IDS: ReadonlySet<string> = new Set(["github-copilot-id-rotation.1.jsonl"]);

/** Recordings whose deltas were thinned out by hand. */
const SHORTENED: ReadonlySet<string> = new Set(["openai-phase.1.jsonl"]);

describe("responses recordings", () => {
  for (const recording of readRecordings("responses")) {
    const { name, lines } = recording;
    const body = toSseBody(lines);
    const failure = FAILING[name];
    if (failure !== undefined) {
      it(`fail as the server says, however they are cut: ${name}`, () => {
        for (const pieceBytes of [1, 2, 7, 64, body.length]) {
          assert.throws(() => decodeBody(createResponsesDecoder(), body, pieceBytes), {
            code: failure,
          });
        }
      });
      continue;
    }

    it(`decode to the same events however they are cut: ${name}`, () => {
      const events = decodeBody(createResponsesDecoder(), body);
      assertEventOrder(events);
      for (const pieceBytes of [1, 2, 7, 64]) {
        assert.deepEqual(
          decodeBody(createResponsesDecoder(), body, pieceBytes),
          events,
          `${pieceBytes}`,
        );
      }
    });

    it(`decode to the items of the server's own last word: ${name}`, () => {
      const events = decodeBody(createResponsesDecoder(), body);
      const { output, id } = terminalOf(recording);
      const toComparable = (item: object) => (CHANGES_IDS.has(name) ? { ...item, id: "" } : item);
      // Some servers leave the output of their last word empty: the items are those that came.
      const said = output.length > 0 ? output : lines.flatMap(itemDone);
      assert.deepEqual(itemsOf(events).map(toComparable), said.map(toComparable));
      assert.equal(endOf(events).continuation?.response_id, id);
    });

    it(`decode to deltas that say what the items say: ${name}`, () => {
      const events = decodeBody(createResponsesDecoder(), body);
      for (const event of events) {
        if (event.type !== "item_end" || textIn(event.item) === undefined) continue;
        const said = saidOf(events, event.index);
        const text = textIn(event.item);
        assert.equal(
          SHORTENED.has(name) ? text?.startsWith(said) : said,
          SHORTENED.has(name) || text,
        );
      }
    });
  }

  for (const { name, body } of readWholeAnswers("responses")) {
    const answer = JSON.parse(body);
    if (answer.object !== "response") {
      it(`fail as the server says: ${name}`, () => {
        assert.throws(() => decodeAll(createResponsesDecoder(), answer), {
          vendorCode: answer.error.code,
        });
      });
      continue;
    }
    it(`decode an answer that was not streamed: ${name}`, () => {
      assert.deepEqual(itemsOf(decodeAll(createResponsesDecoder(), answer)), answer.output);
    });
  }
});

function itemDone(line: string): object[] {
  const event = tryParsePayload(line) as { type?: string; item?: object } | undefined;
  return event?.type === "response.output_item.done" && event.item ? [event.item] : [];
}

/** What an item says that deltas say too; none for items that come whole. */
function textIn(item: Item): string | undefined {
  if (item.type === "function_call") return item.arguments;
  if (item.type === "custom_tool_call") return item.input;
  if (item.type !== "message" || typeof item.content === "string") return undefined;
  return item.content.map((part) => (part.type === "output_text" ? part.text : "")).join("");
}

function saidOf(events: readonly ModelEvent[], index: number): string {
  return events
    .map((event) => ("delta" in event && event.index === index ? event.delta : ""))
    .join("");
}
