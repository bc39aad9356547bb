/** All texts of an answer, found only by their places: without order, items or events. */

import type { Item, Message, Reasoning } from "../../../src/protocol/items.ts";

/** The part of a chunk, or of a whole answer, that a test reads. */
export interface SentChunk {
  readonly choices?: readonly { readonly delta?: SentDelta; readonly message?: SentDelta }[];
  readonly usage?: { readonly total_tokens?: number } | null;
}

interface SentDelta {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly tool_calls?: readonly SentCall[] | null;
}

interface SentCall {
  readonly index?: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments?: string };
}

interface Words {
  readonly text: string;
  readonly reasoning: string;
  /** Names and arguments. */
  readonly calls: readonly string[];
}

export function expectedWords(chunks: readonly SentChunk[]): Words {
  const choices = chunks.flatMap((chunk) => chunk.choices ?? []);
  const deltas = choices.map(({ delta, message }) => delta ?? message ?? {});
  const calls = new Map<number | string | undefined, string>();
  for (const { index, id, function: called } of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    const said = `${called.name ?? ""}${called.arguments ?? ""}`;
    calls.set(index ?? id, (calls.get(index ?? id) ?? "") + said);
  }
  return {
    text: deltas.map(({ content }) => content ?? "").join(""),
    reasoning: deltas.map((delta) => delta.reasoning_content ?? delta.reasoning ?? "").join(""),
    calls: [...calls.values()],
  };
}

export function wordsOf(items: readonly Item[]): Words {
  return {
    text: items.map((item) => (item.type === "message" ? textOf(item) : "")).join(""),
    reasoning: items.map((item) => (item.type === "reasoning" ? textOf(item) : "")).join(""),
    calls: items.flatMap((item) =>
      item.type === "function_call" ? [`${item.name}${item.arguments}`] : [],
    ),
  };
}

function textOf({ content }: Message | Reasoning): string {
  if (typeof content === "string") return content;
  const texts = (content ?? []).map((part) => ("text" in part ? part.text : ""));
  return texts.join("");
}
