/**
 * Separates the user's own words from attached text in a message. A command's message is one text: files
 * under lines with their names, a line of dashes, the prompt, a blank line, standard input. An empty prompt
 * leaves an empty line.
 *
 * Requests that change something are read from the user's own words alone, and not at all if the two cannot
 * be told apart: a file that says "run rm" must never be obeyed.
 */

/**
 * A part without the files before the prompt. If it has more than one line of dashes, the end of the files
 * is not known, so there is no prompt.
 */
export function withoutFiles(part: string): string | undefined {
  return behindFiles(part)?.trim() || undefined;
}

function behindFiles(part: string): string | undefined {
  if (!part.startsWith("---")) return part;
  // A file name that contains a line break does not make its file a prompt.
  if (!/^--- .+ ---$/.test(part.split("\n", 1)[0] ?? "")) return undefined;
  const [, after = "", ...more] = part.split(/^---$/m, 3);
  return more.length > 0 ? undefined : after.replace(/^\n\n/, "");
}

/** How many characters of one text are read. Matching more would block other requests of the process. */
export const MAX_READ = 256 * 1024;
/** How far the text is searched for a prompt after files. */
const MAX_SEARCHED = 4 * MAX_READ;

/**
 * The beginning of a long text, with the prompt after its files. Undefined if the prompt cannot be found
 * within the limit.
 */
export function shorten(part: string): string {
  if (part.length <= MAX_READ) return part;
  const head = part.slice(0, MAX_READ);
  if (!part.startsWith("---")) return head;
  const prompt = part.length <= MAX_SEARCHED ? behindFiles(part) : undefined;
  // The two lines of dashes make sure that text in the files is not taken for a prompt.
  return prompt === undefined
    ? `${head}\n---\n---\n`
    : `${head}\n---\n\n${prompt.slice(0, MAX_READ)}`;
}

/** The text before the first blank line. A blank line inside an open code fence does not count. */
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

/** An empty prompt and the line after it: standard input follows. */
const NO_PROMPT = /^[^\S\n]*\n[^\S\n]*\n/;

/** The prompt. Undefined if the message has several texts, any of which may be a file, or has none. */
export function findOrder(texts: readonly string[]): string | undefined {
  const [only] = texts;
  if (only === undefined || texts.length > 1) return undefined;
  const prompt = withoutFiles(only);
  if (prompt === undefined || NO_PROMPT.test(behindFiles(only) ?? "")) return undefined;
  return firstParagraph(prompt);
}

/**
 * The parts of a command's message: the texts of the files, and the text after the prompt, which is
 * standard input.
 */
export function splitMessage(part: string): {
  readonly files: readonly string[];
  readonly after: string;
} {
  const prompt = withoutFiles(part) ?? "";
  const files = part.startsWith("---") ? part.slice(0, part.search(/^---$/m)) : "";
  return {
    files: files.split(/^--- .+ ---$/m).slice(1),
    after: prompt.slice(firstParagraph(prompt).length),
  };
}
