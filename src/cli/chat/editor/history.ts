/** What was sent before: gone through with the arrows, looked for with Ctrl-R. Pure; `history-file.ts` keeps it. */

const MOST = 1000;

export class History {
  readonly #entries: string[];
  /** Which one is shown; as many as there are for what is being written. */
  #at: number;
  /** What was being written when somebody began to look back. */
  #draft = "";

  constructor(entries: readonly string[] = []) {
    this.#entries = entries.slice(-MOST);
    this.#at = this.#entries.length;
  }

  /** What other chats have sent, before all that this one has. */
  addOlder(entries: readonly string[]): void {
    const older = entries.slice(-Math.max(0, MOST - this.#entries.length));
    this.#entries.unshift(...older);
    this.#at += older.length;
  }

  /** Returns whether it is new: the same again is not kept twice. */
  add(text: string): boolean {
    const isNew = text.trim() !== "" && this.#entries.at(-1) !== text;
    if (isNew) this.#entries.push(text);
    if (this.#entries.length > MOST) this.#entries.shift();
    this.#at = this.#entries.length;
    this.#draft = "";
    return isNew;
  }

  /** The one before; undefined at the oldest. */
  back(current: string): string | undefined {
    if (this.#at === 0) return undefined;
    if (this.#at === this.#entries.length) this.#draft = current;
    return this.#entries[--this.#at];
  }

  /** The one after; what was being written after the newest. */
  forth(): string | undefined {
    if (this.#at >= this.#entries.length) return undefined;
    this.#at++;
    return this.#at === this.#entries.length ? this.#draft : this.#entries[this.#at];
  }

  /** The newest that has the words, before the place where the last one was found. */
  search(words: string, before = this.#entries.length): Found | undefined {
    const wanted = words.toLowerCase();
    for (let at = Math.min(before, this.#entries.length) - 1; at >= 0; at--) {
      const text = this.#entries[at] ?? "";
      if (text.toLowerCase().includes(wanted)) return { at, text };
    }
    return undefined;
  }
}

export interface Found {
  readonly at: number;
  readonly text: string;
}
