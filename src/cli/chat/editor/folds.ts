/**
 * Long pastes, folded: in the text of the editor a paste is one character of a private plane, so the caret steps over it,
 * and deleting or undoing it is that of any character. Nothing of what was pasted is ever lost: it is sent whole, can
 * be unfolded in place, goes to the external editor and to the history written out.
 */

import { plural, withThousands } from "../../../base/text.ts";

/** The first of them, in a plane that nobody types from. */
const FIRST = 0xf0000;
const MOST = 0xfff;
const FOLD = /[\u{f0000}-\u{f0fff}]/gu;
/** A paste of more lines or more characters is folded. */
const MAX_LINES = 20;
const MAX_CHARS = 4000;

export class Folds {
  readonly #texts: string[] = [];

  /** The character that stands for the text, or the text itself where it is short. */
  fold(text: string): string {
    const clean = text.replace(FOLD, "\ufffd");
    if (!isLong(clean) || this.#texts.length > MOST) return clean;
    const known = this.#texts.indexOf(clean);
    if (known < 0) this.#texts.push(clean);
    const at = known < 0 ? this.#texts.length - 1 : known;
    return String.fromCodePoint(FIRST + at);
  }

  /** Folds again what was unfolded elsewhere and came back unchanged. */
  refold(text: string): string {
    let folded = text.replace(FOLD, "\ufffd");
    for (const [at, one] of this.#texts.entries()) {
      if (folded.includes(one)) folded = folded.replaceAll(one, String.fromCodePoint(FIRST + at));
    }
    return folded;
  }

  /** With every fold written out. */
  unfold(text: string): string {
    return text.replace(FOLD, (mark) => this.textOf(mark) ?? "");
  }

  /** What a character stands for; undefined for any other. */
  textOf(character: string): string | undefined {
    const code = character.codePointAt(0) ?? 0;
    return code >= FIRST && code <= FIRST + MOST ? this.#texts[code - FIRST] : undefined;
  }

  /** `[paste 1: 10,000 lines]`; undefined for another character. */
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
