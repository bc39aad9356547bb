/**
 * Writes a run and all runs below it as text, for clients that read runs as resources. Bounded: a log may have any
 * size.
 */

import { readTree } from "../../delegation/ledger/tree.ts";
import { readTreeEvents } from "../../delegation/ledger/tree-events.ts";
import type { RecordReader } from "../../engine/engine.ts";

/** Clients put the text into a model's window, which takes at most this at once. */
const MAX_CHARS = 4_000_000;

export async function toRunMarkdown(record: RecordReader, id: string): Promise<string> {
  const { renderSession } = await import("../../delegation/ledger/session.ts");
  return await join(renderSession(record, await readTree(record, id)), toCut);
}

/** One event on each line. If there are more, the last line says so. */
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
