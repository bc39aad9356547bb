import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tryParsePayload } from "../../../src/base/json.ts";
import { assertEventOrder } from "../event-order.ts";
import { assertDeltas } from "../said-deltas.ts";
import {
  decodeAll,
  decodeBody,
  endOf,
  itemsOf,
  type Stream,
  type StreamFolder,
  terminalOf,
  toSseBody,
} from "../streams.ts";
import { namesIn, type StreamFacts } from "./stream-facts.ts";
import { createResponsesDecoder } from "./wire-events.ts";

/** Tests for every stream and answer of this wire, from any source. */
export function describeResponsesStreams(
  title: string,
  { streams, answers }: StreamFolder,
  facts: StreamFacts,
): void {
  describe(title, () => {
    it("the recorded streams exist", () => {
      const names = new Set(streams.map(({ name }) => name));
      assert.ok(names.size > 0 && answers.length > 0);
      assert.deepEqual(
        namesIn(facts).filter((name) => !names.has(name)),
        [],
      );
    });

    for (const stream of streams) {
      const code = facts.failing[stream.name];
      if (code === undefined) describeStream(stream, facts);
      else {
        it(`fail with the server's message, however they are split: ${stream.name}`, () => {
          const body = toSseBody(stream.lines);
          for (const pieceBytes of [1, 2, 7, 64, body.length]) {
            assert.throws(() => decodeBody(createResponsesDecoder(), body, pieceBytes), { code });
          }
        });
      }
    }

    for (const { name, body } of answers) {
      const answer = JSON.parse(body);
      if (answer.error) {
        it(`fail with the server's message: ${name}`, () => {
          const failure = { vendorCode: answer.error.code };
          assert.throws(() => decodeAll(createResponsesDecoder(), answer), failure);
        });
        continue;
      }
      it(`decode an answer that was not streamed: ${name}`, () => {
        const events = decodeAll(createResponsesDecoder(), answer);
        assertEventOrder(events);
        assert.deepEqual(itemsOf(events), answer.output);
        assertDeltas(events);
      });
    }
  });
}

function describeStream(stream: Stream, { changesIds, shortened }: StreamFacts): void {
  const { name, lines } = stream;
  const body = toSseBody(lines);

  it(`decode to the same events however they are split: ${name}`, () => {
    const events = decodeBody(createResponsesDecoder(), body);
    assertEventOrder(events);
    for (const pieceBytes of [1, 2, 7, 64]) {
      const again = decodeBody(createResponsesDecoder(), body, pieceBytes);
      assert.deepEqual(again, events, `${pieceBytes}`);
    }
  });

  it(`decode to the items and the usage of the server's last event: ${name}`, () => {
    const events = decodeBody(createResponsesDecoder(), body);
    const { id, usage } = terminalOf(stream);
    const toComparable = (item: object) => (changesIds.includes(name) ? { ...item, id: "" } : item);
    assert.deepEqual(itemsOf(events).map(toComparable), saidItems(stream).map(toComparable));
    const end = endOf(events);
    assert.equal(end.continuation?.response_id, id);
    assert.deepEqual(
      [end.usage.input_tokens, end.usage.output_tokens],
      [usage.input_tokens, usage.output_tokens],
    );
  });

  it(`decode to deltas with the same text as the items: ${name}`, () => {
    const events = decodeBody(createResponsesDecoder(), body);
    assertDeltas(events, { isShortened: shortened.includes(name) });
  });
}

/** Some servers leave the output of their last event empty: the items are then those of the stream. */
export function saidItems(stream: Stream): readonly object[] {
  const { output } = terminalOf(stream);
  if (output.length > 0) return output;
  return stream.lines.flatMap((line) => {
    const event = tryParsePayload(line) as { type?: string; item?: object } | undefined;
    return event?.type === "response.output_item.done" && event.item ? [event.item] : [];
  });
}
