/** Frames that are written by hand say what JSON says. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { EmittedEvent } from "../../src/protocol/emitted.ts";
import { toFrames } from "../../src/server/sse-frames.ts";

const delta = fc.record({
  type: fc.constant("response.output_text.delta"),
  item_id: fc.constantFrom("msg_1", "msg_2", 'msg_"3"'),
  output_index: fc.constantFrom(0, 1),
  content_index: fc.constantFrom(0, 1),
  delta: fc.oneof(fc.string(), fc.string({ unit: "binary" })),
  logprobs: fc.constantFrom([], [{ token: "a", logprob: -1, bytes: [97], top_logprobs: [] }]),
  sequence_number: fc.nat(),
});
const other = fc.record({
  type: fc.constantFrom("response.output_text.done", "response.content_part.added"),
  item_id: fc.string(),
  sequence_number: fc.nat(),
});
const batches = fc.array(fc.oneof(delta, other)) as fc.Arbitrary<unknown> as fc.Arbitrary<
  EmittedEvent[]
>;

describe("toFrames", () => {
  it("writes what `JSON.stringify` writes, whichever parts the deltas of a batch are of", () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const expected = batch.map((event) => {
          return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
        });
        assert.equal([...toFrames(batch)].join(""), expected.join(""));
      }),
    );
  });
});
