/** The completions of the word at the caret, as a list below which it is written: arrows pick, Tab and Enter take. */

import { NEVER } from "../../base/async.ts";
import { clipRow, PEN, type Row } from "../screen/rows.ts";
import { type Completion, completeCommand, completeFile, findWord } from "./complete.ts";
import type { Editor } from "./editor/editor.ts";
import { listFolderFiles } from "./list-files.ts";

export class CompletionMenu {
  readonly #editor: Editor;
  readonly #cwd: string;
  readonly #onChange: () => void;
  #completions: readonly Completion[] = [];
  #at = 0;
  #files: readonly string[] | undefined;
  #isListing = false;

  constructor(editor: Editor, cwd: string, onChange: () => void) {
    this.#editor = editor;
    this.#cwd = cwd;
    this.#onChange = onChange;
  }

  /** The text has changed. Files are listed when a word first wants them, and again for the next one. */
  look(): void {
    const word = findWord(this.#editor);
    this.#at = 0;
    if (!word) {
      this.#completions = [];
      this.#files = undefined;
      return;
    }
    if (word.kind === "command") {
      this.#completions = completeCommand(word.word);
      return;
    }
    if (this.#files) this.#completions = completeFile(word.word, this.#files);
    else void this.#list();
  }

  /** Whether the key was meant for the list. */
  press(chord: string): boolean {
    const count = this.#completions.length;
    if (count === 0) return false;
    if (chord === "down") this.#at = (this.#at + 1) % count;
    else if (chord === "up") this.#at = (this.#at - 1 + count) % count;
    else if (chord === "escape") this.#completions = [];
    else if (chord === "tab" || (chord === "enter" && !this.#isWritten())) this.#take();
    else return false;
    return true;
  }

  toRows(columns: number): Row[] {
    return this.#completions.map(({ text, note }, at) =>
      clipRow(
        [
          { text: `${at === this.#at ? "> " : "  "}${text}`, pen: at === this.#at ? PEN.bold : "" },
          { text: note === "" ? "" : ` ${note}`, pen: PEN.dim },
        ],
        columns - 1,
      ),
    );
  }

  /** Enter sends what stands there as it is. */
  #isWritten(): boolean {
    const word = findWord(this.#editor);
    const picked = this.#completions[this.#at];
    const written = word && this.#editor.text.slice(word.start, word.end);
    return picked?.text.trim() === written;
  }

  #take(): void {
    const word = findWord(this.#editor);
    const picked = this.#completions[this.#at];
    if (word && picked) this.#editor.replaceRange(word.start, word.end, picked.text);
    this.look();
  }

  async #list(): Promise<void> {
    if (this.#isListing) return;
    this.#isListing = true;
    try {
      this.#files = await listFolderFiles(this.#cwd, NEVER);
    } finally {
      this.#isListing = false;
    }
    this.look();
    this.#onChange();
  }
}
