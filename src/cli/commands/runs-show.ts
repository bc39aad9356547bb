/** `offshoot runs show ID`: shows one run from its log, a line for each event. */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { clip } from "../../base/text.ts";
import { toCompactionLine } from "../../delegation/ledger/compaction-line.ts";
import { createPartialAnswer } from "../../delegation/ledger/partial-answer.ts";
import { createRunFold } from "../../delegation/ledger/run-figures.ts";
import { agentOf, toNodeName } from "../../delegation/ledger/tree.ts";
import { withCompanions } from "../../delegation/tools/names.ts";
import { readWholeLog } from "../../engine/read-log.ts";
import { withoutAbandoned } from "../../protocol/abandoned-work.ts";
import type { ChildWord } from "../../protocol/child-news.ts";
import type { ChildQueue } from "../../protocol/child-queue.ts";
import type { Item } from "../../protocol/items.ts";
import type {
  LoggedEvent,
  RunEnd,
  RunEvent,
  RunStart,
  ToolDecision,
} from "../../protocol/run-events.ts";
import type { RunRecord } from "../../protocol/run-record.ts";
import { lastWords } from "../../runtime/run-request.ts";
import type { CommandCall } from "../command.ts";
import type { Io } from "../io.ts";
import type { OpenedRecord } from "../open-record.ts";
import { textsOf } from "../output/message-texts.ts";
import { toSummary } from "../output/run-summary.ts";
import { toWait } from "../output/tree-view.ts";
import { createStateOf, isServers, type RunState } from "../run-state.ts";
import { cleanForTerminal, toOneLine } from "../terminal.ts";

export async function show(
  { record, engine }: Pick<OpenedRecord, "record" | "engine">,
  stored: RunRecord,
  { call, io }: { readonly call: CommandCall; readonly io: Pick<Io, "stdout"> },
): Promise<void> {
  const events = await readWholeLog(record, stored.id);
  const state = await createStateOf(engine)(stored);
  if (call.options["json"]) {
    await io.stdout.write(
      `${JSON.stringify({ ...stored, state, events: events.map(({ event }) => event) })}\n`,
    );
    return;
  }
  await io.stdout.write(renderRun(stored, state, events));
}

function renderRun(stored: RunRecord, state: RunState, events: readonly LoggedEvent[]): string {
  const partial = createPartialAnswer();
  const fold = createRunFold();
  for (const { event } of events) fold.read(event);
  const lines = withoutAbandoned(events.map(({ event }) => event)).flatMap((event) => {
    const left = partial(event);
    return [...(left === "" ? [] : [`partial  ${left}`]), ...renderEvent(event, stored)];
  });
  const spent = fold.figures.ending === null ? [] : [`spent    ${toSummary(fold.figures)}`];
  const command = isServers(stored) ? "serve" : `runs resume ${stored.id}`;
  const hints: Partial<Record<RunState, string>> = {
    interrupted: `: \`offshoot ${command}\` continues it`,
    newer: `: written by a newer Offshoot (journal version ${stored.journal}), which continues it`,
  };
  const hint = hints[state] ?? "";
  const agent = agentOf(stored);
  const isChild = stored.parent_id !== null;
  const head = [
    `run      ${stored.id}`,
    // A child's title is its label.
    ...(isChild ? [`name     ${toOneLine(stored.title)} [${toNodeName(stored.id)}]`] : []),
    `ending   ${state}${hint}`,
    ...(agent === null ? [] : [`agent    ${agent}`]),
  ];
  return cleanForTerminal([...head, ...lines, ...spent, ""].join("\n"));
}

function toOptionsLine(options: JsonObject | undefined): string[] {
  return options ? [`options  ${clip(JSON.stringify(options), 200)}`] : [];
}

function toSessionLines({ session, told = [] }: RunStart["settings"]): string[] {
  const parts = told.map(({ part, source, chars, cut_bytes, refused }) => {
    const cut = cut_bytes === undefined ? "" : `, ${cut_bytes} bytes left out`;
    return refused === undefined
      ? `${part} ${source} (${chars} characters${cut})`
      : `not ${source}: it ${refused}`;
  });
  return [
    ...(session === undefined ? [] : [`session  ${session}`]),
    ...(parts.length === 0 ? [] : [toOneLine(`context  ${parts.join(", ")}`)]),
  ];
}

