/**
 * Joins text and reasoning for a model template that has one place for both.
 *
 * The template of gpt-oss raises an error, which its server answers with 500, if an assistant message has
 * text, reasoning and calls at once (ggml-org/llama.cpp issue 17040). Both are in the same channel there,
 * so the text goes after the reasoning and nothing is lost. A server's model may have any name, so only its
 * error shows that the template has this limit.
 */

import type { Failure } from "../../base/failure.ts";
import type { Item, Message, Reasoning } from "../../protocol/items.ts";
import { readOwnReasoning } from "../own-reasoning.ts";
import type { ModelRequest } from "../provider.ts";
import { toPlainText } from "./parts.ts";

/**
 * The request to send instead of one that the model's template refused; undefined if this is another
 * failure.
 */
export function joinThoughts(request: ModelRequest, failure: Failure): ModelRequest | undefined {
  if (failure.code !== "provider_failed" && failure.code !== "provider_rejected") return undefined;
  if (!/both content and thinking/i.test(failure.message)) return undefined;
  const items = toTurns(request.items).flatMap(joinTurn);
  return items.length < request.items.length ? { ...request, items } : undefined;
}

/** Groups the items of one answer of the model; every other item is alone. */
function toTurns(items: readonly Item[]): Item[][] {
  const turns: Item[][] = [];
  let isOpen = false;
  for (const item of items) {
    if (isOpen && isGiven(item)) turns.at(-1)?.push(item);
    else turns.push([item]);
    isOpen = isGiven(item);
  }
  return turns;
}

function isGiven(item: Item): boolean {
  return item.type === "reasoning" || item.type === "function_call" || isSaid(item);
}

function isSaid(item: Item): item is Message {
  return item.type === "message" && item.role === "assistant";
}

function joinTurn(turn: readonly Item[]): readonly Item[] {
  const said = turn.filter(isSaid);
  const thoughts = turn.flatMap((item) =>
    item.type === "reasoning" ? (readOwnReasoning(item) ?? []) : [],
  );
  const calls = turn.filter(({ type }) => type === "function_call");
  if (said.length === 0 || thoughts.length === 0 || calls.length === 0) return turn;
  const texts = [...thoughts, ...said.map(({ content }) => toPlainText(content))];
  const joined: Reasoning = {
    type: "reasoning",
    summary: [],
    content: texts.map((text) => ({ type: "reasoning_text", text })),
  };
  return [joined, ...calls];
}
