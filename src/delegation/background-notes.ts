/**
 * The notes in the journal about a run's background children. Small: every run loads it, and most have no such child.
 */

import type { CallNote } from "../agent/background.ts";
import type { ChildWord } from "../protocol/child-news.ts";

export class BackgroundNotes {
  /** The children whose reports the model has not been told. */
  readonly outstanding = new Set<string>();
  /** The marks of everything that was told. */
  readonly told = new Set<string>();
  /** The children that an earlier owner of the run has left. */
  readonly toRestore: string[] = [];

  get isOpen(): boolean {
    return this.outstanding.size > 0;
  }

  learn({ started, told }: CallNote, { isReplayed }: { readonly isReplayed: boolean }): void {
    for (const id of started) {
      this.outstanding.add(id);
      if (isReplayed) this.toRestore.push(id);
    }
    this.#mark(told);
  }

  hear(news: readonly ChildWord[]): void {
    this.#mark(news.map(({ mark }) => mark));
  }

  #mark(marks: readonly string[]): void {
    for (const mark of marks) {
      this.told.add(mark);
      this.outstanding.delete(mark);
    }
  }
}
