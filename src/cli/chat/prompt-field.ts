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
  #history = new History();
  #historyFile: string | undefined;

  constructor({ cwd, columns, onChange }: FieldParts) {
    this.#columns = columns;
    this.#menu = new CompletionMenu(this.editor, cwd, onChange);
    this.#search = new HistorySearch(this.editor, () => this.#history);
  }

  /** The prompts of other chats come into its history; those that are sent from here on are kept there. */
  async open(historyFile: string): Promise<void> {
    this.#history = new History(await readHistory(historyFile));
    this.#historyFile = historyFile;
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

  /** The words are sent: they leave it, and the history has them. */
  send(): void {
    const words = this.editor.whole;
    const isNew = this.#history.add(words);
    if (isNew && this.#historyFile !== undefined) void appendHistory(this.#historyFile, words);
    this.#empty();
  }

  /** The words are taken back: this chat's history has them. */
  clear(): void {
    this.#history.add(this.editor.whole);
    this.#empty();
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

  #empty(): void {
    this.editor.replace("");
    this.#menu.look();
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
