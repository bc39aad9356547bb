/**
 * Writes a tree as a Markdown document for people: what was asked, what was said and done, and each child as a section
 * of its own after its parent's.
 *
 * Texts of models are written unchanged, except for their headings: a text must not be able to imitate a section of
 * this document.
 */

import { toNewsMessage } from "../../agent/background.ts";
import { toUsd } from "../../base/text.ts";
import type { RecordReader } from "../../engine/engine.ts";
import { readLog } from "../../engine/read-log.ts";
import { createOpenWork } from "../../protocol/abandoned-work.ts";
import type { Item } from "../../protocol/items.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import { toCompactionLine } from "./compaction-line.ts";
import { createPartialAnswer } from "./partial-answer.ts";
import { type TreeNode, toNodeName } from "./tree.ts";

/** Yields the document in pieces, one run's texts at a time. */
export async function* renderSession(record: RecordReader, tree: TreeNode): AsyncGenerator<string> {
  yield* renderNode(record, tree, 1);
}

async function* renderNode(
  record: RecordReader,
  node: TreeNode,
  level: number,
): AsyncGenerator<string> {
  const title = node.depth === 0 ? "Session" : `Subagent ${toHeading(toLabelled(node))}`;
  yield block(level, title, renderFacts(node));
  const said = createSaid();
  let isResponding = false;
  for await (const page of readLog(record, node.id)) {
    for (const { event } of page) {
      if (event.type === "run_start") yield renderStart(event, level + 1);
      const text = said.read(event);
      if (text === "") continue;
      if (!isResponding) yield block(level + 1, "Response", "");
      isResponding = true;
      yield text;
    }
  }
  yield said.rest();
  for (const child of node.children) yield* renderNode(record, child, Math.min(level + 1, 5));
}

/** The texts of a run's events. Those of a turn are held back until its end: a takeover may abandon it. */
function createSaid(): { read(event: RunEvent): string; rest(): string } {
  const work = createOpenWork();
  const partial = createPartialAnswer();
  let held: string | undefined;
  const rest = (): string => {
    const text = held ?? "";
    held = undefined;
    return text;
  };
  return {
    read(event) {
      if (work.read(event)?.turn) held = undefined;
      const before = event.type === "turn_start" ? rest() : "";
      if (event.type === "turn_start") held = "";
      const left = partial(event);
      const answer = left === "" ? [] : [`_The answer so far:_\n\n${toSafe(left)}`];
      const said = [...answer, renderEvent(event)].filter((one) => one !== "").join("\n\n");
      const text = said === "" ? "" : `${said}\n\n`;
      if (held === undefined) return text;
      held += text;
      return event.type === "turn_end" || event.type === "run_end" ? rest() : before;
    },
    rest,
  };
}

function renderFacts(node: TreeNode): string {
  const { id, ending, message, turns, tool_calls, usage, cost_usd, started_at_ms } = node;
  const rows = [
    `Run: \`${id}\``,
    ...(started_at_ms === null ? [] : [`Started: ${new Date(started_at_ms).toISOString()}`]),
    `Ending: ${ending ?? "none yet"}${message === "" ? "" : ` (${toLine(message)})`}`,
    `Turns: ${turns}, tool calls: ${tool_calls}`,
    `Tokens: ${usage.input_tokens} in, ${usage.output_tokens} out`,
    `Cost: ${cost_usd === null ? "unknown" : toUsd(cost_usd)}`,
    ...(node.status === "unrecorded" ? ["It has left no log of its own."] : []),
  ];
  return rows.map((row) => `- ${row}`).join("\n");
}

function renderStart(event: Extract<RunEvent, { type: "run_start" }>, level: number): string {
  const { settings, input } = event;
  const reason = toLine(settings.model_reason);
  // On the command line the reason begins with the model.
  const model = reason.startsWith(settings.model) ? reason : `${settings.model} (${reason})`;
  return [
    block(level, "Model", model),
    block(level, "System Prompt", toSafe(settings.instructions ?? "None.")),
    block(level, "User Prompt", input.map(renderItem).join("\n\n")),
  ].join("");
}

