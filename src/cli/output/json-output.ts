/**
 * The two JSON forms of output: one document at the end (`json`), or the log itself, one event on each line
 * (`jsonl`).
 */

import { isLarge, toJsonPieces } from "../../base/json-pieces.ts";
import { createJsonLines } from "../../delegation/ledger/json-line.ts";
import { createRunFold, type RunFold } from "../../delegation/ledger/run-figures.ts";
import { createTreeTotals, type TreeTotals } from "../../delegation/ledger/tree-totals.ts";
import type { RunEnd, RunStart } from "../../protocol/run-events.ts";
import { createEventWriter } from "../../responses/fold/event-writer.ts";
import type { Output } from "../io.ts";
import type { Projection, ProjectionOptions } from "./projection.ts";

/**
 * Prints one document. With a schema it is only the validated answer, so that `| jq .city` works. Else it is the run:
 * its ending, text, items, tokens and cost, and the totals with all runs below it.
 */
export function createJsonOutput({ stdout, isStructured }: ProjectionOptions): Projection {
  const writer = createEventWriter();
  const tree = createTreeTotals();
  const fold = createRunFold();
  let root: string | undefined;
  let start: RunStart | undefined;
  return {
    async write(events) {
      root ??= events[0]?.run_id;
      for (const logged of events) {
        tree.read(logged);
        const { run_id, event } = logged;
        if (run_id !== root) continue;
        fold.read(event);
        writer.write(event);
        if (event.type === "run_start") start = event;
        if (event.type !== "run_end") continue;
        const isDocument = isStructured && event.ending === "completed";
        const document = isDocument
          ? event.output_json
          : toRecord(start, event, { output: writer.response()?.output, fold, tree });
        await writeDocument(stdout, document);
      }
    },
    count(events) {
      for (const logged of events) {
        tree.read(logged);
        if (logged.run_id === root) fold.read(logged.event);
      }
    },
  };
}

async function writeDocument(stdout: Output, document: unknown): Promise<void> {
  if (!isLarge(document)) return await stdout.write(`${JSON.stringify(document)}\n`);
  for (const piece of toJsonPieces(document)) await stdout.write(piece);
  await stdout.write("\n");
}

interface Counted {
  readonly output: unknown;
  /** The totals of the run itself. */
  readonly fold: RunFold;
  /** The totals with all runs below it. */
  readonly tree: TreeTotals;
}

function toRecord(
  start: RunStart | undefined,
  end: RunEnd,
  { output, fold, tree }: Counted,
): object {
  const { ending, message, output_text, output_json, error } = end;
  const { turns, tool_calls, usage, cost_usd } = fold.figures;
  return {
    run_id: start?.run_id ?? null,
    model: start?.settings.model ?? null,
    ending,
    message: message === "" ? null : message,
    error,
    output_text,
    ...(output_json === undefined ? {} : { output_json }),
    output,
    turns,
    tool_calls,
    usage,
    cost_usd,
    total: tree.totals,
    seconds: start ? (end.at_ms - start.created_at_ms) / 1000 : null,
  };
}

/** Prints every event of the log with its run and number. */
export function createJsonLinesOutput({ stdout }: ProjectionOptions): Projection {
  const toLine = createJsonLines();
  return {
    write: async (events) => await stdout.write(events.map(toLine).join("")),
  };
}
