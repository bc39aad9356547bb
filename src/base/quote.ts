/** Text that JSON writes without escapes. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** A text as JSON. Most pieces of a stream are plain, which costs a third of `JSON.stringify` (bench/gateway.ts). */
export function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
