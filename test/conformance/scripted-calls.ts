/** How scripted models find the function to call, and see that it was called. */

import type { Item } from "../../src/protocol/items.ts";
import type { ModelRequest } from "../../src/providers/provider.ts";

/** A call of the offered function whose name contains the word; functions stand for other tools. */
export function callOf(
  { tools }: ModelRequest,
  word: string,
  given: Readonly<Record<string, unknown>>,
): { name: string; arguments: string } {
  const names = tools.flatMap((tool) => (tool.type === "function" ? tool.name : []));
  const name = names.find((one) => one.includes(word)) ?? word;
  return { name, arguments: JSON.stringify(given) };
}

export function hasResult({ items }: ModelRequest): boolean {
  return items.some(({ type }: Item) => type === "function_call_output");
}
