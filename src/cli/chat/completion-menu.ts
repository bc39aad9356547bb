/**
 * The completions of the word at the caret, as a list above the editor: arrows pick, Tab and Enter take.
 */

import { NEVER } from "../../base/async.ts";
import { createPathReader } from "../../tools/files/ripgrep/list-files.ts";
import { runRipgrep } from "../../tools/files/ripgrep/ripgrep.ts";
import { clipRow, PEN, type Row } from "../screen/rows.ts";
import { cleanForTerminal } from "../terminal.ts";
import { type Completion, completeCommand, completeFile, findWord } from "./complete.ts";
import type { Editor } from "./editor/editor.ts";

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

  /**
   * Called when the text has changed. Files are listed when a word first needs them, and again for the next word.
   */
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

  /** Returns true if the key was meant for the list. */
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

  /** True if the word is complete: Enter then sends it as it is. */
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

/**
 * Lists the files of a folder that git would track, by ripgrep: for completion.
 *
 * In a larger folder, the first of them are completed.
 */
const MOST = 50_000;
/** Without git's own folder. Files whose names begin with a dot are included. */
const FLAGS = ["--files", "--null", "--hidden", "--glob", "!.git"];

async function listFolderFiles(cwd: string, signal: AbortSignal): Promise<readonly string[]> {
  const files: string[] = [];
  const done = new AbortController();
  const reader = createPathReader((path) => {
    // A name with a quote or a line break cannot be written after `@`. A name with control characters cannot be
    // chosen, because the list would show another name.
    const canBeWritten = !/["\n]/.test(path) && cleanForTerminal(path) === path;
    if (files.length < MOST && canBeWritten) files.push(path);
    else if (files.length >= MOST) done.abort();
  });
  const both = AbortSignal.any([signal, done.signal]);
  try {
    await runRipgrep({ flags: FLAGS, cwd, signal: both, complaint: "Command failed" }, reader);
  } catch {
    // The files found until then are offered.
  }
  return files;
}
