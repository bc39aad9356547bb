/** Completes the word at the caret: a command at the beginning, a file after `@`. Pure. */

import type { EditorText } from "./editor/editor.ts";
import { SLASH_COMMANDS } from "./slash.ts";

export interface Completion {
  /** The text that replaces the word. */
  readonly text: string;
  /** A note about it in the list. */
  readonly note: string;
}

export interface CompletedWord {
  readonly kind: "command" | "file";
  /** The word without its sign. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

const MOST = 8;

export function findWord({ text, caret }: EditorText): CompletedWord | undefined {
  const before = text.slice(0, caret);
  const [command, name] = /^\/([a-z]*)$/.exec(before) ?? [];
  if (command !== undefined) return { kind: "command", word: name ?? "", start: 0, end: caret };
  const [, named, quoted, bare] = /(?:^|\s)(@(?:"([^"\n]*)|([^\s@"]*)))$/.exec(before) ?? [];
  if (named === undefined) return undefined;
  return { kind: "file", word: quoted ?? bare ?? "", start: caret - named.length, end: caret };
}

export function completeCommand(word: string): Completion[] {
  return Object.entries(SLASH_COMMANDS)
    .filter(([name]) => name.startsWith(word))
    .map(([name, { usage, summary }]) => ({
      text: `/${name} `,
      note: `${usage} ${summary}`.trim(),
    }))
    .slice(0, MOST);
}

/**
 * First the files whose names begin with the word, then those that contain it, then those that contain its letters in
 * order.
 */
export function completeFile(word: string, files: readonly string[]): Completion[] {
  const wanted = word.toLowerCase();
  const ranked: string[][] = [[], [], [], []];
  for (const file of files) {
    const rank = rankOf(file.toLowerCase(), wanted);
    if (rank >= 0 && (ranked[rank]?.length ?? MOST) < 200) ranked[rank]?.push(file);
  }
  return ranked
    .flatMap((some) => some.sort((one, two) => one.length - two.length || (one < two ? -1 : 1)))
    .slice(0, MOST)
    .map((file) => ({ text: /\s/.test(file) ? `@"${file}" ` : `@${file} `, note: "" }));
}

function rankOf(file: string, wanted: string): number {
  if (file.startsWith(wanted)) return 0;
  if (file.slice(file.lastIndexOf("/") + 1).startsWith(wanted)) return 1;
  if (file.includes(wanted)) return 2;
  let at = 0;
  for (const character of wanted) {
    at = file.indexOf(character, at) + 1;
    if (at === 0) return -1;
  }
  return 3;
}