/** Empty for events that another event already covers, or that are not part of the conversation. */
function renderEvent(event: RunEvent): string {
  switch (event.type) {
    case "item_end":
      return renderItem(event.item);
    case "tool_decision":
      if (event.verdict === "deny") {
        return `**Denied** ${toCode(event.name)}: ${toLine(event.reason)}`;
      }
      // A decision without a question to a person is not part of the conversation.
      return event.question === undefined
        ? ""
        : `**Allowed** ${toCode(event.name)}: ${toLine(event.reason)}`;
    case "tool_end":
      return `${event.failed ? "**Failed**" : "**Result**"} ${toCode(event.name)}\n\n${renderItem(event.item)}`;
    case "child_start":
      return `**Started subagent** ${toCode(event.label)} as ${toCode(event.child_id)}`;
    case "child_end":
      return `**Ended subagent** ${toCode(event.label)} as ${toCode(event.child_id)}: ${event.ending}`;
    case "run_input":
      return `**Message**\n\n${event.items.map(renderItem).join("\n\n")}`;
    case "child_news":
      return `**News of subagents**\n\n${renderItem(toNewsMessage(event))}`;
    case "compaction":
      return `_${toCompactionLine(event)}_${event.summary === "" ? "" : `\n\n${toQuote(toSafe(event.summary))}`}`;
    case "notice":
      return `_${toLine(event.message)}_`;
    case "run_resume":
      return "_Resumed after an interruption. The turn that was interrupted is left out._";
    case "run_end":
      return event.error === null
        ? ""
        : `**Error** \`${event.error.code}\`: ${toLine(event.message)}`;
    default:
      return "";
  }
}

function renderItem(item: Item): string {
  switch (item.type) {
    case "message":
      return toSafe(typeof item.content === "string" ? item.content : joinParts(item.content));
    case "reasoning":
      return toQuote(joinParts([...(item.summary ?? []), ...(item.content ?? [])]));
    case "function_call":
      return `**Call** ${toCode(item.name)}\n\n${fence(item.arguments, "json")}`;
    case "function_call_output":
      return fence(typeof item.output === "string" ? item.output : joinParts(item.output), "text");
    default:
      return fence(JSON.stringify(item, null, 2), "json");
  }
}

/** Parts that are not text are named, not shown: an image does not belong in a document for reading. */
function joinParts(parts: readonly object[]): string {
  return parts
    .map((part) => {
      const text = textOfPart(part);
      if (text !== undefined) return text;
      if ("refusal" in part && typeof part.refusal === "string") return part.refusal;
      return `[${"type" in part ? String(part.type) : "part"}]`;
    })
    .join("\n\n");
}

function block(level: number, title: string, body: string): string {
  return `${"#".repeat(level)} ${title}\n\n${body === "" ? "" : `${body}\n\n`}`;
}

/** Escapes headings outside code, and closes code that was left open. */
function toSafe(text: string): string {
  let open: string | undefined;
  const lines = text.split("\n").map((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) {
      if (open === undefined) open = mark;
      else if (mark.startsWith(open) && line.trim() === mark) open = undefined;
      return line;
    }
    return open === undefined
      ? line.replace(/^( {0,3})(#{1,6}(?:\s|$)|=+\s*$|-+\s*$)/, "$1\\$2")
      : line;
  });
  return [...lines, ...(open === undefined ? [] : [open])].join("\n");
}

function toQuote(text: string): string {
  if (text === "") return "";
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

/** A fence longer than any row of backticks inside the text. */
function fence(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}${language}\n${text}\n${ticks}`;
}

function toCode(text: string): string {
  const line = toLine(text);
  return line.includes("`") ? `\`\` ${line.replaceAll("``", "` `")} \`\`` : `\`${line}\``;
}

function toLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** `count [count-1.0]`: several children may have one label. */
function toLabelled({ id, label }: TreeNode): string {
  const name = toNodeName(id);
  return label === null ? name : `${label} [${name}]`;
}

function toHeading(text: string): string {
  return toLine(text);
}
