/** What a run that answers a request knows of its conversation: its files, its compactions, its bounds. */

import type { CompactionSeal } from "../../agent/context/compacted-context.ts";
import { createContextKeeper } from "../../agent/context/create-keeper.ts";
import { cutToFit } from "../../agent/context/cut-to-fit.ts";
import type { Expanding } from "../../agent/context/expand-compactions.ts";
import { createSummariser } from "../../agent/context/summariser.ts";
import type { LoopParts } from "../../agent/loop.ts";
import type { AgentTask } from "../../agent/task.ts";
import type { Clock } from "../../base/clock.ts";
import type { Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";
import { askInWords } from "../../providers/json-in-words.ts";
import { EMBEDDED, GGUF, parseModelRef } from "../../providers/models/model-ref.ts";
import { readsAddress } from "../../providers/own-addresses.ts";
import type { Provider } from "../../providers/provider.ts";
import { CATALOG, type Catalog } from "../../providers/vendors/catalog.ts";
import type { OpenedModel } from "../../runtime/open-model.ts";
import type { ReadsDocuments } from "../media/document-text.ts";
import { provideMedia, type TakesUrls } from "../media/media-provider.ts";
import type { WebMediaSettings } from "../media/web-media.ts";
import type { ResponseWish } from "../request/response-wish.ts";
import { createSealedCompactor, type SealedCompactor } from "../sealing/sealed-compactor.ts";
import { needsThoughtSeal, sealThoughts, type ThoughtSeal } from "../sealing/thought-seal.ts";
import type { ShelfParts } from "../tenant/shelf-parts.ts";

export interface ContextSettings {
  readonly catalog: Catalog | undefined;
  readonly kept: ShelfParts;
  readonly web: WebMediaSettings;
  readonly sealOf: (tenant: string) => CompactionSeal;
  readonly thoughtSealOf: (tenant: string) => ThoughtSeal;
}

export interface ContextRequest extends Pick<LoopParts, "context" | "task" | "account" | "clock"> {
  readonly wish: ResponseWish;
  readonly model: OpenedModel;
  /** The whole conversation. */
  readonly items: readonly Item[];
  readonly tools: readonly Tool[];
}

export interface OpenedContext {
  /** The model, given what files and addresses hold. */
  readonly provider: Provider;
  /** Undefined where nothing of the conversation is compacted, cut or to be. */
  readonly keeper: LoopParts["keeper"];
  readonly compactor: SealedCompactor;
}

/** The most that a compaction keeps word for word, and its share of what there is room for. */
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
    ...{ context, provider, account, contextTokens },
    ...{ costOf: model.costOf, tellsCost: model.tellsCost },
    model: task.model.slice(task.model.indexOf("/") + 1),
    reasoning: { ...wish.reasoning, sealed: model.reasoning.sealed },
    // Whom a router may ask holds for the summary too.
    own: task.options ?? undefined,
    options: { serviceTier: wish.options.serviceTier, user: wish.options.user },
  });
  const keptTokens = Math.min(KEPT_TOKENS, room * KEPT_SHARE);
  const compactor = createSealedCompactor({ summariser, seal, expanding, keptTokens });
  if (!needsKeeper(wish, items)) return { provider, keeper: undefined, compactor };
  const { max_output_tokens: maxOutputTokens, instructions } = task;
  const bounds = { contextTokens, maxOutputTokens, instructions, tools: request.tools };
  const keeper = createContextKeeper({ wish, keepsFor: "client", expanding, compactor, ...bounds });
  const kept = withoutPrevious(provider);
  return { provider: wish.truncation === "auto" ? cutToFit(kept) : kept, keeper, compactor };
}

function needsKeeper(wish: ResponseWish, items: readonly Item[]): boolean {
  if (wish.truncation === "auto" || wish.compact_threshold !== null) return true;
  return items.some(({ type }) => type === "compaction");
}

