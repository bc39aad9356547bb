/** A run with all below it as one document: for people, or a line for each event. Written as it is read. */

import { createJsonLines } from "../../delegation/ledger/json-line.ts";
import { renderSession } from "../../delegation/ledger/session.ts";
import { readTree } from "../../delegation/ledger/tree.ts";
import { readTreeEvents } from "../../delegation/ledger/tree-events.ts";
import type { RecordReader } from "../../engine/engine.ts";
import type { Viewer } from "./found-runs.ts";
import type { ReadParts } from "./run-reads.ts";

export const EXPORTS = {
  md: "text/markdown; charset=utf-8",
  jsonl: "application/x-ndjson",
} as const;
export type ExportFormat = keyof typeof EXPORTS;

export interface RunExport {
  /** Rejects before it begins if the run does not exist. */
  export(viewer: Viewer, id: string, format: ExportFormat): Promise<AsyncGenerator<string>>;
}

export function createRunExport({ engine, found }: Pick<ReadParts, "engine" | "found">): RunExport {
  return {
    async export(viewer, id, format) {
      await found.find(viewer, id);
      const { record } = engine;
      if (format === "jsonl") return toLines(record, id);
      return renderSession(record, await readTree(record, id));
    },
  };
}

async function* toLines(record: RecordReader, id: string): AsyncGenerator<string> {
  const toLine = createJsonLines();
  for await (const logged of readTreeEvents(record, id)) yield toLine(logged);
}
