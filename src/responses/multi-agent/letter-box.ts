/** The letters that a run of a team has seen: for its own agent, and for agents below it. */

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

  /** False if it is already there. */
  add(letter: Letter): boolean {
    if (this.#letters.has(letter.id)) return false;
    this.#letters.set(letter.id, letter);
    return true;
  }

  /** Notes that its agent has got the letters with these ids. */
  mark(ids: Iterable<string>): void {
    for (const id of ids) this.#delivered.add(id);
  }

  /** Letters for its agent that the agent has not got yet. */
  get unread(): readonly Letter[] {
    return this.to(this.#me).filter(({ id }) => !this.#delivered.has(id));
  }

  /** The waiting letters, as items. They count as delivered from here on. */
  deliver(): Item[] {
    const letters = this.unread;
    this.mark(letters.map(({ id }) => id));
    return letters.map(toMessageItem);
  }

  to(recipient: string): readonly Letter[] {
    return [...this.#letters.values()].filter((letter) => letter.recipient === recipient);
  }

  /** Letters to an agent that are not among the items that it knows. */
  unsaid(recipient: string, known: readonly Item[]): Item[] {
    const said = new Set(messageIds(known));
    const items = this.to(recipient).map(toMessageItem);
    return items.filter((item) => !messageIds([item]).some((id) => said.has(id)));
  }

  /** The letters for an agent and for all below it. */
  within(name: string): readonly Letter[] {
    return [...this.#letters.values()].filter(
      ({ recipient }) => recipient === name || isBelow(recipient, name),
    );
  }
}

export function messageIds(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.type === "agent_message" ? [String(item.id)] : []));
}