/** What a provider knows of the conversation counts its items, and they are others here. */
function withoutPrevious(provider: Provider): Provider {
  return {
    name: provider.name,
    stream: (request, call) => provider.stream({ ...request, previous: undefined }, call),
  };
}

interface MediaRequest {
  readonly task: AgentTask;
  readonly wish: ResponseWish;
  readonly model: OpenedModel;
  readonly clock: Clock;
}

function withMedia({ kept, web, catalog }: ContextSettings, request: MediaRequest): Provider {
  const { task, wish, model, clock } = request;
  const { tenant } = wish;
  const takes = takesUrls(task, catalog);
  const all = (task.deployments ?? [task]).map((one) => readsDocuments(one, catalog));
  const reads: ReadsDocuments = (mediaType) => all.every((one) => one(mediaType));
  // Every format works on every provider: what is asked for in words is checked by the loop.
  const provider = askInWords(model.provider);
  const media = { kept, web, tenant, clock, takes, readsItself: readsItself(task, catalog), reads };
  return provideMedia(provider, media);
}

type Addressed = Pick<AgentTask, "model" | "provider" | "url" | "deployments">;

/**
 * Vendors in the public that fetch what they are given by address. A server of the operator's own is
 * never told an address by a client: it stands where private addresses are.
 */
export function takesUrls(target: Addressed, catalog: Catalog = CATALOG): TakesUrls {
  const { model, provider, url, deployments } = target;
  // Whoever of them answers must be able to.
  if (deployments) {
    const all = deployments.map((one) => takesUrls(one, catalog));
    return { images: all.every(({ images }) => images), files: all.every(({ files }) => files) };
  }
  const { vendor } = parseModelRef(model, url ? "custom" : undefined, catalog);
  // Nothing is fetched by it. It reads files of text; images it looks at no more than at an address.
  if (vendor === EMBEDDED) return { images: true, files: false };
  if (vendor === GGUF) return { images: true, files: true };
  const row = catalog.of(vendor);
  if (url || row.local) return { images: false, files: false };
  return FETCHING[provider ?? row.wire] ?? { images: false, files: false };
}

const FETCHING: Readonly<Record<string, TakesUrls>> = {
  "openai-responses": { images: true, files: true },
  "openai-chat": { images: true, files: false },
  anthropic: { images: true, files: true },
  cohere: { images: true, files: false },
};

/** Also behind an address of the operator's own: nothing private is told, and nobody else could read it. */
export function readsItself(
  target: Addressed,
  catalog: Catalog = CATALOG,
): (url: string) => boolean {
  const { model, provider, url, deployments } = target;
  if (deployments) {
    const all = deployments.map((one) => readsItself(one, catalog));
    return (address) => all.every((reads) => reads(address));
  }
  const { vendor } = parseModelRef(model, url ? "custom" : undefined, catalog);
  if (vendor === EMBEDDED || vendor === GGUF) return () => false;
  const wire = provider ?? catalog.of(vendor).wire;
  return (address) => readsAddress(wire, address);
}

/** What is known of the documents that a model's API reads; most read PDFs. */
function readsDocuments(
  { model, provider, url }: Addressed,
  catalog: Catalog = CATALOG,
): ReadsDocuments {
  const { vendor } = parseModelRef(model, url ? "custom" : undefined, catalog);
  if (vendor === EMBEDDED) return () => true;
  const wire = vendor === GGUF ? "ollama" : (provider ?? catalog.of(vendor).wire);
  const known = DOCUMENTS[wire] ?? PDF;
  return (mediaType) => known.test(mediaType);
}

const PDF = /^application\/pdf$/;
const NONE = /^(?!)/;
const DOCUMENTS: Readonly<Record<string, RegExp>> = {
  "openai-responses": /./,
  bedrock: /^application\/(pdf|vnd\.openxmlformats-officedocument\.wordprocessingml\.)/,
  cohere: NONE,
  ollama: NONE,
  llamacpp: NONE,
};
