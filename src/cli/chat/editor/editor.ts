/**
 * The text that a person writes, as a model: caret, kill ring, undo, folded pastes. It reads no keys and draws
 * nothing. Every change can be undone, and only the person removes typed text.
 */

import { Folds } from "./folds.ts";
import {
  graphemeAfter,
  graphemeBefore,
  lineEnd,
  lineStart,
  wordAfter,
  wordBefore,
} from "./text-offsets.ts";

export interface EditorText {
  readonly text: string;
  /** UTF-16 offset, never in the middle of a grapheme. */
  readonly caret: number;
}

export type Motion =
  | "left"
  | "right"
  | "word-left"
  | "word-right"
  | "line-start"
  | "line-end"
  | "start"
  | "end";

const MOTIONS: Readonly<Record<Motion, (text: string, caret: number) => number>> = {
  left: graphemeBefore,
  right: graphemeAfter,
  "word-left": wordBefore,
  "word-right": wordAfter,
  "line-start": lineStart,
  "line-end": lineEnd,
  start: () => 0,
  end: (text) => text.length,
};

const MAX_UNDO = 500;
const MAX_KILLS = 30;

/**
 * The kind of the last change: continuous typing is undone together, and kills that follow each other are joined.
 */
type Change = "type" | "kill" | "yank" | "other";

export class Editor {
  readonly folds = new Folds();
  #now: EditorText = { text: "", caret: 0 };
  #past: EditorText[] = [];
  #future: EditorText[] = [];
  #last: Change | undefined;
  #kills: string[] = [];
  /** Where the last yanked text begins, and which kill it is. */
  #yanked: { readonly start: number; readonly kill: number } | undefined;

  get text(): string {
    return this.#now.text;
  }

  get caret(): number {
    return this.#now.caret;
  }

  get isEmpty(): boolean {
    return this.#now.text === "";
  }

  /** The text that is sent: with all pastes written out. */
  get whole(): string {
    return this.folds.unfold(this.text);
  }

  /** Typed characters. */
  type(text: string): void {
    if (text === "") return;
    // A blank ends what is undone together.
    const isWord = this.#last === "type" && !/^\s/.test(text);
    this.#insert(this.folds.refold(text), isWord ? "goes on" : "type");
    this.#last = "type";
  }

  paste(text: string): void {
    if (text !== "") this.#insert(this.folds.fold(text), "other");
  }

  move(motion: Motion): void {
    this.moveTo(MOTIONS[motion](this.text, this.caret));
  }

  moveTo(caret: number): void {
    const { text } = this.#now;
    this.#now = { text, caret: Math.max(0, Math.min(caret, text.length)) };
    this.#last = undefined;
    this.#yanked = undefined;
  }

  /** Deletes the text between the caret and the target of the motion. */
  delete(motion: Motion): void {
    this.#cut(MOTIONS[motion](this.text, this.caret), "other");
  }

  /** Deletes text so that `yank` can put it back. At the end of a line it removes the line break. */
  kill(motion: Motion): void {
    const { text, caret } = this.#now;
    const target = MOTIONS[motion](text, caret);
    const isAtBreak = motion === "line-end" && target === caret;
    const end = isAtBreak ? graphemeAfter(text, caret) : target;
    if (end === caret) return;
    const killed = text.slice(Math.min(caret, end), Math.max(caret, end));
    const isSame = this.#last === "kill";
    const before = isSame ? (this.#kills.pop() ?? "") : "";
    this.#kills.push(end < caret ? killed + before : before + killed);
    if (this.#kills.length > MAX_KILLS) this.#kills.shift();
    this.#cut(end, "kill");
  }

  yank(): void {
    const kill = this.#kills.length - 1;
    if (kill < 0) return;
    const start = this.caret;
    this.#insert(this.#kills[kill] ?? "", "yank");
    this.#yanked = { start, kill };
  }

  /** Replaces the text that was just yanked with the kill before it. */
  yankPop(): void {
    const yanked = this.#yanked;
    if (!yanked || this.#last !== "yank") return;
    const kill = (yanked.kill - 1 + this.#kills.length) % this.#kills.length;
    const { text, caret } = this.#now;
    const put = this.#kills[kill] ?? "";
    const next = text.slice(0, yanked.start) + put + text.slice(caret);
    this.#change({ text: next, caret: yanked.start + put.length }, "yank");
    this.#yanked = { start: yanked.start, kill };
  }

  undo(): void {
    const before = this.#past.pop();
    if (!before) return;
    this.#future.push(this.#now);
    this.#now = before;
    this.#last = undefined;
  }

  redo(): void {
    const after = this.#future.pop();
    if (!after) return;
    this.#past.push(this.#now);
    this.#now = after;
    this.#last = undefined;
  }

  /**
   * Replaces the whole text and puts the caret at its end: for the history, or an external editor.
   */
  replace(text: string): void {
    const folded = this.folds.refold(text);
    if (folded !== this.text) this.#change({ text: folded, caret: folded.length }, "other");
    else this.moveTo(folded.length);
  }

  /** Replaces the text between two positions: for a completion. */
  replaceRange(start: number, end: number, text: string): void {
    const next = this.text.slice(0, start) + text + this.text.slice(end);
    this.#change({ text: next, caret: start + text.length }, "other");
  }

  /** Writes out the fold at the caret, or else the last one. Returns true if there was one. */
  unfoldOne(): boolean {
    const at = this.#findFold();
    if (at === undefined) return false;
    const end = graphemeAfter(this.text, at);
    const text = this.folds.textOf(this.text.slice(at, end)) ?? "";
    this.replaceRange(at, end, text);
    return true;
  }

  #findFold(): number | undefined {
    const { text, caret } = this.#now;
    const isFold = (at: number): boolean =>
      this.folds.textOf(text.slice(at, graphemeAfter(text, at))) !== undefined;
    const before = graphemeBefore(text, caret);
    if (caret > 0 && isFold(before)) return before;
    if (caret < text.length && isFold(caret)) return caret;
    const found = [...text.matchAll(/[\u{f0000}-\u{f0fff}]/gu)].at(-1);
    return found && isFold(found.index) ? found.index : undefined;
  }

  #insert(text: string, change: Change | "goes on"): void {
    const { text: old, caret } = this.#now;
    const next = {
      text: old.slice(0, caret) + text + old.slice(caret),
      caret: caret + text.length,
    };
    if (change !== "goes on") return this.#change(next, change);
    this.#now = next;
    this.#future = [];
  }

  #cut(to: number, change: Change): void {
    const { text, caret } = this.#now;
    if (to === caret) return;
    const start = Math.min(to, caret);
    const end = Math.max(to, caret);
    this.#change({ text: text.slice(0, start) + text.slice(end), caret: start }, change);
  }

  #change(next: EditorText, change: Change): void {
    this.#past.push(this.#now);
    if (this.#past.length > MAX_UNDO) this.#past.shift();
    this.#future = [];
    this.#now = next;
    this.#last = change;
    if (change !== "yank") this.#yanked = undefined;
  }
}
