/** Checks that results answer a call: of the request itself, or of what it continues. */

import { Failure } from "../../base/failure.ts";
import { clip } from "../../base/text.ts";
import type { Item } from "../../protocol/items.ts";

const RESULTS: ReadonlySet<string> = new Set(["function_call_output", "custom_tool_call_output"]);

/** Rejects a result among `items` whose call is neither before it there nor in `before`. */
export function checkCalls(before: readonly Item[], items: readonly Item[]): void {
  if (!items.some(({ type }) => RESULTS.has(type))) return;
  // A compacted conversation may have results whose calls are gone.
  if ([...before, ...items].some(({ type }) => type === "compaction")) return;
  const called = new Set(before.map(callIdOf));
  for (const [at, item] of items.entries()) {
    const id = callIdOf(item);
    if (!RESULTS.has(item.type)) called.add(id);
    else if (!called.has(id)) {
      const message = `No tool call found for the output with \`call_id\` ${clip(String(id), 80)}.`;
      throw new Failure("invalid_request", message, { param: `input[${at}]` });
    }
  }
}

function callIdOf(item: Item): string | undefined {
  return "call_id" in item && typeof item.call_id === "string" ? item.call_id : undefined;
}
