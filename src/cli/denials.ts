/** Reads from their logs why calls of a run, and of the runs below it, were refused. */

import { isJsonObject, tryParseJson } from "../base/json.ts";
import { clip } from "../base/text.ts";
import { readTree } from "../delegation/ledger/tree.ts";
import type { RecordReader } from "../engine/engine.ts";
import { DECIDERS, type RunEvent, type ToolDecision } from "../protocol/run-events.ts";

export interface DeniedCall extends Omit<ToolDecision, "type"> {
  readonly arguments: string;
  /** The path of the run that made the call: `/root/review-1.0`. */
  readonly path: string;
}

/** Run by run, each before the runs below it. */
export async function readDenials(record: RecordReader, id: string): Promise<DeniedCall[]> {
  const logs = new Map<string, RunEvent[]>();
  await readTree(record, id, ({ path }, event) => {
    if (event.type !== "tool_start" && event.type !== "tool_decision") return;
    logs.set(path, [...(logs.get(path) ?? []), event]);
  });
  return [...logs].flatMap(([path, events]) => toDenials(events, path));
}

/** In the order in which they were made. */
function toDenials(events: readonly RunEvent[], path: string): DeniedCall[] {
  const given = new Map<string, string>();
  return events.flatMap((event) => {
    if (event.type === "tool_start") given.set(event.call_id, event.arguments);
    if (event.type !== "tool_decision" || event.verdict !== "deny") return [];
    const { type: _, ...decision } = event;
    return [{ ...decision, arguments: given.get(event.call_id) ?? "", path }];
  });
}

/** The flag of `run` that allows such calls: for a command, those that begin with the same word. */
function toFlag({ name, arguments: text }: DeniedCall): string {
  const given = tryParseJson(text);
  const command = isJsonObject(given) ? given["command"] : undefined;
  const [, word] = typeof command === "string" ? (/^([\w./-]+)( |$)/.exec(command) ?? []) : [];
  return word === undefined ? `--allow ${name}` : `--allow '${name}(${word} *)'`;
}

export function renderDenial(denial: DeniedCall): string {
  const { name, arguments: text, path, by, rule, source, reason } = denial;
  const lines = [
    `${name}(${clip(text, 200)})`,
    // The path of a run that a person started has one name. Below it, names are as commands accept them.
    ...(path.lastIndexOf("/") > 0 ? [`  in      ${path.slice(path.indexOf("/", 1) + 1)}`] : []),
    `  by      ${by}: ${DECIDERS[by] ?? "unknown"}`,
    ...(rule === null ? [] : [`  rule    ${rule}`, `  from    ${source}`]),
    `  reason  ${clip(reason, 400)}`,
    ...(by === "nobody" && rule === null ? [`  allow   ${toFlag(denial)}`] : []),
  ];
  return `${lines.join("\n")}\n`;
}
