import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLineReader } from "../../src/base/lines.ts";

type Endings = "lf" | "any";

/** The lines of the pieces, each pushed by itself. */
function linesOf(endings: Endings, ...pieces: readonly (string | Uint8Array)[]): string[] {
  const lines: string[] = [];
  const reader = createLineReader({ endings, onLine: (line) => void lines.push(line) });
  for (const piece of pieces) {
    reader.push(typeof piece === "string" ? Buffer.from(piece) : piece);
  }
  reader.end();
  return lines;
}

describe("line reader", () => {
  const bodies: readonly [name: string, body: string, lines: readonly string[]][] = [
    ["LF", "a\nb\n", ["a", "b"]],
    ["CR", "a\rb\r", ["a", "b"]],
    ["CRLF", "a\r\nb\r\n", ["a", "b"]],
    ["all three mixed", "a\rb\nc\r\nd\n\re", ["a", "b", "c", "d", "", "e"]],
    ["blank lines", "\n\r\n\ra\r\r", ["", "", "", "a", ""]],
    ["a last line without its end", "a\nb", ["a", "b"]],
    ["a byte order mark", "\ufeffa\n", ["a"]],
    ["a byte order mark in the middle, which is text", "a\n\ufeffb\n", ["a", "\ufeffb"]],
    ["a byte order mark and nothing else", "\ufeff", []],
    ["nothing", "", []],
    ["characters of one to four bytes", "aé€😀\r\nß\n", ["aé€😀", "ß"]],
  ];
  for (const [name, body, lines] of bodies) {
    it(`gives the same lines wherever the bytes are split: ${name}`, () => {
      const bytes = Buffer.from(body);
      for (let first = 0; first <= bytes.length; first++) {
        for (let second = first; second <= bytes.length; second++) {
          const pieces = [
            bytes.subarray(0, first),
            bytes.subarray(first, second),
            bytes.subarray(second),
          ];
          assert.deepEqual(linesOf("any", ...pieces), lines, `cut at ${first} and ${second}`);
        }
      }
    });
  }

  it("does not take the LF after a CRLF for a part of it", () => {
    assert.deepEqual(linesOf("any", "a\r", "\n", "\nb"), ["a", "", "b"]);
  });

  it("gives a line at its CR, not only when the next byte is known", () => {
    const lines: string[] = [];
    const reader = createLineReader({ endings: "any", onLine: (line) => void lines.push(line) });
    reader.push(Buffer.from("a\r"));
    assert.deepEqual(lines, ["a"]);
  });

  it("ignores empty pieces, also between CR and LF and before the byte order mark", () => {
    assert.deepEqual(linesOf("any", "", "\ufeff", "", "a\r", "", "\nb", ""), ["a", "b"]);
  });

  it("splits JSON lines at LF alone: CR and a byte order mark belong to the text", () => {
    assert.deepEqual(linesOf("lf", '\ufeff{"a":1}\r\n{"b":"x\ry"}\n', "c\r", "\nd"), [
      '\ufeff{"a":1}\r',
      '{"b":"x\ry"}',
      "c\r",
      "d",
    ]);
  });

  it("shows a character that the end of the body cuts as a replacement", () => {
    assert.deepEqual(linesOf("any", Buffer.from("a€").subarray(0, 3)), ["a\ufffd"]);
  });

  it("joins a line of 10 MB out of pieces of 64 bytes", () => {
    let chars = 0;
    const reader = createLineReader({
      endings: "any",
      onLine: (line) => {
        chars += line.length;
      },
    });
    const piece = Buffer.alloc(64, "x");
    for (let pushed = 0; pushed < 10 * 1024 * 1024; pushed += piece.length) reader.push(piece);
    reader.push(Buffer.from("\n"));
    assert.equal(chars, 10 * 1024 * 1024);
  });

  it("refuses a line that grows beyond 64 MB, and no line of less", () => {
    const reader = createLineReader({ endings: "any", onLine: () => {} });
    const megabyte = Buffer.alloc(1024 * 1024, "x");
    for (let pushed = 0; pushed < 64; pushed++) reader.push(megabyte);
    assert.throws(() => reader.push(megabyte), { code: "provider_broke_protocol" });
  });

  it("passes on what the reader of a line throws", () => {
    const reader = createLineReader({
      endings: "lf",
      onLine: (line) => assert.fail(`refused ${line}`),
    });
    assert.throws(() => reader.push(Buffer.from("a\n")), /refused a/);
    reader.push(Buffer.from("b"));
    assert.throws(() => reader.end(), /refused b/);
  });
});
