import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deflateSync } from "node:zlib";
import { readHtml, readPdf, readResults } from "../../src/tools/web/content/page-process.ts";
import { PATIENCE_MS } from "../patience.ts";
import { writePdf } from "../tools/web/content/pdf-file.ts";

const { signal } = new AbortController();
const PATIENT = { signal, limitMs: PATIENCE_MS };

/** A page whose text is unpacked to this many megabytes of empty instructions. */
function writeBomb(megabytes: number): Buffer {
  const empty = Buffer.alloc(megabytes * 1024 * 1024, " ");
  const content = deflateSync(Buffer.concat([Buffer.from("BT /F1 12 Tf (x) Tj "), empty]));
  return Buffer.concat([
    Buffer.from(`%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
4 0 obj<</Length ${content.length}/Filter/FlateDecode>>stream
`),
    content,
    Buffer.from("\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"),
  ]);
}

describe("a page in a process of its own", () => {
  it("is read like in this process", async () => {
    const html = `<title>Otters – ü</title><article><p>${"They hold hands. ".repeat(20)}</p></article>`;
    const { title, markdown } = await readHtml(html, "https://pond.example/", PATIENT);
    assert.equal(title, "Otters – ü");
    assert.match(markdown, /They hold hands\./);
    const pdf = writePdf([{ lines: ["One."] }, { lines: ["Two."] }]);
    assert.deepEqual(await readPdf(pdf, 1, PATIENT), { text: "One.", pages: 2 });
    assert.equal(await readResults("<p>Something else.</p>", PATIENT), undefined);
    const link = '<a class="result__a" href="https://otters.example/">Otters</a>';
    assert.deepEqual(await readResults(link, PATIENT), [
      { title: "Otters", url: "https://otters.example/", description: "" },
    ]);
  });

  it("reports what is wrong with it", async () => {
    await assert.rejects(readPdf(Buffer.from("no"), 1, PATIENT), {
      code: "tool_failed",
      message: "The file is not a PDF that can be read: it is damaged or cut short.",
    });
  });

  it("is given up if it takes too much memory", async () => {
    await assert.rejects(readResults("<p>x".repeat(2_000_000), PATIENT), {
      code: "tool_failed",
      message: /^The page cannot be turned into text: it takes more memory than it may \(/,
    });
  });

  it("is given up if it takes too long, and blocks nothing meanwhile", async () => {
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    turn();
    await assert.rejects(readPdf(writeBomb(40), 1, { signal, limitMs: 300 }), {
      code: "tool_failed",
      message: "The page cannot be turned into text: it takes longer than 0.3 s.",
    });
    isOver = true;
    assert.ok(turns > 3, `${turns} turns of the event loop`);
  });

  it("is dropped if the run is cancelled", async () => {
    const stop = new AbortController();
    const reading = readHtml("<p>x</p>", "https://pond.example/", { signal: stop.signal });
    setImmediate(() => stop.abort());
    await assert.rejects(reading, { code: "cancelled" });
    await assert.rejects(readHtml("", "https://pond.example/", { signal: stop.signal }), {
      code: "cancelled",
    });
  });
});
