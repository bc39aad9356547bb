/** A run and all below it as text, for clients that read runs as resources. Bounded: a log may have any size. */

import { readTree } from "../../delegation/ledger/tree.ts";
import { readTreeEvents } from "../../delegation/ledger/tree-events.ts";
import type { RecordReader } from "../../engine/engine.ts";

/** Clients put what they read into a model's window; nobody needs more than this at once. */
const MAX_CHARS = 4_000_000;

export async function toRunMarkdown(record: RecordReader, id: string): Promise<string> {
  const { renderSession } = await import("../../delegation/ledger/session.ts");
  return await join(renderSession(record, await readTree(record, id)), toCut);
}

/** An event for each line; the last line says so where there are more. */
export async function toRunLines(record: RecordReader, id: string): Promise<string> {
  const { createJsonLines } = await import("../../delegation/ledger/json-line.ts");
  const toLine = createJsonLines();
  async function* lines(): AsyncGenerator<string> {
    for await (const logged of readTreeEvents(record, id)) yield toLine(logged);
  }
  return await join(lines(), () => `${JSON.stringify({ type: "cut", max_chars: MAX_CHARS })}\n`);
}

function toCut(): string {
  return `\n\n[Cut after ${MAX_CHARS} characters]\n`;
}

async function join(pieces: AsyncIterable<string>, cut: () => string): Promise<string> {
  let text = "";
  for await (const piece of pieces) {
    if (text.length + piece.length > MAX_CHARS) return text + cut();
    text += piece;
  }
  return text;
}
