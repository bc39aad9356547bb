/**
 * Continues an answer that broke off because the model's server could not parse the call that the model
 * wrote. The output so far has been emitted, so the call is not retried: the output goes back to the model,
 * which continues from there, and both pieces are one answer.
 */

import { toFailure } from "../../base/failure.ts";
import type { Item, Message } from "../../protocol/items.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import { addUsage, NO_USAGE } from "../../protocol/usage.ts";
import type { ModelCall, ModelRequest, Provider } from "../provider.ts";
import { isSlip } from "../provider-failure.ts";

/** How often an answer is continued. A model that makes the mistake three times will make it again. */
const MAX_SLIPS = 3;

const HINT: Message = {
  type: "message",
  role: "developer",
  content:
    "Your last tool call could not be read. Go on from what you have said, and write the call again as its schema asks.",
};

/** Emits the events of `ask`. If it fails before any output, the caller retries. */
export async function* continueAfterSlips(
  ask: Provider["stream"],
  asked: ModelRequest,
  call: ModelCall,
): AsyncGenerator<readonly ModelEvent[], void> {
  const answer = new JoinedAnswer();
  let request = asked;
  for (let slips = 0; ; slips++) {
    try {
      for await (const batch of ask(request, answer.watch(call))) yield answer.read(batch);
      return;
    } catch (thrown) {
      const failure = toFailure(thrown);
      const canGoOn = isSlip(failure) && slips < MAX_SLIPS && !call.signal.aborted;
      const ends = canGoOn ? answer.cut() : undefined;
      if (!ends) throw failure;
      call.notice?.({ code: "retry", message: `${failure.message} Asking the model to continue.` });
      if (ends.length > 0) yield ends;
      request = { ...asked, items: [...asked.items, ...answer.said, HINT] };
    }
  }
}

interface OpenItem {
  readonly item: Item;
  readonly pieces: string[];
}

class JoinedAnswer {
  /** The items that have ended. */
  readonly said: Item[] = [];
  readonly #open = new Map<number, OpenItem>();
  #isStarted = false;
  /** The index of the first item of this attempt. */
  #first = 0;
  #next = 0;
  #usage = NO_USAGE;
  #counted = NO_USAGE;

  /** Counts the cost of an interrupted attempt in the answer. */
  watch(call: ModelCall): ModelCall {
    this.#counted = NO_USAGE;
    return {
      ...call,
      onUsage: (usage) => {
        this.#counted = usage;
        call.onUsage?.(addUsage(this.#usage, usage));
      },
    };
  }

  /** The events, with indexes after those of the earlier attempts. */
  read(batch: readonly ModelEvent[]): readonly ModelEvent[] {
    const events = this.said.length === 0 ? batch : batch.flatMap((event) => this.#move(event));
    for (const event of events) this.#note(event);
    return events;
  }

  /** Ends open items. Undefined if there was no output, or if a call was begun, which cannot be taken back. */
  cut(): readonly ModelEvent[] | undefined {
    const ends = [...this.#open].map(([index, open]) => ({ index, item: toEnded(open) }));
    const isPlain = [...this.said, ...ends.map(({ item }) => item)].every(
      (item) => item?.type === "message" || item?.type === "reasoning",
    );
    if (this.#next === 0 || !isPlain) return undefined;
    const events = ends.flatMap(({ index, item }): ModelEvent[] =>
      item ? [{ type: "item_end", index, item }] : [],
    );
    for (const event of events) this.#note(event);
    this.#first = this.#next;
    this.#usage = addUsage(this.#usage, this.#counted);
    return events;
  }

  #move(event: ModelEvent): ModelEvent[] {
    if (event.type === "start") return this.#isStarted ? [] : [event];
    if (event.type === "end") return [{ ...event, usage: addUsage(this.#usage, event.usage) }];
    return ["index" in event ? { ...event, index: event.index + this.#first } : event];
  }

  #note(event: ModelEvent): void {
    switch (event.type) {
      case "start":
        this.#isStarted = true;
        return;
      case "item_start":
        this.#next = Math.max(this.#next, event.index + 1);
        this.#open.set(event.index, { item: event.item, pieces: [] });
        return;
      case "text_delta":
      case "reasoning_delta":
        this.#open.get(event.index)?.pieces.push(event.delta);
        return;
      case "item_end":
        this.#open.delete(event.index);
        this.said.push(event.item);
        return;
      default:
    }
  }
}

/** The item with the text so far; undefined if it is not text. */
function toEnded({ item, pieces }: OpenItem): Item | undefined {
  const text = pieces.join("");
  if (item.type === "reasoning") return { ...item, content: [{ type: "reasoning_text", text }] };
  if (item.type !== "message") return undefined;
  const content = [{ type: "output_text" as const, text, annotations: [] }];
  return { ...item, status: "completed", content };
}
