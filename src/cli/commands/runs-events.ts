/**
 * `offshoot runs events ID`: shows what happened to the subagents of a tree, in the form of the live log.
 */

import { createLog, type Log } from "../../base/log.ts";
import { createRedact } from "../../base/redact.ts";
import { readSubagentEvents } from "../../delegation/ledger/subagent-record.ts";
import { createSubagentLog, toSubagentFields } from "../../delegation/telemetry/subagent-log.ts";
import type { RecordReader } from "../../engine/engine.ts";
import type { RecordCall } from "../output/show-tree.ts";
import { cleanForTerminal } from "../terminal.ts";

export async function showEvents(
  record: RecordReader,
  id: string,
  { call, io }: RecordCall,
): Promise<void> {
  const events = await readSubagentEvents(record, id);
  if (call.options["json"]) {
    const rows = events.map(({ at_ms, path, name, event }) => ({
      at_ms,
      path,
      name,
      ...toSubagentFields(event),
    }));
    await io.stdout.write(`${JSON.stringify(rows)}\n`);
    return;
  }
  if (events.length === 0) await io.stderr.write(`${id} has no subagents.\n`);
  const lines: string[] = [];
  for (const { at_ms, name, event } of events) {
    const clock = { now: () => at_ms, sleep: () => Promise.reject() };
    const write = (line: string): number => lines.push(line);
    const log = createLog("subagent", { setting: "info", clock, redact: createRedact([]), write });
    const named = name === null ? log : withField(log, { name });
    createSubagentLog(named, { telemetryEnabled: true })(event);
  }
  await io.stdout.write(cleanForTerminal(lines.join("")));
}

/** A log that adds one more field at the end of each line. */
function withField(log: Log, more: Readonly<Record<string, string>>): Log {
  const write =
    (level: keyof Log): Log["info"] =>
    (message, fields = {}) =>
      log[level](message, { ...fields, ...more });
  return {
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
  };
}
