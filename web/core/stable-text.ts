/** Finds the position up to which a growing Markdown text cannot change its meaning. Pure. */

/** A blank line outside of a code block: the text before it is finished. Never less than `from`. */
export function cutStable(text: string, from: number): number {
  let cut = from;
  let fence: string | undefined;
  let at = from;
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    // The last line is still being written.
    if (end < 0) return cut;
    const line = text.slice(at, end);
    const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence)) fence = undefined;
    // A blank line within a list, or before an indented line, does not end it: the next line decides.
    const next = text[end + 1];
    if (fence === undefined && line.trim() === "" && next !== undefined && /\S/.test(next)) {
      cut = end + 1;
    }
    at = end + 1;
  }
  return cut;
}
