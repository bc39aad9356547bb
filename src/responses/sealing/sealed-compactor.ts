/**
 * Compacts a conversation for a client: the summary and the user's own words are sealed into one `compaction` item.
 */

import type { CompactionSeal } from "../../agent/context/compacted-context.ts";
import type { Compacted } from "../../agent/context/context-keeper.ts";
import type { CompactionWish, Compactor } from "../../agent/context/create-keeper.ts";
import {
  type Expanded,
  type Expanding,
  expandCompactions,
} from "../../agent/context/expand-compactions.ts";
import { type KeptWords, keepAsked, keepWords } from "../../agent/context/keep-words.ts";
import type { Summariser, Told } from "../../agent/context/summariser.ts";
import { Failure } from "../../base/failure.ts";
import { makeId } from "../../base/ids.ts";
import { storedObject } from "../../base/stored.ts";
import type { Compaction, Item } from "../../protocol/items.ts";
import type { RunEvent } from "../../protocol/run-events.ts";
import { idPrefixOf } from "../fold/emitted-item.ts";

export interface SealedCompactorParts {
  readonly summariser: Summariser;
  readonly seal: CompactionSeal;
  readonly expanding: Expanding;
  /** The most tokens that are kept word for word. */
  readonly keptTokens: number;
}

/** As it is in the journal. */
interface SealedCompaction extends Pick<Told, "answer"> {
  readonly item: Compaction;
}

const STORED_COMPACTION = storedObject<SealedCompaction>("a compaction", ["item", "answer"]);

/** Always makes one, however short the conversation is. */
export interface SealedCompactor extends Compactor {
  compact(
    items: readonly Item[],
    wish: Pick<CompactionWish, "place" | "asked">,
  ): Promise<Compacted>;
}

export function createSealedCompactor(parts: SealedCompactorParts): SealedCompactor {
  const { summariser, seal, expanding } = parts;
  return {
    async compact(items, { place, asked = [] }) {
      const open = new Set(asked);
      const before = items.filter((item) => !open.has(item));
      const expanded = expandCompactions(before, { ...expanding, isNative: false });
      if (expanded.items.length === 0) {
        const message = "There is no conversation to compact. Give an `input` before the trigger.";
        throw new Failure("invalid_request", message, { param: "input" });
      }
      const { item, answer } = await summariser.summarise<SealedCompaction>(place, {
        items: expanded.items,
        stored: STORED_COMPACTION,
        write({ summary, answer }) {
          const encrypted_content = seal.seal({ summary, ...keep(parts, expanded, asked) });
          const id = makeId(idPrefixOf("compaction"));
          const made: Compaction = { type: "compaction", id, encrypted_content };
          return { made: { item: made, answer }, events: toEvents(made) };
        },
      });
      return { items: [item], answer };
    },
  };
}

function keep(
  { keptTokens: maxTokens }: SealedCompactorParts,
  { items, summary: except }: Expanded,
  asked: readonly Item[],
): KeptWords {
  if (asked.length === 0) return keepWords(items, maxTokens, except);
  return keepAsked(items, asked, { maxTokens, except });
}

function toEvents(item: Item): RunEvent[] {
  return [
    { type: "item_start", index: 0, item },
    { type: "item_end", index: 0, item },
  ];
}
