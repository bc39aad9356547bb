/**
 * The prompts that were sent before: arrows step through them, Ctrl-R searches. Pure; `history-file.ts` stores them.
 */

const MOST = 1000;

export class History {
  readonly #entries: string[];
  /** The entry that is shown; the number of entries while the person writes a new one. */
  #at: number;
  /** The unfinished text when the person began to look back. */
  #draft = "";

  constructor(entries: readonly string[] = []) {
    this.#entries = entries.slice(-MOST);
    this.#at = this.#entries.length;
  }

  /** Adds what other chats have sent, before all entries of this one. */
  addOlder(entries: readonly string[]): void {
    const older = entries.slice(-Math.max(0, MOST - this.#entries.length));
    this.#entries.unshift(...older);
    this.#at += older.length;
  }

  /** Returns true if it is new: a repeated prompt is not kept twice. */
  add(text: string): boolean {
    const isNew = text.trim() !== "" && this.#entries.at(-1) !== text;
    if (isNew) this.#entries.push(text);
    if (this.#entries.length > MOST) this.#entries.shift();
    this.#at = this.#entries.length;
    this.#draft = "";
    return isNew;
  }

  /** The entry before; undefined at the oldest. */
  back(current: string): string | undefined {
    if (this.#at === 0) return undefined;
    if (this.#at === this.#entries.length) this.#draft = current;
    return this.#entries[--this.#at];
  }

  /** The entry after; after the newest, the unfinished text. */
  forth(): string | undefined {
    if (this.#at >= this.#entries.length) return undefined;
    this.#at++;
    return this.#at === this.#entries.length ? this.#draft : this.#entries[this.#at];
  }

  /** The newest entry with the words, before the place where the last one was found. */
  search(words: string, before = this.#entries.length): HistoryMatch | undefined {
    const wanted = words.toLowerCase();
    for (let at = Math.min(before, this.#entries.length) - 1; at >= 0; at--) {
      const text = this.#entries[at] ?? "";
      if (text.toLowerCase().includes(wanted)) return { at, text };
    }
    return undefined;
  }
}

export interface HistoryMatch {
  readonly at: number;
  readonly text: string;
}
