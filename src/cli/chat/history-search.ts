/**
 * Ctrl-R: finds the newest prompt with the words; again for the one before it. Esc brings back the unfinished text.
 */

import { PEN, type Row } from "../screen/rows.ts";
import { applyKey } from "./edit-keys.ts";
import { Editor } from "./editor/editor.ts";
import type { History, HistoryMatch } from "./editor/history.ts";

export class HistorySearch {
  readonly #editor: Editor;
  readonly #history: History;
  #open: OpenSearch | undefined;

  constructor(editor: Editor, history: History) {
    this.#editor = editor;
    this.#history = history;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** The field with the search words. */
  get field(): Editor {
    return this.#open?.field ?? this.#editor;
  }

  begin(): void {
    const draft = this.#editor.whole;
    this.#open = { field: new Editor(), draft, found: undefined, isFound: true };
  }

  end(): void {
    this.#open = undefined;
  }

  look(before?: number): void {
    if (!this.#open) return;
    const found = this.#history.search(this.#open.field.text, before);
    this.#open.isFound = found !== undefined;
    if (!found) return;
    this.#open.found = found;
    this.#editor.replace(found.text);
  }

  /**
   * Returns true if the key was meant for the search. Any other key ends the search and then has its usual effect.
   */
  press(chord: string): boolean {
    const open = this.#open;
    if (!open) return false;
    if (chord === "ctrl-r") this.look(open.found?.at);
    else if (chord === "escape" || chord === "ctrl-g") {
      this.#editor.replace(open.draft);
      this.end();
    } else if (chord === "backspace") {
      applyKey(open.field, chord);
      this.look();
    } else {
      this.end();
      return chord === "tab";
    }
    return true;
  }

  toRows(): Row[] {
    const words = this.#open?.field.text ?? "";
    const none = this.#open?.isFound === false ? "nothing more found · " : "";
    return [
      [
        { text: `history: ${words}_ `, pen: PEN.warn },
        { text: `${none}Ctrl-R again · Enter · Esc`, pen: PEN.dim },
      ],
    ];
  }
}

interface OpenSearch {
  /** The search words. */
  readonly field: Editor;
  /** The text before the search. */
  readonly draft: string;
  found: HistoryMatch | undefined;
  /** True if the last search found something. */
  isFound: boolean;
}
