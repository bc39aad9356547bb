/**
 * The user's own words, told apart from what a message brings along. A command's message is one text:
 * files under lines with their names, a line of dashes, the prompt, a blank line, standard input. A
 * prompt that is empty leaves its place empty.
 *
 * Orders that do something are taken from the user's own words alone, and from nowhere when nobody can
 * tell which they are: a file that says "run rm" must never be obeyed.
 */

/**
 * A part without the files in front of it. With more lines of dashes than one nobody can tell which
 * ends the files, so there is no prompt then.
 */
export function withoutFiles(part: string): string | undefined {
  return behindFiles(part)?.trim() || undefined;
}

function behindFiles(part: string): string | undefined {
  if (!part.startsWith("---")) return part;
  // A name with a line's end in it does not make its file a prompt.
  if (!/^--- .+ ---$/.test(part.split("\n", 1)[0] ?? "")) return undefined;
  const [, behind = "", ...more] = part.split(/^---$/m, 3);
  return more.length > 0 ? undefined : behind.replace(/^\n\n/, "");
}

/** What is read of one text, in characters: matching words in more of it would hold up everybody else. */
export const MAX_READ = 256 * 1024;
/** How far a prompt is looked for behind files. */
const MAX_SEARCHED = 4 * MAX_READ;

/** The beginning of a long text, with the prompt behind its files; none where that cannot be told of all of it. */
export function shorten(part: string): string {
  if (part.length <= MAX_READ) return part;
  const head = part.slice(0, MAX_READ);
  if (!part.startsWith("---")) return head;
  const prompt = part.length <= MAX_SEARCHED ? behindFiles(part) : undefined;
  // Two lines of dashes: nobody takes what stands in the files for a prompt.
  return prompt === undefined
    ? `${head}\n---\n---\n`
    : `${head}\n---\n\n${prompt.slice(0, MAX_READ)}`;
}

/** What stands before the first blank line, which is none inside a fence that was opened before it. */
export function firstParagraph(prompt: string): string {
  const paragraph = cutAtBlankLine(prompt);
  const opening = /```[^`\n]*(?:\n|$)/.exec(paragraph);
  if (!opening) return paragraph;
  const closing = prompt.indexOf("\n```", opening.index + opening[0].length - 1);
  if (closing < paragraph.length) return paragraph;
  const end = closing + "\n```".length;
  return prompt.slice(0, end) + cutAtBlankLine(prompt.slice(end));
}

function cutAtBlankLine(text: string): string {
  const end = text.search(/\n\s*\n/);
  return end < 0 ? text : text.slice(0, end);
}

/** An empty prompt and the line behind it: what follows is standard input. */
const NO_PROMPT = /^[^\S\n]*\n[^\S\n]*\n/;

/** Undefined when the message has several texts, any of which may be a file, or none. */
export function findOrder(texts: readonly string[]): string | undefined {
  const [only] = texts;
  if (only === undefined || texts.length > 1) return undefined;
  const prompt = withoutFiles(only);
  if (prompt === undefined || NO_PROMPT.test(behindFiles(only) ?? "")) return undefined;
  return firstParagraph(prompt);
}

/** A command's message in its parts: the files' texts, and what stands behind the order, as standard input does. */
export function splitMessage(part: string): {
  readonly files: readonly string[];
  readonly behind: string;
} {
  const prompt = withoutFiles(part) ?? "";
  const files = part.startsWith("---") ? part.slice(0, part.search(/^---$/m)) : "";
  return {
    files: files.split(/^--- .+ ---$/m).slice(1),
    behind: prompt.slice(firstParagraph(prompt).length),
  };
}
