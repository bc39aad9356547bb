/**
 * The field in which a person writes, with its helpers: the keys, the history and its search, the completions. Typed
 * text leaves it only when it is sent or when the person removes it.
 */

import type { Typed } from "../screen/keys.ts";
import { PEN, plainRow, type Row } from "../screen/rows.ts";
import { CompletionMenu } from "./completion-menu.ts";
import { applyKey } from "./edit-keys.ts";
import { Editor } from "./editor/editor.ts";
import { History } from "./editor/history.ts";
import { moveVertically, toTextColumns } from "./editor/layout.ts";
import { appendHistory, readHistory } from "./history-file.ts";
import { HistorySearch } from "./history-search.ts";

export const PROMPT: Row = [{ text: "> ", pen: PEN.busy }];
/** Stands before the rows after the first, below the prompt. */
export const MARGIN: Row = plainRow("  ");

interface FieldParts {
  readonly cwd: string;
  readonly columns: () => number;
  /** Called when the list of files has arrived. */
  onChange(): void;
}

export class PromptField {
  readonly editor = new Editor();
  readonly #columns: () => number;
  readonly #menu: CompletionMenu;
  readonly #search: HistorySearch;
  readonly #history = new History();
  #historyFile: string | undefined;
  /** Prompts that were sent before the place of the history was known. */
  readonly #early: string[] = [];
  /** Resolves when the last entry was written to the file. Never rejects. */
  #writing: Promise<void> = Promise.resolve();

  constructor({ cwd, columns, onChange }: FieldParts) {
    this.#columns = columns;
    this.#menu = new CompletionMenu(this.editor, cwd, onChange);
    this.#search = new HistorySearch(this.editor, this.#history);
  }

  /** Loads the prompts of other chats into the history; prompts from now on are stored there. */
  async open(historyFile: string): Promise<void> {
    this.#history.addOlder(await readHistory(historyFile));
    this.#historyFile = historyFile;
    for (const words of this.#early.splice(0)) this.#write(historyFile, words);
  }

  write(typed: Exclude<Typed, { type: "key" }>): void {
    const field = this.#search.isOpen ? this.#search.field : this.editor;
    if (typed.type === "paste") field.paste(typed.text);
    else field.type(typed.text);
    if (this.#search.isOpen) this.#search.look();
    else this.#menu.look();
  }

  /**
   * Returns true if the key was meant for the search or the completions, which are asked before anything else.
   */
  pressHelp(chord: string): boolean {
    return this.#search.press(chord) || this.#menu.press(chord);
  }

  press(chord: string): void {
    if (chord === "up" || chord === "ctrl-p") this.#moveUp();
    else if (chord === "down" || chord === "ctrl-n") this.#moveDown();
    else if (chord === "ctrl-r") this.#search.begin();
    else if (applyKey(this.editor, chord)) this.#menu.look();
  }

  /** Empties the field after its words were sent or taken back: the history has them. */
  clear(): void {
    this.#remember(this.editor.whole);
    this.editor.replace("");
    this.#menu.look();
  }

  /**
   * For the end of the chat: stores the unfinished text in the history. Returns it if there is no file for it.
   */
  async keep(): Promise<string> {
    const words = this.editor.whole;
    this.#remember(words);
    await this.#writing;
    return this.#historyFile === undefined ? words : "";
  }

  /** Puts words that no run has read before the text in the editor. */
  giveBack(words: readonly string[]): void {
    if (words.length === 0) return;
    const now = this.editor.isEmpty ? [] : [this.editor.whole];
    this.editor.replace([...words, ...now].join("\n"));
  }

  /** Puts words that were typed elsewhere, and later, after the text in the editor. */
  add(words: string): void {
    this.editor.replace(this.editor.isEmpty ? words : `${this.editor.whole}\n${words}`);
  }

  endSearch(): void {
    this.#search.end();
  }

  /** Rows of the search, or of the completions of the word at the caret. */
  toHelpRows(columns: number): Row[] {
    return this.#search.isOpen ? this.#search.toRows() : this.#menu.toRows(columns);
  }

  #remember(words: string): void {
    if (!this.#history.add(words)) return;
    if (this.#historyFile === undefined) this.#early.push(words);
    else this.#write(this.#historyFile, words);
  }

  /** One after the other: the file has the prompts in the order in which they were sent. */
  #write(file: string, words: string): void {
    this.#writing = this.#writing.then(() => appendHistory(file, words));
  }

  #moveUp(): void {
    const place = this.#findRow(-1);
    if (place !== undefined) return this.editor.moveTo(place);
    const text = this.#history.back(this.editor.whole);
    if (text !== undefined) this.editor.replace(text);
  }

  #moveDown(): void {
    const place = this.#findRow(1);
    if (place !== undefined) return this.editor.moveTo(place);
    const text = this.#history.forth();
    if (text !== undefined) this.editor.replace(text);
  }

  #findRow(step: -1 | 1): number | undefined {
    const columns = toTextColumns({ columns: this.#columns(), prompt: PROMPT });
    return moveVertically(this.editor, this.editor.folds, { step, columns });
  }
}
