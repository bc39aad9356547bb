/**
 * `offshoot runs export ID`: writes a tree as a document for people, or as the lines of its logs.
 */

import { Failure } from "../../base/failure.ts";
import { createJsonLines } from "../../delegation/ledger/json-line.ts";
import { renderSession } from "../../delegation/ledger/session.ts";
import { readTree } from "../../delegation/ledger/tree.ts";
import { readTreeEvents } from "../../delegation/ledger/tree-events.ts";
import type { RecordReader } from "../../engine/engine.ts";
import type { Output } from "../io.ts";
import type { RecordCall } from "../output/show-tree.ts";
import { cleanForTerminal } from "../terminal.ts";

export const EXPORT_FORMATS = ["md", "jsonl"] as const;

/** Written while it is read: a tree may be larger than memory. */
export async function exportRun(
  record: RecordReader,
  id: string,
  { call, io }: Omit<RecordCall, "clock">,
): Promise<void> {
  const format = call.options["format"] ?? "md";
  if (format === "md") await exportSession(record, id, io.stdout);
  else if (format === "jsonl") await exportLines(record, id, io.stdout);
  else {
    const known = EXPORT_FORMATS.join(" or ");
    throw new Failure("invalid_request", `--format takes ${known}, not \`${String(format)}\`.`);
  }
}

async function exportSession(record: RecordReader, id: string, stdout: Output): Promise<void> {
  const tree = await readTree(record, id);
  for await (const piece of renderSession(record, tree)) {
    await stdout.write(stdout.isTerminal ? cleanForTerminal(piece) : piece);
  }
}

async function exportLines(record: RecordReader, id: string, stdout: Output): Promise<void> {
  const toLine = createJsonLines();
  for await (const logged of readTreeEvents(record, id)) await stdout.write(toLine(logged));
}
