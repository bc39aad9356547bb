/**
 * The output of a response while it grows, and the items that each speaker of its log has begun. An item keeps its index (`output_index`) for ever. Items that a takeover
 * abandoned are removed from the list that is shown, so indices may be missing there.
 */

import { createOpenWork, type OpenWork } from "../../protocol/abandoned-work.ts";
import type { EmittedItem } from "../../protocol/emitted.ts";
import type { PartWriter } from "./part-writer.ts";

export interface OutputList {
  /** Returns the item's index. */
  add(item: EmittedItem): number;
  replace(place: number, item: EmittedItem): void;
  /** From here on the item is part of no answer and of no history. */
  abandon(place: number): void;
  /** Number of indices in use. */
  readonly length: number;
  /** Every item at its index, abandoned ones included. */
  readonly all: readonly EmittedItem[];
  /**
   * Without abandoned items, and without `unfinished` indices. Works on any list with one entry for each item.
   */
  select<Said>(items: readonly Said[], unfinished?: Iterable<number>): Said[];
}

export function createOutputList(): OutputList {
  return new OwnOutputList();
}

class OwnOutputList implements OutputList {
  readonly all: EmittedItem[] = [];
  readonly #abandoned = new Set<number>();

  get length(): number {
    return this.all.length;
  }

  add(item: EmittedItem): number {
    return this.all.push(item) - 1;
  }

  replace(place: number, item: EmittedItem): void {
    this.all[place] = item;
  }

  abandon(place: number): void {
    this.#abandoned.add(place);
  }

  select<Said>(items: readonly Said[], unfinished: Iterable<number> = []): Said[] {
    const left = new Set<unknown>();
    for (const place of [...this.#abandoned, ...unfinished]) left.add(this.all[place]);
    return left.size === 0 ? [...items] : items.filter((item) => !left.has(item));
  }
}

export interface OpenOutput {
  readonly outputIndex: number;
  readonly item: EmittedItem;
  readonly parts: PartWriter;
  /** True if this server makes the call, and so reports its progress. */
  readonly isOwn: boolean;
}

/** A speaker of a log: the run itself, or an agent of its team. Only the event writer changes it. */
export interface Speaker {
  /** Undefined without a team. */
  agent: string | undefined;
  /** The speaker's unfinished items of the present turn, by their index in the turn. */
  readonly open: Map<number, OpenOutput>;
  /** The indices of the present turn's items in the whole output. */
  places: Map<number, number>;
  /** Calls that its model has made and this server has not made yet, by their ids. */
  readonly pending: Map<string, OpenOutput>;
  /** Work that a takeover would abandon. Calls of a turn that has ended are not part of it. */
  readonly work: OpenWork;
}

export function createSpeaker(agent?: string): Speaker {
  const work = createOpenWork();
  return { agent, open: new Map(), places: new Map(), pending: new Map(), work };
}
