/**
 * The turns of a session, counted from its items, whichever program wrote them: a turn is one model call with the
 * results of its calls. Numbered from 1 over the whole session. Pure.
 */

import { toPlainText } from "../../agent/context/message-text.ts";
import type { Item } from "../../protocol/items.ts";

export interface SessionTurn {
  readonly turn: number;
  /** The user's words right before it; null for a turn that continues after results. */
  readonly prompt: string | null;
  /** The model's words. */
  readonly text: string;
  /** Names of the tools that it called. */
  readonly calls: readonly string[];
}

/** The begin and the end of each turn in the items. The user's last words have no turn yet. */
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

/**
 * All items up to the end of a turn; 0 is the beginning. Undefined if the session has no such turn.
 */
export function upToTurn(items: readonly Item[], turn: number): readonly Item[] | undefined {
  if (turn === 0) return [];
  const span = findSpans(items)[turn - 1];
  return span && items.slice(0, span.to);
}

export function countTurns(items: readonly Item[]): number {
  return findSpans(items).length;
}

/**
 * A model's turn lasts until a result or a person's message; results belong to the turn of their call.
 */
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
