/**
 * Reads a line that is typed without being shown: the keys of a terminal in raw mode, up to Enter. Pure.
 */

/** The person left instead of answering: Ctrl-C, or Ctrl-D on an empty line. */
export const LEFT = Symbol("left");

export interface HiddenLine {
  /** Undefined until the line is complete. */
  take(keys: string): string | typeof LEFT | undefined;
}

/** Sequences of the terminal: arrows, and the marks around what is pasted. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the keys
const SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?/gs;

export function createHiddenLine(): HiddenLine {
  let typed: string[] = [];
  return {
    take(keys) {
      for (const key of keys.replace(SEQUENCES, "")) {
        if (key === "\r" || key === "\n") return typed.join("");
        if (key === "\x03" || (key === "\x04" && typed.length === 0)) return LEFT;
        typed = typeKey(typed, key);
      }
      return undefined;
    },
  };
}

/**
 * Backspace removes one character, Ctrl-U and Ctrl-W all: words of a hidden line cannot be seen.
 */
function typeKey(typed: string[], key: string): string[] {
  if (key === "\x7f" || key === "\b") return typed.slice(0, -1);
  if (key === "\x15" || key === "\x17") return [];
  return /\p{Cc}/u.test(key) ? typed : [...typed, key];
}
