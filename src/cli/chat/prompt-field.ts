/**
 * The words that a person writes in a chat, with all that helps to write them: the keys, the history and its search, the
 * completions. What was typed leaves it only by its sending or by the person.
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
/** Under the prompt, in the rows after the first. */
export const MARGIN: Row = plainRow("  ");

interface FieldParts {
  readonly cwd: string;
  readonly columns: () => number;
  /** A list of files has come. */
  onChange(): void;
}

export class PromptField {
  readonly editor = new Editor();
  readonly #columns: () => number;
  readonly #menu: CompletionMenu;
  readonly #search: HistorySearch;
  readonly #history = new History();
  #historyFile: string | undefined;
  /** Sent before it was known where the history is kept. */
  readonly #early: string[] = [];
  /** The last entry on its way to the file. Never rejects. */
  #writing: Promise<void> = Promise.resolve();

  constructor({ cwd, columns, onChange }: FieldParts) {
    this.#columns = columns;
    this.#menu = new CompletionMenu(this.editor, cwd, onChange);
    this.#search = new HistorySearch(this.editor, this.#history);
  }

  /** The prompts of other chats come into its history; those that are sent from here on are kept there. */
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

  /** Whether the key was meant for the search or the completions, which are asked before anything else. */
  pressHelp(chord: string): boolean {
    return this.#search.press(chord) || this.#menu.press(chord);
  }

  press(chord: string): void {
    if (chord === "up" || chord === "ctrl-p") this.#moveUp();
    else if (chord === "down" || chord === "ctrl-n") this.#moveDown();
    else if (chord === "ctrl-r") this.#search.begin();
    else if (applyKey(this.editor, chord)) this.#menu.look();
  }

  /** The words leave it, sent or taken back: the history has them. */
  clear(): void {
    this.#remember(this.editor.whole);
    this.editor.replace("");
    this.#menu.look();
  }

  /** The chat is left: what is written comes into the history. Gives the words where there is no file to keep them in. */
  async keep(): Promise<string> {
    const words = this.editor.whole;
    this.#remember(words);
    await this.#writing;
    return this.#historyFile === undefined ? words : "";
  }

  /** Words that nobody has heard, before those that are written now. */
  giveBack(words: readonly string[]): void {
    if (words.length === 0) return;
    const now = this.editor.isEmpty ? [] : [this.editor.whole];
    this.editor.replace([...words, ...now].join("\n"));
  }

  endSearch(): void {
    this.#search.end();
  }

  /** The search, or what the word at the caret may be completed to. */
  toHelpRows(columns: number): Row[] {
    return this.#search.isOpen ? this.#search.toRows() : this.#menu.toRows(columns);
  }

  #remember(words: string): void {
    if (!this.#history.add(words)) return;
    if (this.#historyFile === undefined) this.#early.push(words);
    else this.#write(this.#historyFile, words);
  }

  /** One after the other: the file has them in the order in which they were sent. */
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
