import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createSseReader, encodeSse } from "../../src/base/sse.ts";

type Event = readonly [event: string, data: string];

function eventsOf(...pieces: readonly (string | Uint8Array)[]): Event[] {
  const events: Event[] = [];
  const reader = createSseReader((data, event) => void events.push([event, data]));
  for (const piece of pieces) {
    reader.push(typeof piece === "string" ? Buffer.from(piece) : piece);
  }
  reader.end();
  return events;
}

describe("SSE reader", () => {
  const bodies: readonly [name: string, body: string, events: readonly Event[]][] = [
    ["an event", "event: a\ndata: 1\n\n", [["a", "1"]]],
    ["an event without a name", "data: 1\n\n", [["", "1"]]],
    [
      "the name of one event is not that of the next",
      "event: a\ndata: 1\n\ndata: 2\n\n",
      [
        ["a", "1"],
        ["", "2"],
      ],
    ],
    [
      "CR line ends",
      "data: 1\r\rdata: 2\r\r",
      [
        ["", "1"],
        ["", "2"],
      ],
    ],
    [
      "CRLF line ends",
      "data: 1\r\n\r\ndata: 2\r\n\r\n",
      [
        ["", "1"],
        ["", "2"],
      ],
    ],
    [
      "mixed line ends",
      "data: 1\r\n\rdata: 2\n\r\ndata: 3\r\n\n",
      [
        ["", "1"],
        ["", "2"],
        ["", "3"],
      ],
    ],
    ["a byte order mark", "\ufeffdata: 1\n\n", [["", "1"]]],
    ["comments", ": keep-alive\n:\ndata: 1\n: between\n\n:data: 2\n\n", [["", "1"]]],
    ["several data lines", "data: a\ndata:\ndata: b\n\n", [["", "a\n\nb"]]],
    ["`data` without a colon", "data\n\n", [["", ""]]],
    ["two of them are a line break", "data\ndata\n\n", [["", "\n"]]],
    ["no space after the colon", "event:a\ndata:1\n\n", [["a", "1"]]],
    ["only one space is taken away", "data:  1 \n\n", [["", " 1 "]]],
    ["a colon in the data", "data: a: b\n\n", [["", "a: b"]]],
    ["a tab is part of the data", "data:\t1\n\n", [["", "\t1"]]],
    ["unknown fields", "foo: bar\ndatabase: 3\nDATA: 4\n data: 5\ndata: 1\n\n", [["", "1"]]],
    ["`id` and `retry`", "id: 7\nretry: 10\ndata: 1\n\n", [["", "1"]]],
    ["an event without data", "event: a\n\ndata: 1\n\n", [["", "1"]]],
    ["the last of two names", "event: a\nevent: b\ndata: 1\n\n", [["b", "1"]]],
    ["a name that is taken back", "event: a\nevent\ndata: 1\n\n", [["", "1"]]],
    [
      "no last blank line",
      "data: 1\n\ndata: 2\n",
      [
        ["", "1"],
        ["", "2"],
      ],
    ],
    [
      "no last line end",
      "data: 1\n\ndata: 2",
      [
        ["", "1"],
        ["", "2"],
      ],
    ],
    ["blank lines alone", "\n\n\r\n", []],
    ["characters of one to four bytes", "event: é\ndata: a€😀\n\n", [["é", "a€😀"]]],
  ];
  for (const [name, body, events] of bodies) {
    it(`reads a body, split at every byte or not at all: ${name}`, () => {
      assert.deepEqual(eventsOf(body), events);
      const bytes = Buffer.from(body);
      assert.deepEqual(eventsOf(...Array.from(bytes, (byte) => Uint8Array.of(byte))), events);
      for (let cut = 0; cut <= bytes.length; cut++) {
        assert.deepEqual(eventsOf(bytes.subarray(0, cut), bytes.subarray(cut)), events, `${cut}`);
      }
    });
  }

  it("gives an event at its blank line, not at the next one", () => {
    const events: string[] = [];
    const reader = createSseReader((data) => void events.push(data));
    reader.push(Buffer.from("data: 1\n"));
    assert.deepEqual(events, []);
    reader.push(Buffer.from("\n"));
    assert.deepEqual(events, ["1"]);
  });

  it("gives nothing twice when the body ends", () => {
    assert.deepEqual(eventsOf("data: 1\n\n", ""), [["", "1"]]);
  });

  it("reads back whatever was encoded, with any line ends, split anywhere", () => {
    const name = fc.stringMatching(/^[a-z_.]{1,12}$/);
    const frames = fc.array(fc.tuple(name, fc.dictionary(fc.string(), fc.jsonValue())), {
      maxLength: 8,
    });
    const lineEnds = fc.array(fc.constantFrom("\n", "\r", "\r\n"), { minLength: 1, maxLength: 9 });
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });
    const property = fc.property(frames, lineEnds, cuts, (sent, ends, sizes) => {
      const text = sent.map(([event, data]) => encodeSse(event, data)).join("");
      const bytes = Buffer.from(withLineEnds(text, ends));
      const read = eventsOf(...cutInPieces(bytes, sizes));
      assert.deepEqual(
        read,
        sent.map(([event, data]) => [event, JSON.stringify(data)]),
      );
    });
    fc.assert(property, { numRuns: 200, seed: 1 });
  });
});

describe("encodeSse", () => {
  it("writes one frame, its payload on one line", () => {
    assert.equal(
      encodeSse("output_text", { delta: "a\nb\r" }),
      'event: output_text\ndata: {"delta":"a\\nb\\r"}\n\n',
    );
  });
});

/** Replaces each LF by the next of the ends, which go round. A CR before a blank line's LF is one end. */
function withLineEnds(text: string, ends: readonly string[]): string {
  let at = 0;
  let last = "";
  return text.replace(/\n/g, (_, offset: number) => {
    const end = ends[at++ % ends.length] ?? "\n";
    const isJoined = last === "\r" && end === "\n" && text[offset - 1] === "\n";
    last = isJoined ? "\r\n" : end;
    return last;
  });
}

function cutInPieces(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let from = 0, at = 0; from < bytes.length; at++) {
    const size = sizes[at % sizes.length] ?? 1;
    pieces.push(bytes.subarray(from, from + size));
    from += size;
  }
  return pieces;
}
