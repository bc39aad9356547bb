import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { readFilePart, readTextFile } from "../../src/cli/read-files.ts";
import { createSandbox } from "../runtime/sandbox.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1");
const JPEG = Buffer.from("\xff\xd8\xff\xe0rest", "latin1");
const WEBP = Buffer.from("RIFF\x01\x02\x03\x04WEBPrest", "latin1");
const PDF = Buffer.from("%PDF-1.7\n\xff", "latin1");

/** A folder with these files. */
function setUp(t: TestContext, files: Readonly<Record<string, string | Uint8Array>>) {
  const { home: cwd } = createSandbox(t);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  return { cwd };
}

describe("a file", () => {
  const images = [
    ["image/png", PNG],
    ["image/jpeg", JPEG],
    ["image/gif", Buffer.from("GIF89a...")],
    ["image/gif", Buffer.from("GIF87a...")],
    ["image/webp", WEBP],
  ] as const;
  for (const [type, bytes] of images) {
    it(`is what its first bytes say, not its name: ${type} ${bytes.subarray(0, 6).toString("hex")}`, async (t) => {
      const { cwd } = setUp(t, { "a.txt": bytes });
      const part = await readFilePart("a.txt", cwd);
      assert.equal(part.type, "input_image");
      assert.ok("image_url" in part && part.image_url?.startsWith(`data:${type};base64,`));
    });
  }

  it("named for an image is still text when it is text", async (t) => {
    const { cwd } = setUp(t, { "a.png": "words" });
    assert.deepEqual(await readFilePart("a.png", cwd), {
      type: "input_text",
      text: "--- a.png ---\nwords",
    });
  });

  it("is named in its part as the user named it, in any folder", async (t) => {
    const { cwd } = setUp(t, { "a.txt": "A", "d.pdf": PDF });
    const text = await readFilePart(join(cwd, "a.txt"), "/");
    assert.ok("text" in text && text.text === `--- ${join(cwd, "a.txt")} ---\nA`);
    const document = await readFilePart(join(cwd, "d.pdf"), "/");
    assert.ok("filename" in document && document.filename === "d.pdf");
  });

  it("an empty file may be attached", async (t) => {
    const { cwd } = setUp(t, { empty: "" });
    assert.deepEqual(await readFilePart("empty", cwd), {
      type: "input_text",
      text: "--- empty ---\n",
    });
  });

  it("is returned unchanged where text is wanted", async (t) => {
    const { cwd } = setUp(t, { "s.json": '\ufeff{"a": 1}\n', png: PNG });
    assert.equal(await readTextFile("s.json", cwd), '{"a": 1}\n');
    await assert.rejects(readTextFile("png", cwd), { code: "invalid_request" });
    await assert.rejects(readTextFile("none", cwd), /There is no file `none`/);
  });
});
