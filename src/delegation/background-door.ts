/** The background children of a run, whose code is loaded by the first call that starts a child. */

import type { Background, CallNote, LeftChildren } from "../agent/background.ts";
import type { ChildWord } from "../protocol/child-news.ts";
import type { BackgroundChildren, BackgroundParts } from "./background.ts";
import { BackgroundNotes } from "./background-notes.ts";
import type { DelegationNode } from "./node.ts";

/** A run whose calls may leave children running. */
export interface WatchingNode extends DelegationNode {
  /** The background children of the run; undefined if every call waits for its child. */
  readonly background?: BackgroundDoor | undefined;
}

const NONE_LEFT: LeftChildren = { stopped: [], unread: [] };

export class BackgroundDoor implements Background {
  readonly #parts: BackgroundParts;
  #loading: Promise<BackgroundChildren> | undefined;
  #children: BackgroundChildren | undefined;

  constructor(parts: Omit<BackgroundParts, "known">) {
    this.#parts = { ...parts, known: new BackgroundNotes() };
  }

  /** Opens the set of background children: one set for each run. */
  open(): Promise<BackgroundChildren> {
    this.#loading ??= import("./background.ts").then(({ BackgroundChildren }) => {
      this.#children = new BackgroundChildren(this.#parts);
      return this.#children;
    });
    return this.#loading;
  }

  get isOpen(): boolean {
    return this.#parts.known.isOpen;
  }

  noteOf(callKey: string): CallNote | undefined {
    return this.#children?.noteOf(callKey);
  }

  learn(note: CallNote, how: { readonly isReplayed: boolean }): void {
    this.#parts.known.learn(note, how);
  }

  hear(news: readonly ChildWord[]): void {
    this.#parts.known.hear(news);
  }

  async restore(): Promise<void> {
    if (this.#parts.known.toRestore.length > 0) await (await this.open()).restore();
  }

  async look(turn: number): Promise<readonly ChildWord[]> {
    return await (await this.open()).look(turn);
  }

  async settle(turn: number, stepKey: string): Promise<readonly ChildWord[]> {
    return await (await this.open()).settle(turn, stepKey);
  }

  async end(): Promise<LeftChildren> {
    const isNeeded = this.#loading !== undefined || this.#parts.known.toRestore.length > 0;
    return isNeeded ? await (await this.open()).end() : NONE_LEFT;
  }
}
