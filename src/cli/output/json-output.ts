/** The two JSON forms: one document at the end (`json`), or the log itself, a line an event (`jsonl`). */

import type { RunEnd, RunStart } from "../../protocol/run-events.ts";
import { createEventWriter } from "../../responses/event-writer.ts";
import type { Projection, ProjectionOptions } from "./output.ts";

/**
 * One document. With a schema it is the validated answer and nothing else, so that `| jq .city`
 * works; else the run: its ending, text, items, tokens and cost.
 */
export function createJsonOutput({ stdout, isStructured }: ProjectionOptions): Projection {
  const writer = createEventWriter();
  let start: RunStart | undefined;
  return {
    async write(events) {
      for (const { event } of events) {
        writer.write(event);
        if (event.type === "run_start") start = event;
        if (event.type !== "run_end") continue;
        const isDocument = isStructured && event.ending === "completed";
        const document = isDocument
          ? event.output_json
          : toRecord(start, event, writer.response()?.output);
        await stdout.write(`${JSON.stringify(document)}\n`);
      }
    },
  };
}

function toRecord(start: RunStart | undefined, end: RunEnd, output: unknown): object {
  const { ending, message, output_text, output_json, error, turns, tool_calls, usage, cost_usd } =
    end;
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
    seconds: start ? (end.at_ms - start.created_at_ms) / 1000 : null,
  };
}

/** Every event of the log with its run and number. */
export function createJsonLinesOutput({ stdout }: ProjectionOptions): Projection {
  let parent_id: string | null = null;
  let path = "/root";
  return {
    async write(events) {
      const lines = events.map(({ run_id, seq, event }) => {
        if (event.type === "run_start") ({ parent_id, path } = event);
        return `${JSON.stringify({ run_id, parent_id, path, seq, ...event })}\n`;
      });
      await stdout.write(lines.join(""));
    },
  };
}
