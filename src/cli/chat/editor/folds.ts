/**
 * Folds long pastes: in the text of the editor a paste is one character of a private plane, so that the caret steps
 * over it, and deleting or undoing it works as for any character. The pasted text is never lost: it is sent whole,
 * can be unfolded in place, and is written out for the external editor and the history.
 */

import { plural, withThousands } from "../../../base/text.ts";

/** The first such character, in a plane that no keyboard types. */
const FIRST = 0xf0000;
const MOST = 0xfff;
const FOLD = /[\u{f0000}-\u{f0fff}]/gu;
/** A paste of more lines or more characters is folded. */
const MAX_LINES = 20;
const MAX_CHARS = 4000;

export class Folds {
  readonly #texts: string[] = [];

  /** Returns the character that stands for the text, or the text itself if it is short. */
  fold(text: string): string {
    const clean = text.replace(FOLD, "\ufffd");
    if (!isLong(clean) || this.#texts.length > MOST) return clean;
    const known = this.#texts.indexOf(clean);
    if (known < 0) this.#texts.push(clean);
    const at = known < 0 ? this.#texts.length - 1 : known;
    return String.fromCodePoint(FIRST + at);
  }

  /** Folds text again that was unfolded elsewhere and came back unchanged. */
  refold(text: string): string {
    let folded = text.replace(FOLD, "\ufffd");
    for (const [at, one] of this.#texts.entries()) {
      if (folded.includes(one)) folded = folded.replaceAll(one, String.fromCodePoint(FIRST + at));
    }
    return folded;
  }

  /** Writes out every fold. */
  unfold(text: string): string {
    return text.replace(FOLD, (mark) => this.textOf(mark) ?? "");
  }

  /** The text of a fold's character; undefined for any other character. */
  textOf(character: string): string | undefined {
    const code = character.codePointAt(0) ?? 0;
    return code >= FIRST && code <= FIRST + MOST ? this.#texts[code - FIRST] : undefined;
  }

  /** `[paste 1: 10,000 lines]`; undefined for any other character. */
  labelOf(character: string): string | undefined {
    const text = this.textOf(character);
    if (text === undefined) return undefined;
    const lines = text.split("\n").length;
    const size = lines > 1 ? `${withThousands(lines)} lines` : plural(text.length, "character");
    return `[paste ${(character.codePointAt(0) ?? FIRST) - FIRST + 1}: ${size}]`;
  }
}

export function isLong(text: string): boolean {
  return text.length > MAX_CHARS || countLines(text) > MAX_LINES;
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
