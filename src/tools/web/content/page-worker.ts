/**
 * Turns one page or PDF from the web into text, in a process of its own that `page-process.ts` starts and
 * ends: a line of JSON and the bytes on standard input, one JSON object on standard output.
 */

import { toFailure } from "../../../base/failure.ts";
import type { PageReply, PageWork } from "./page-process.ts";

const chunks: Buffer[] = [];
process.stdin.on("data", (chunk: Buffer) => chunks.push(chunk));
process.stdin.on("end", () => {
  const input = Buffer.concat(chunks);
  const end = input.indexOf(10);
  const work = JSON.parse(input.toString("utf8", 0, end)) as PageWork;
  void answer(work, input.subarray(end + 1));
});

async function answer(work: PageWork, bytes: Buffer): Promise<void> {
  let reply: PageReply;
  try {
    reply = { done: await convert(work, bytes) };
  } catch (thrown) {
    reply = { error: toFailure(thrown).message };
  }
  process.stdout.write(JSON.stringify(reply));
}

async function convert(work: PageWork, bytes: Buffer): Promise<unknown> {
  switch (work.kind) {
    case "page": {
      const { toMarkdown } = await import("./to-markdown.ts");
      return await toMarkdown(bytes.toString("utf8"), { url: work.url, mainOnly: true });
    }
    case "pdf": {
      const { pdfToText } = await import("./pdf-to-text.ts");
      return await pdfToText(bytes, work.maxPages);
    }
    case "results": {
      const { readDuckDuckGo } = await import("../search/duckduckgo-page.ts");
      return (await readDuckDuckGo(bytes.toString("utf8"))) ?? null;
    }
  }
}
