/** Items that every provider can read. Other items are turned into these, or left out. */

const PLAIN_ITEMS: ReadonlySet<string> = new Set([
  "message",
  "function_call",
  "function_call_output",
  "reasoning",
]);

export function isPlainItem(type: string): boolean {
  return PLAIN_ITEMS.has(type);
}
