import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  isTextType,
  readDataUrl,
  readFileContent,
  toFileText,
  typeOfName,
} from "../../src/providers/file-content.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("the content of a file part", () => {
  it("is what its data URL says", () => {
    const file_data = `data:Application/JSON;charset=utf-8;base64,${base64("{}")}`;
    assert.deepEqual(readFileContent({ file_data, filename: "a.pdf" }), {
      mediaType: "application/json",
      base64: base64("{}"),
    });
  });

  it("is known by its name if the data does not say it", () => {
    assert.equal(readFileContent({ file_data: "AA", filename: "a.csv" })?.mediaType, "text/csv");
    const unknown = "data:application/octet-stream;base64,AA";
    assert.equal(
      readFileContent({ file_data: unknown, filename: "a.ts" })?.mediaType,
      "text/plain",
    );
    assert.equal(readFileContent({ file_data: "AA" })?.mediaType, "");
  });

  it("is undefined without data", () => {
    assert.equal(readFileContent({ filename: "a.csv" }), undefined);
  });

  it("is text under its name", () => {
    const file_data = `data:text/markdown;base64,${base64("# Grüße")}`;
    const shown = '<file name="say \\"hi\\".md">\n# Grüße\n</file>';
    assert.equal(toFileText({ file_data, filename: 'say "hi".md' }), shown);
    assert.equal(toFileText({ file_data }), "<file>\n# Grüße\n</file>");
  });

  it("is not text if it is binary", () => {
    assert.equal(toFileText({ file_data: "data:application/pdf;base64,AA" }), undefined);
    assert.equal(toFileText({ file_data: "AA" }), undefined);
  });
});

describe("a data URL", () => {
  it("may be escaped in place of base64", () => {
    assert.deepEqual(readDataUrl("data:text/plain,a%20b"), {
      mediaType: "text/plain",
      base64: base64("a b"),
    });
  });

  it("is refused with invalid escapes", () => {
    assert.throws(() => readDataUrl("data:text/plain,%E0%A4%A"), {
      code: "invalid_request",
      param: "input",
    });
  });

  it("is recognized among addresses", () => {
    assert.equal(readDataUrl("https://example.org/a,b"), undefined);
  });
});

describe("types", () => {
  for (const type of [
    "text/x-python",
    "application/json",
    "application/ld+json",
    "application/yaml",
  ]) {
    it(`takes ${type} for text`, () => assert.ok(isTextType(type)));
  }
  for (const type of ["application/pdf", "image/png", "application/zip", ""]) {
    it(`takes \`${type}\` for no text`, () => assert.ok(!isTextType(type)));
  }

  it("follow from the extension of a name or an address", () => {
    assert.equal(typeOfName("https://example.org/a.PDF?x=1#2"), "application/pdf");
    assert.equal(typeOfName("Makefile"), undefined);
  });
});
