import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pdfToText } from "../../../../src/tools/web/content/pdf-to-text.ts";
import { writePdf } from "./pdf-file.ts";

const pdf = writePdf([
  { lines: ["The first page", "has two lines"] },
  { lines: ["The second is compressed"], isCompressed: true },
]);

describe("pdfToText", () => {
  it("reads all pages, also compressed ones", async () => {
    const text = "The first page\nhas two lines\n\nThe second is compressed";
    assert.deepEqual(await pdfToText(pdf, 10), { text, pages: 2 });
  });

  it("stops at the limit and still counts the pages", async () => {
    const text = "The first page\nhas two lines";
    assert.deepEqual(await pdfToText(pdf, 1), { text, pages: 2 });
  });

  it("does not change its input", async () => {
    const copy = Buffer.from(pdf);
    await pdfToText(copy, 1);
    assert.deepEqual(copy, pdf);
  });

  it("reports that a file is locked", async () => {
    const lock = `/Filter /Standard /V 1 /R 2 /O <${"ab".repeat(32)}> /U <${"cd".repeat(32)}> /P -44`;
    await assert.rejects(pdfToText(writePdf([{ lines: ["secret"] }], lock), 10), {
      code: "tool_failed",
      message: "The PDF is locked with a password.",
    });
  });

  const broken: readonly (readonly [string, Buffer])[] = [
    ["no PDF", Buffer.from("<html>not found</html>")],
    ["nothing", Buffer.alloc(0)],
    ["half of one", pdf.subarray(0, pdf.length / 2)],
  ];
  for (const [name, bytes] of broken) {
    it(`reports that ${name} cannot be read`, async () => {
      await assert.rejects(pdfToText(bytes, 10), { code: "tool_failed", message: /damaged/ });
    });
  }

  it("reading a PDF prints nothing on the console", async (test) => {
    const write = test.mock.method(process.stderr, "write");
    const log = test.mock.method(console, "log");
    // The library warns about a table at the wrong offset, and searches for it.
    const misplaced = pdf.toString("latin1").replace(/startxref\n\d+/, "startxref\n7");
    assert.equal((await pdfToText(Buffer.from(misplaced, "latin1"), 10)).pages, 2);
    assert.equal(write.mock.callCount() + log.mock.callCount(), 0);
  });
});
