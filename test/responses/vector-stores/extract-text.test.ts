import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deflateRawSync } from "node:zlib";
import { toMediaType } from "../../../src/responses/files/media-type.ts";
import { extractText } from "../../../src/responses/vector-stores/extract-text.ts";

const signal = new AbortController().signal;

function extract(filename: string, content: string | Uint8Array): Promise<string> {
  const bytes = Buffer.from(content);
  return extractText({ filename, bytes, mediaType: toMediaType(filename, bytes) }, signal);
}

/** An archive with these entries, packed or not. */
function zip(entries: Readonly<Record<string, string>>, { packed = true } = {}): Buffer {
  const locals: Buffer[] = [];
  const heads: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(entries)) {
    const data = packed ? deflateRawSync(Buffer.from(text)) : Buffer.from(text);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const head = Buffer.alloc(46);
    head.writeUInt32LE(0x02014b50, 0);
    head.writeUInt16LE(packed ? 8 : 0, 10);
    head.writeUInt32LE(data.length, 20);
    head.writeUInt16LE(name.length, 28);
    head.writeUInt32LE(offset, 42);
    locals.push(local, Buffer.from(name), data);
    heads.push(head, Buffer.from(name));
    offset += 30 + name.length + data.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(entries).length, 10);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, ...heads, end]);
}

const DOCUMENT =
  '<w:document><w:body><w:p><w:r><w:t xml:space="preserve">Caf&#xE9; &amp; bar </w:t></w:r><w:r><w:t>open</w:t></w:r></w:p><w:p><w:r><w:delText>gone</w:delText><w:t>Second</w:t></w:r></w:p></w:body></w:document>';

describe("the text of a file", () => {
  it("is that of text, code and data as they are", async () => {
    assert.equal(await extract("a.txt", "One\r\nTwo"), "One\nTwo");
    assert.equal(await extract("a.ts", "const a = 1;"), "const a = 1;");
    assert.equal(await extract("a.json", '{"a": 1}'), '{"a": 1}');
    assert.equal(await extract("a.jsonl", '{"a": 1}\n{"a": 2}'), '{"a": 1}\n{"a": 2}');
    assert.equal(await extract("a.csv", "a,b\n1,2"), "a,b\n1,2");
    assert.equal(await extract("README", "No ending"), "No ending");
  });

  it("is in the character set that the bytes are in", async () => {
    assert.equal(await extract("a.txt", Buffer.from("\xff\xfeH\0i\0", "latin1")), "Hi");
    assert.equal(await extract("a.txt", Buffer.from("Caf\xe9 au lait", "latin1")), "Café au lait");
  });

  it("is the main content of a page", async () => {
    const text = await extract(
      "a.html",
      "<html><head><script>bad()</script></head><body><h1>Title</h1><p>Some words that say something of a thing.</p></body></html>",
    );
    assert.match(text, /Some words/);
    assert.doesNotMatch(text, /bad\(\)|<p>/);
  });

  it("is the words of documents and slides", async () => {
    const document = { "word/document.xml": DOCUMENT, "word/styles.xml": "<x>no</x>" };
    assert.equal(await extract("a.docx", zip(document)), "Café & bar open\nSecond");
    const slide = (text: string): string =>
      `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`;
    const slides = {
      "ppt/slides/slide10.xml": slide("Ten"),
      "ppt/slides/slide2.xml": slide("Two"),
    };
    assert.equal(await extract("a.pptx", zip(slides, { packed: false })), "Two\n\nTen");
  });

  it("is refused of what has none", async () => {
    await assert.rejects(extract("a.png", Buffer.from("\x89PNG\r\n\x1a\n", "latin1")), {
      code: "invalid_request",
    });
    await assert.rejects(extract("a.zip", zip({ a: "b" })), { code: "invalid_request" });
    await assert.rejects(extract("a.txt", " "), { code: "tool_failed" });
    for (const bytes of [
      "no archive",
      zip({ other: "x" }),
      zip({ "word/document.xml": "x" }).subarray(0, 60),
    ]) {
      await assert.rejects(extract("a.docx", bytes), { code: "tool_failed" });
    }
  });

  it("is not unpacked without end", async () => {
    const huge = "x".repeat(80 * 1024 * 1024);
    await assert.rejects(extract("a.docx", zip({ "word/document.xml": huge })), {
      code: "tool_failed",
      message: /unpacked/,
    });
  });
});
