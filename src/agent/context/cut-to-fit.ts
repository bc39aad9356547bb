/**
 * For a model whose window is not known: its own refusal says that a conversation is too long. The model is then asked
 * again with less; with `truncation: auto`, without the oldest items.
 */

import { Failure } from "../../base/failure.ts";
import type { ModelEvent } from "../../protocol/model-events.ts";
import type { ModelCall, ModelRequest, Provider } from "../../providers/provider.ts";
import { isSummary } from "./expand-compactions.ts";
import { estimateTokens } from "./token-estimate.ts";
import { truncate } from "./truncation.ts";

/** The share of a refused conversation that is kept for the next try. Refusals are quick and cost nothing. */
const KEPT_SHARE = 0.75;

/** Returns a shorter request to replace one that was too long; undefined if nothing more can be left out. */
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

/** Streams an answer. Returns a shorter request to try if this one was refused as too long before any output. */
async function* ask(
  provider: Provider,
  request: ModelRequest,
  { call, shorten }: { readonly call: ModelCall; readonly shorten: Shorten },
): AsyncGenerator<readonly ModelEvent[], ModelRequest | undefined> {
  // The beginning of an answer is held back until the first output.
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

/** True if a vendor has refused a request because its conversation does not fit. */
export function isTooLong(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === "context_exceeded";
}
