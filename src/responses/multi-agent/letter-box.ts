/** The letters that a run of a team has seen: those for its own agent, and those for agents below it. */

import type { Item } from "../../protocol/items.ts";
import { isBelow } from "../fold/agent-name.ts";
import { type Letter, toMessageItem } from "./team-messages.ts";

export class LetterBox {
  readonly #me: string;
  readonly #letters = new Map<string, Letter>();
  readonly #delivered = new Set<string>();

  constructor(me: string) {
    this.#me = me;
  }

  /** False for one that is there already. */
  add(letter: Letter): boolean {
    if (this.#letters.has(letter.id)) return false;
    this.#letters.set(letter.id, letter);
    return true;
  }

  /** Its agent has been given these, by their ids. */
  mark(ids: Iterable<string>): void {
    for (const id of ids) this.#delivered.add(id);
  }

  /** What has come for its agent and was not given to it yet. */
  get unread(): readonly Letter[] {
    return this.to(this.#me).filter(({ id }) => !this.#delivered.has(id));
  }

  /** Those, as items. They count as given from here on. */
  deliver(): Item[] {
    const letters = this.unread;
    this.mark(letters.map(({ id }) => id));
    return letters.map(toMessageItem);
  }

  to(recipient: string): readonly Letter[] {
    return [...this.#letters.values()].filter((letter) => letter.recipient === recipient);
  }

  /** Those for an agent and for all below it. */
  within(name: string): readonly Letter[] {
    return [...this.#letters.values()].filter(
      ({ recipient }) => recipient === name || isBelow(recipient, name),
    );
  }
}

export function messageIds(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.type === "agent_message" ? [String(item.id)] : []));
}
