import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import fc from "fast-check";
import { createEventStreamReader } from "../../../../src/providers/bedrock/event-stream.ts";
import { encodeFrame } from "../../../../src/testing/bedrock/event-frames.ts";

/** The events of these bytes, given in pieces of that size. */
function read(bytes: Uint8Array, pieceBytes = bytes.length || 1): unknown[] {
  const events: unknown[] = [];
  const reader = createEventStreamReader((data) => events.push(JSON.parse(data)));
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    reader.push(bytes.subarray(from, from + pieceBytes));
  }
  reader.end();
  return events;
}

const FRAMES = Buffer.concat([
  encodeFrame("messageStart", '{"role":"assistant"}'),
  encodeFrame("contentBlockDelta", '{"delta":{"text":"Grüße 👋"}}'),
  encodeFrame("messageStop", ""),
]);
const EVENTS = [
  { messageStart: { role: "assistant" } },
  { contentBlockDelta: { delta: { text: "Grüße 👋" } } },
  { messageStop: {} },
];

describe("an AWS event stream", () => {
  for (const size of [1, 2, 7, 64, 1000]) {
    it(`reads the same from pieces of ${size} bytes`, () => {
      assert.deepEqual(read(FRAMES, size), EVENTS);
    });
  }

  it("refuses every frame in which one bit is wrong", () => {
    fc.assert(
      fc.property(fc.nat(FRAMES.length * 8 - 1), fc.integer({ min: 1, max: 90 }), (bit, size) => {
        const damaged = Buffer.from(FRAMES);
        damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        assert.throws(() => read(damaged, size), { code: "provider_broke_protocol" });
      }),
      { numRuns: 300 },
    );
  });

  it("does not wait for an impossible length", () => {
    const huge = Buffer.from(FRAMES.subarray(0, 12));
    huge.writeUInt32BE(0xffffffff, 0);
    assert.throws(() => read(huge), /checksum of a frame's head/);
    assert.throws(() => read(Buffer.alloc(12)), { code: "provider_broke_protocol" });
  });

  it("that ends inside a frame breaks the protocol", () => {
    for (const end of [1, 11, 12, 40, FRAMES.length - 1]) {
      assert.throws(() => read(FRAMES.subarray(0, end)), /ended inside a frame/);
    }
    assert.deepEqual(read(Buffer.alloc(0)), []);
  });

  it("names exceptions, and errors that have none", () => {
    const exception = encodeFrame("throttlingException", '{"message":"Slow down"}', "exception");
    assert.deepEqual(read(exception), [{ throttlingException: { message: "Slow down" } }]);
    const error = codec.encode({
      headers: {
        ":message-type": { type: "string", value: "error" },
        ":error-code": { type: "string", value: "InternalError" },
        ":error-message": { type: "string", value: "It broke" },
      },
      body: new Uint8Array(),
    });
    assert.deepEqual(read(error), [{ error: { code: "InternalError", message: "It broke" } }]);
  });

  it("skips headers of every other type", () => {
    const frame = codec.encode({
      headers: {
        yes: { type: "boolean", value: true },
        byte: { type: "byte", value: 1 },
        short: { type: "short", value: 2 },
        integer: { type: "integer", value: 3 },
        binary: { type: "binary", value: new Uint8Array([1, 2]) },
        time: { type: "timestamp", value: new Date(0) },
        uuid: { type: "uuid", value: "01234567-89ab-cdef-0123-456789abcdef" },
        ":event-type": { type: "string", value: "messageStop" },
      },
      body: Buffer.from("{}"),
    });
    assert.deepEqual(read(frame), [{ messageStop: {} }]);
  });

  it("in our form is read by the vendor's own code", () => {
    const { headers, body } = codec.decode(encodeFrame("messageStop", '{"a":1}'));
    assert.equal(headers[":event-type"]?.value, "messageStop");
    assert.equal(headers[":message-type"]?.value, "event");
    assert.equal(Buffer.from(body).toString(), '{"a":1}');
  });
});

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString("utf8"),
  (text) => Buffer.from(text, "utf8"),
);
