import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toMediaType } from "../../../src/responses/files/media-type.ts";

describe("toMediaType", () => {
  const png = Buffer.from("\x89PNG\r\n\x1a\n....", "latin1");
  const cases: [string, string | Buffer, string][] = [
    ["a.txt", png, "image/png"],
    ["a", Buffer.from("\xff\xd8\xff\xe0", "latin1"), "image/jpeg"],
    ["a.png", "GIF89a", "image/gif"],
    ["a", "RIFF....WEBPVP8", "image/webp"],
    ["a", "RIFF....WAVEfmt", "audio/wav"],
    ["a.avi", Buffer.from("RIFF....AVI \0", "latin1"), "application/octet-stream"],
    ["a.md", "%PDF-1.4", "application/pdf"],
    ["a.JSON", "{}", "application/json"],
    ["a.b.py", "print()", "text/x-python"],
    [
      "report.docx",
      "PK\x03\x04",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ],
    ["Makefile", "all:\n", "text/plain"],
    ["empty", "", "text/plain"],
    ["a.constructor", "x", "text/plain"],
    ["core", Buffer.from([1, 0, 2]), "application/octet-stream"],
    ["latin", Buffer.from([0xe4, 0x20]), "application/octet-stream"],
    // Cut in the middle of a character, as the beginning of a file may be.
    ["cut", Buffer.from("x".repeat(4095).concat("ä")), "text/plain"],
  ];
  for (const [name, bytes, expected] of cases) {
    it(`calls ${name} ${expected}`, () =>
      assert.equal(toMediaType(name, Buffer.from(bytes)), expected));
  }
});