/** One line for each event. Streamed text is shown when it is complete. */
function renderEvent(event: RunEvent, stored: RunRecord): string[] {
  switch (event.type) {
    case "run_start":
      return [
        `model    ${event.settings.model_reason}`,
        ...toOptionsLine(event.settings.options),
        `tools    ${toOffered(event.settings.tools, stored).join(", ") || "none"}`,
        ...toSessionLines(event.settings),
        `settings approve ${event.settings.approve ?? "unknown"}, sandbox ${event.settings.sandbox ?? "unknown"}`,
        ...event.input.map(renderInput),
      ];
    case "turn_start":
      return [`turn ${event.turn}`];
    case "item_end":
      return renderItem(event.item as unknown as Record<string, unknown>);
    case "tool_question":
      return [toOneLine(`  asks about ${event.name}: ${event.reason}`)];
    case "tool_decision":
      return renderDecision(event);
    case "tool_end":
      return [
        `  ${event.failed ? "failed" : "result"} ${toOneLine(event.name)}: ${clip(outputOf(event.item), 200)}`,
      ];
    case "run_input":
      return textsOf(event.items).map((text) => `input    ${clip(text, 200)}`);
    case "child_queue":
      return [renderQueue(event)];
    case "child_news":
      return event.news.map(renderNews);
    case "compaction":
      return [`compact  ${toCompactionLine(event)}`];
    case "notice":
      return [toOneLine(`  note   ${event.message}`)];
    case "run_resume":
      return [`resumed  (owner ${event.epoch})`];
    case "run_end":
      return renderEnd(event);
    default:
      return [];
  }
}

/** Includes tools that others bring with them: the log has the tools that the run was given. */
function toOffered(tools: readonly string[], stored: RunRecord): readonly string[] {
  if (isServers(stored)) return tools;
  return withCompanions(tools, isJsonObject(stored.input) && stored.input["can_ask"] === true);
}

function renderQueue({ why, children }: ChildQueue): string {
  const labels = clip(children.map(({ label }) => label).join(", "), 200);
  return toOneLine(`  ${toWait(why)}: ${labels}`);
}

/** Shows refusals, and calls that a person was asked about. */
function renderDecision({ verdict, question, name, by, reason }: ToolDecision): string[] {
  if (verdict === "allow" && question === undefined) return [];
  const done = verdict === "deny" ? "denied" : "allowed";
  return [toOneLine(`  ${done} ${name} (${by}): ${reason}`)];
}

/** The news about a background subagent that the run got. */
function renderNews({ kind, label, text }: ChildWord): string {
  return `  ${kind === "report" ? "report" : "asked "} ${toOneLine(label)}: ${clip(text.replace(/\s+/g, " "), 200)}`;
}

function renderItem(item: Record<string, unknown>): string[] {
  if (item["type"] === "function_call") {
    return [toOneLine(`  call   ${item["name"]}(${item["arguments"]})`)];
  }
  if (item["type"] !== "message") return [`  ${item["type"]}`];
  const parts = Array.isArray(item["content"]) ? item["content"] : [{ text: item["content"] }];
  return parts.map(
    (part: { text?: unknown; refusal?: unknown }) => `  text   ${part.text ?? part.refusal ?? ""}`,
  );
}

/** The prompt as its words; other items as JSON. */
function renderInput(item: Item): string {
  if (item.type !== "message") return `input    ${clip(JSON.stringify(item), 200)}`;
  const name = item.role === "user" ? "prompt" : item.role;
  return `${name.padEnd(8)} ${clip(lastWords([{ ...item, role: "user" }]), 400)}`;
}

function outputOf(item: { type: string }): string {
  const output = "output" in item ? item.output : item;
  return typeof output === "string" ? output : JSON.stringify(output);
}

function renderEnd(end: RunEnd): string[] {
  return end.message === "" ? [] : [`why      ${end.message}`];
}
