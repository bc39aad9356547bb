import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NOTHING_DRAWN, toFrame } from "../../../src/cli/screen/frame.ts";
import { createMarkdownStream } from "../../../src/cli/screen/markdown/markdown-stream.ts";
import { plainRow } from "../../../src/cli/screen/rows.ts";

const PARAGRAPH =
  "The parser reads one line after the other, and **keeps** what is open in `state`. It gives back what is finished, so that nothing is read twice, however long the input is.\n\n- a first point of a list\n- a second one, which is longer than the first\n\n";
const ANSWER = PARAGRAPH.repeat(Math.ceil(100_000 / PARAGRAPH.length)).slice(0, 100_000);

/** The bytes that a terminal gets for the answer, with this many characters in each frame. */
function countBytes(perFrame: number): number {
  const stream = createMarkdownStream();
  const status = [
    plainRow("⠋ answering · 12 s"),
    plainRow("> "),
    plainRow("vendor/model · context 12% of 200k"),
  ];
  const size = { columns: 80, rows: 24, reflows: true };
  let drawn = NOTHING_DRAWN;
  let bytes = 0;
  for (let at = 0; at < ANSWER.length; at += perFrame) {
    stream.push(ANSWER.slice(at, at + perFrame));
    const { finished, open } = stream.take({ columns: 80, maxOpen: 12, isStyled: true });
    const picture = {
      rows: [...open, ...status],
      caret: { row: open.length + 1, before: plainRow("> ") },
    };
    const frame = toFrame(drawn, { finished, picture, size, isStyled: true });
    drawn = frame.drawn;
    bytes += Buffer.byteLength(frame.bytes);
  }
  return bytes;
}

describe("a streamed answer of 100,000 characters", () => {
  for (const perFrame of [500, 1000, 2000, 5000]) {
    it(`costs at most 1.3 bytes for each, at ${perFrame} characters a frame`, () => {
      const bytes = countBytes(perFrame);
      assert.ok(bytes <= ANSWER.length * 1.3, `${bytes} bytes`);
    });
  }

  it("is never drawn again as a whole: a slow one costs a bounded sum for each frame", () => {
    const frames = ANSWER.length / 20;
    const bytes = countBytes(20);
    assert.ok(bytes <= ANSWER.length * 1.2 + frames * 60, `${bytes} bytes`);
  });
});
