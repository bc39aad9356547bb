import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseResponseEvent } from "../../src/protocol/response-events.ts";
import { OWN_STREAM_FACTS } from "../providers/responses/stream-facts.ts";
import { readOwnStreams } from "../providers/streams.ts";
import { describeParsedStreams } from "./parsed-streams-suite.ts";

describeParsedStreams("streams of responses", readOwnStreams("responses"), OWN_STREAM_FACTS);

describe("response events", () => {
  it("reads an error in either shape", () => {
    const nested = { type: "error", error: { type: "t", code: "c", message: "m", param: null } };
    const flat = { type: "error", code: null, message: "m", param: null, sequence_number: 3 };
    assert.deepEqual(parseResponseEvent(nested), nested);
    assert.deepEqual(parseResponseEvent(flat), flat);
  });

  it("names the field of a known event that is wrong", () => {
    const event = { type: "response.output_text.delta", item_id: "m", content_index: 0, delta: 1 };
    assert.throws(() => parseResponseEvent(event), {
      code: "invalid_request",
      param: "delta",
      message: "`delta` must be a string, not 1.",
    });
  });
});
