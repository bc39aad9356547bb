import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createMessageLines,
  findRequestId,
} from "../../../../src/tools/mcp/session/message-lines.ts";

interface Heard {
  readonly lines: string[];
  readonly tooLong: { head: string; tail: string }[];
  runaways: number;
}

/** Pushes a text in pieces of some bytes. */
function hear(text: string, maxBytes: number, size: number): Heard {
  const heard: Heard = { lines: [], tooLong: [], runaways: 0 };
  const lines = createMessageLines({
    maxBytes,
    onLine: (line) => heard.lines.push(line),
    onTooLong: (head, tail) => heard.tooLong.push({ head, tail }),
    onRunaway: () => {
      heard.runaways += 1;
    },
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) lines.push(bytes.subarray(at, at + size));
  return heard;
}

describe("message lines", () => {
  for (const size of [1, 2, 7, 1000]) {
    it(`reads lines from pieces of ${size} bytes`, () => {
      const { lines, tooLong } = hear('{"a":"ä€😀"}\n\n{"b":1}\nrest', 100, size);
      assert.deepEqual(lines, ['{"a":"ä€😀"}', "", '{"b":1}']);
      assert.deepEqual(tooLong, []);
    });

    it(`drops a long line in pieces of ${size} bytes, keeps its ends and continues`, () => {
      const long = `{"jsonrpc":"2.0","id":7,"result":"${"x".repeat(5000)}","end":true}`;
      const { lines, tooLong, runaways } = hear(`first\n${long}\nlast\n`, 1000, size);
      assert.deepEqual(lines, ["first", "last"]);
      assert.equal(tooLong.length, 1);
      assert.equal(tooLong[0]?.head.startsWith('{"jsonrpc":"2.0","id":7,'), true);
      assert.equal(tooLong[0]?.tail.endsWith('","end":true}'), true);
      assert.ok((tooLong[0]?.tail.length ?? 0) <= 256);
      assert.equal(runaways, 0);
    });

    it(`gives up a line without an end, once, in pieces of ${size} bytes`, () => {
      const { lines, runaways } = hear(`${"x".repeat(3000)}\nlater\n`, 100, size);
      assert.deepEqual([lines, runaways], [[], 1]);
    });
  }

  it("accepts a line of exactly the limit", () => {
    assert.deepEqual(hear(`${"x".repeat(100)}\n`, 100, 33).lines, ["x".repeat(100)]);
    assert.equal(hear(`${"x".repeat(101)}\n`, 100, 33).tooLong.length, 1);
  });
});

describe("findRequestId", () => {
  const cases: readonly (readonly [string, string, number | undefined])[] = [
    ['{"jsonrpc":"2.0","id":3,"result":{', '"}]}}', 3],
    ['{ "id": 4, "jsonrpc": "2.0", "result', '"}]}}', 4],
    ['{"result":{"content":[{"id":9,', '"}]},"jsonrpc":"2.0","id":5}', 5],
    ['{"result":{"id":9,', '"}]},"id":6,"jsonrpc":"2.0"}\r', 6],
    ['{"method":"notifications/message","params":{"id":9,', '"id":9}}', undefined],
    ['{"result":{"id":9,', '"id":"a"}', undefined],
  ];
  for (const [head, tail, id] of cases) {
    it(`finds ${id} in ${head}…${tail}`, () => assert.equal(findRequestId(head, tail), id));
  }
});
