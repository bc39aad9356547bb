/** Opened models of a server's requests: opening a model costs more than asking it. */

import type { ModelTarget } from "./model-target.ts";
import type { ThinkingWish } from "./response-model.ts";

/** More than a server really uses. */
export const MAX_KEPT = 200;

type Open<Model> = (wish: ModelTarget & ThinkingWish) => Promise<Model>;

/**
 * An opened model holds nothing of a run, so runs can share it. A failed opening is tried again.
 */
export function keepModels<Model>(open: Open<Model>): Open<Model> {
  const kept = new Map<string, Promise<Model>>();
  return (wish) => {
    const key = `${toModelKey(wish)} ${wish.think}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    if (kept.size >= MAX_KEPT) kept.clear();
    const opened = open(wish);
    kept.set(key, opened);
    opened.catch(() => kept.delete(key));
    return opened;
  };
}

export function toModelKey(target: ModelTarget): string {
  const { model, provider, url, api_key_name, deployments, fell_back = false } = target;
  // Built again for each request, where JSON would cost more than all else.
  if (!deployments) return `${model} ${provider} ${url} ${api_key_name} ${fell_back}`;
  return deployments.map((one) => `${toModelKey(one)} ${one.weight} ${one.fallback}`).join("\n");
}
