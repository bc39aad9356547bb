/**
 * Token probabilities for answers whose client asked for them: every piece of text is one token, and the alternatives
 * are made up from it.
 */

import type { Logprob } from "../protocol/content.ts";
import type { Item } from "../protocol/items.ts";
import type { ModelEvent } from "../protocol/model-events.ts";

type Batches = AsyncIterable<readonly ModelEvent[]>;

/** `count` is how many alternatives each token has. */
export async function* withLogprobs(
  batches: Batches,
  count: number,
): AsyncGenerator<readonly ModelEvent[], void> {
  let said: Logprob[] = [];
  const tell = (event: ModelEvent): ModelEvent => {
    if (event.type === "item_start") said = [];
    if (event.type === "item_end") return { ...event, item: toLikelyItem(event.item, said) };
    if (event.type !== "text_delta") return event;
    const logprob = toLogprob(event.delta, count);
    said.push(logprob);
    return { ...event, logprobs: [logprob] };
  };
  for await (const batch of batches) yield batch.map(tell);
}

function toLogprob(text: string, count: number): Logprob {
  const toToken = (token: string, logprob: number) => ({
    token,
    logprob,
    bytes: [...Buffer.from(token)],
  });
  const others = Array.from({ length: count }, (_, at) =>
    toToken(at === 0 ? text : `${text}${at}`, -0.25 - at),
  );
  return { ...toToken(text, -0.25), top_logprobs: others };
}

function toLikelyItem(item: Item, logprobs: readonly Logprob[]): Item {
  if (item.type !== "message" || typeof item.content === "string") return item;
  const content = item.content.map((part) =>
    part.type === "output_text" ? { ...part, logprobs: [...logprobs] } : part,
  );
  return { ...item, content };
}
