/**
 * The conversation of a run that answers a request: its files, its compactions, its limits.
 */

import { createContextKeeper } from "../../agent/context/create-keeper.ts";
import { cutToFit } from "../../agent/context/cut-to-fit.ts";
import type { Expanding } from "../../agent/context/expand-compactions.ts";
import { createSummariser } from "../../agent/context/summariser.ts";
import type { LoopParts } from "../../agent/loop-parts.ts";
import type { AgentTask } from "../../agent/task.ts";
import type { Clock } from "../../base/clock.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { Provider } from "../../providers/provider.ts";
import { provideMedia } from "../media/media-provider.ts";
import type { WebMediaSettings } from "../media/web-media.ts";
import type { ResponseModel } from "../models/response-model.ts";
import type { ResponseWish } from "../request/response-wish.ts";
import { createSealedCompactor, type SealedCompactor } from "../sealing/sealed-compactor.ts";
import type { Seals } from "../sealing/seals.ts";
import { needsThoughtSeal, sealThoughts } from "../sealing/thought-seal.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";
import type { ResponsesParts } from "./responses-parts.ts";

export interface ContextSettings extends Seals, Pick<ResponsesParts, "mediaOf" | "askInWords"> {
  readonly kept: ShelfParts;
  readonly web: WebMediaSettings;
}

export interface ContextRequest extends Pick<LoopParts, "context" | "task" | "account" | "clock"> {
  readonly wish: ResponseWish;
  readonly model: ResponseModel;
  /** The whole conversation. */
  readonly items: readonly Item[];
  readonly tools: readonly Tool[];
}

export interface OpenedContext {
  /** The model, which gets the content of files and addresses. */
  readonly provider: Provider;
  /** Undefined if nothing of the conversation was or will be compacted or cut. */
  readonly keeper: LoopParts["keeper"];
  readonly compactor: SealedCompactor;
}

/** The most tokens that a compaction keeps word for word, and their share of the free room. */
const KEPT_TOKENS = 20_000;
const KEPT_SHARE = 0.25;

export function openContext(settings: ContextSettings, request: ContextRequest): OpenedContext {
  const { context, task, wish, model, account, clock, items } = request;
  const plain = withMedia(settings, { task, wish, model, clock });
  const provider = needsThoughtSeal(wish.include, items)
    ? sealThoughts(plain, settings.thoughtSealOf(wish.tenant), wish.include)
    : plain;
  const seal = settings.sealOf(wish.tenant);
  const isNative = model.native?.knows("compaction") ?? false;
  const expanding: Expanding = { open: seal.open, isNative };
  const { contextTokens } = model;
  const room = wish.compact_threshold ?? contextTokens ?? Number.POSITIVE_INFINITY;
  const summariser = createSummariser({
    context,
    provider,
    account,
    contextTokens,
    costOf: model.costOf,
    tellsCost: model.tellsCost,
    model: task.model.slice(task.model.indexOf("/") + 1),
    reasoning: { sealed: model.reasoning.sealed, ...wish.reasoning },
    // The limits on what a router may ask also apply to the summary.
    own: task.options ?? undefined,
    options: { service_tier: wish.options.service_tier, user: wish.options.user },
  });
  const keptTokens = Math.min(KEPT_TOKENS, room * KEPT_SHARE);
  const compactor = createSealedCompactor({ summariser, seal, expanding, keptTokens });
  if (!needsKeeper(wish, items)) return { provider, keeper: undefined, compactor };
  const { max_output_tokens, instructions } = task;
  const bounds = { contextTokens, max_output_tokens, instructions, tools: request.tools };
  const keeper = createContextKeeper({ wish, keepsFor: "client", expanding, compactor, ...bounds });
  const kept = withoutPrevious(provider);
  return { provider: wish.truncation === "auto" ? cutToFit(kept) : kept, keeper, compactor };
}

function needsKeeper(wish: ResponseWish, items: readonly Item[]): boolean {
  if (wish.truncation === "auto" || wish.compact_threshold !== null) return true;
  return items.some(({ type }) => type === "compaction");
}

/** Drops the provider's memory of the conversation: it counts items, and here they are different ones. */
function withoutPrevious(provider: Provider): Provider {
  return {
    name: provider.name,
    stream: (request, call) => provider.stream({ ...request, previous: undefined }, call),
  };
}

interface MediaRequest {
  readonly task: AgentTask;
  readonly wish: ResponseWish;
  readonly model: ResponseModel;
  readonly clock: Clock;
}

function withMedia(
  { kept, web, mediaOf, askInWords }: ContextSettings,
  { task, wish, model, clock }: MediaRequest,
): Provider {
  // Every format works on every provider: the loop checks an answer that was asked for in words.
  const provider = askInWords(model.provider);
  return provideMedia(provider, { kept, web, tenant: wish.tenant, clock, ...mediaOf(task) });
}
