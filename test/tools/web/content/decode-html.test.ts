import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decodeHtml } from "../../../../src/tools/web/content/decode-html.ts";

const latin = (text: string): Buffer => Buffer.from(text, "latin1");

describe("decodeHtml", () => {
  const rows: readonly (readonly [string, Buffer, string | undefined, string])[] = [
    [
      "a UTF-8 mark before the header",
      latin("\xef\xbb\xbf\xc3\xa9"),
      "text/html; charset=latin1",
      "é",
    ],
    ["a UTF-16 mark", latin("\xff\xfea\x00\xe9\x00"), undefined, "aé"],
    ["a big-endian UTF-16 mark", latin("\xfe\xff\x00a\x00\xe9"), undefined, "aé"],
    ["the header's character set", latin("\xcf\xf0\xe8"), "text/html; charset=windows-1251", "При"],
    ["a quoted character set", latin("\xe9"), 'text/html; charset="ISO-8859-1"', "é"],
    ["Japanese", latin("\x93\xfa\x96\x7b"), "text/html;charset=Shift_JIS", "日本"],
    [
      "a meta",
      latin('<meta charset="iso-8859-15">\xa4'),
      "text/html",
      '<meta charset="iso-8859-15">€',
    ],
    [
      "a meta of the old kind",
      latin('<META http-equiv=Content-Type content="text/html; charset=koi8-r">\xd2'),
      undefined,
      '<META http-equiv=Content-Type content="text/html; charset=koi8-r">р',
    ],
    [
      "an XML declaration",
      latin('<?xml version="1.0" encoding="iso-8859-2"?>\xb9'),
      undefined,
      '<?xml version="1.0" encoding="iso-8859-2"?>š',
    ],
    [
      "a meta with a wrong UTF-16",
      latin("<meta charset=utf-16>a"),
      undefined,
      "<meta charset=utf-16>a",
    ],
    ["UTF-8 without a label", latin("\xc3\xa9"), "text/html", "é"],
    ["UTF-8 cut in a character", latin("caf\xc3\xa9 \xc3"), undefined, "café \ufffd"],
    ["bytes that are not UTF-8", latin("\x93caf\xe9\x94 \x80"), undefined, "“café” €"],
    ["windows-1252 by the name of Latin-1", latin("\x96"), "text/html; charset=latin1", "–"],
    ["an unknown character set", latin("\xc3\xa9"), "text/html; charset=klingon", "é"],
    ["nothing", latin(""), undefined, ""],
  ];
  for (const [name, bytes, contentType, expected] of rows) {
    it(`reads ${name}`, () => assert.equal(decodeHtml(bytes, contentType), expected));
  }
});
