/**
 * The turns of a session, read from its items, whoever wrote them: a turn is one model call, and what its
 * calls gave. Numbered from 1 over the whole session. Pure.
 */

import { toPlainText } from "../../agent/context/message-text.ts";
import type { Item } from "../../protocol/items.ts";

export interface SessionTurn {
  readonly turn: number;
  /** What the user said right before it; null for a turn that goes on after results. */
  readonly prompt: string | null;
  /** What the model said. */
  readonly text: string;
  /** The names of the tools that it called. */
  readonly calls: readonly string[];
}

/** Where each turn begins and ends in the items; what the user says last has no turn yet. */
interface Span {
  readonly from: number;
  /** Right after its results. */
  readonly to: number;
}

export function readTurns(items: readonly Item[]): SessionTurn[] {
  return findSpans(items).map(({ from, to }, at, spans) => {
    const own = items.slice(from, to);
    const asked = items.slice(spans[at - 1]?.to ?? 0, from).filter(isPrompt);
    const prompt = asked.map(textOf).join("\n\n");
    return {
      turn: at + 1,
      prompt: prompt === "" ? null : prompt,
      text: own.filter(isAnswer).map(textOf).join("\n\n"),
      calls: own.flatMap(callName),
    };
  });
}

/** Everything up to the end of a turn. Undefined where the session has no such turn; 0 is the beginning. */
export function upToTurn(items: readonly Item[], turn: number): readonly Item[] | undefined {
  if (turn === 0) return [];
  const span = findSpans(items)[turn - 1];
  return span && items.slice(0, span.to);
}

export function countTurns(items: readonly Item[]): number {
  return findSpans(items).length;
}

/** A model speaks until a result or a person comes; results belong to the turn that asked for them. */
function findSpans(items: readonly Item[]): Span[] {
  const spans: Span[] = [];
  let open: { from: number; hasResults: boolean } | undefined;
  for (const [at, item] of items.entries()) {
    const isOwn = !isPrompt(item) && !isResult(item);
    if (open && (isPrompt(item) || (isOwn && open.hasResults))) {
      spans.push({ from: open.from, to: at });
      open = undefined;
    }
    if (isOwn) open ??= { from: at, hasResults: false };
    else if (open && isResult(item)) open.hasResults = true;
  }
  if (open) spans.push({ from: open.from, to: items.length });
  return spans;
}

function isPrompt(item: Item): boolean {
  return item.type === "message" && item.role !== "assistant";
}

function isAnswer(item: Item): boolean {
  return item.type === "message" && item.role === "assistant";
}

function isResult({ type }: Item): boolean {
  return type.endsWith("_output") || type === "mcp_approval_response";
}

function textOf(item: Item): string {
  return item.type === "message" ? toPlainText(item.content) : "";
}

function callName(item: Item): string[] {
  if (item.type === "function_call" || item.type === "custom_tool_call") return [item.name];
  return item.type.endsWith("_call") ? [item.type.slice(0, -"_call".length)] : [];
}
