/**
 * For a model whose window nobody knows: its own refusal says that a conversation is too long. It is then
 * asked again with less, for `truncation: auto` without the oldest items.
 */

import { Failure } from "../../base/failure.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type { ModelCall, ModelRequest, Provider } from "../../providers/provider.ts";
import { isSummary } from "./expand-compactions.ts";
import { estimateTokens } from "./token-estimate.ts";
import { truncate } from "./truncation.ts";

/** What is left of a conversation that was refused. Refusals are quick and cost nothing. */
const KEPT_SHARE = 0.75;

/** The request in place of one that was too long; undefined where nothing more can be left out. */
export type Shorten = (request: ModelRequest) => ModelRequest | undefined;

export function cutToFit(provider: Provider, shorten: Shorten = leaveOutOldest): Provider {
  return {
    name: provider.name,
    async *stream(request, call) {
      let asked: ModelRequest | undefined = request;
      while (asked) asked = yield* ask(provider, asked, { call, shorten });
    },
  };
}

/** Returns a shorter request to ask in its place where it was refused as too long and said nothing. */
async function* ask(
  provider: Provider,
  request: ModelRequest,
  { call, shorten }: { readonly call: ModelCall; readonly shorten: Shorten },
): AsyncGenerator<readonly ModelEvent[], ModelRequest | undefined> {
  // The beginning of an answer is held back until it says something.
  const held: ModelEvent[] = [];
  let hasSaid = false;
  try {
    for await (const batch of provider.stream(request, call)) {
      hasSaid ||= batch.some(({ type }) => type !== "start");
      if (hasSaid) yield [...held.splice(0), ...batch];
      else held.push(...batch);
    }
    return undefined;
  } catch (thrown) {
    const shorter = hasSaid || !isTooLong(thrown) ? undefined : shorten(request);
    if (!shorter) throw thrown;
    return shorter;
  }
}

function leaveOutOldest(request: ModelRequest): ModelRequest | undefined {
  const { items } = request;
  const maxTokens = estimateTokens({ items }) * KEPT_SHARE;
  const kept = truncate(items, { maxTokens, stays: isSummary });
  return kept.length < items.length ? { ...request, items: kept, previous: undefined } : undefined;
}

/** Whether a vendor has refused a request because its conversation does not fit. */
export function isTooLong(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === "context_exceeded";
}
