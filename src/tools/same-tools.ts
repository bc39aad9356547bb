/** Tools that do the same under several names. A run that has one of them may use any of the names. */

const SAME: readonly (readonly string[])[] = [
  ["read", "bash_read"],
  ["bash_find", "glob"],
  ["bash_ripgrep", "grep"],
  ["shell", "terminal"],
  ["fetch", "scrape_webpage"],
];

/** The name of `wanted` among `own`; `wanted` itself if none matches. */
export function toOwnName(wanted: string, own: readonly string[]): string {
  if (own.includes(wanted)) return wanted;
  const names = SAME.find((same) => same.includes(wanted)) ?? [];
  return own.find((name) => names.includes(name)) ?? wanted;
}

/** A list without repetitions, each by its name among `own`. */
export function toOwnNames(wanted: readonly string[], own: readonly string[]): string[] {
  return [...new Set(wanted.map((name) => toOwnName(name, own)))];
}
