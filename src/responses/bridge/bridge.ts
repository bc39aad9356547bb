/**
 * A request's tools, for a model that knows functions. Opened once a run: it says what the model is
 * offered, turns the conversation into what the model reads, and the model's calls into items.
 *
 * Tools that the provider knows itself (`native`) are handed on as they are, and so are their items.
 */

import type { JsonObject } from "../../base/json.ts";
import { lookAgain } from "../../engine/run-code.ts";
import type { Item } from "../../protocol/items.ts";
import type { Native } from "../../protocol/native.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import type { KindRequest, Offer, OpenedTool, ToolKind } from "../kinds/tool-kind.ts";
import { kindOf } from "../request/hosted-kinds.ts";
import { answerCalls } from "./answer-calls.ts";
import { chooseOffers } from "./choose-offers.ts";
import { findDeferred, type Offering, offerAll, offerFound } from "./deferred-tools.ts";
import { createNames } from "./names.ts";
import { offerAgain, type PastOffer } from "./past-offers.ts";
import { isUnknown } from "./unknown-items.ts";

export interface Bridge {
  /** What the model is offered at first: functions, and what its provider knows itself. */
  readonly tools: readonly Tool[];
  /** What it is offered when asked with this: what it has found since is there too. */
  toolsFor: Offering;
  /** Items that stand at the beginning of the answer. */
  readonly listed: readonly Item[];
  /** What of the request's tools was left out, by name. */
  readonly ignored: readonly string[];
  /** The offer of a function that the model calls; undefined for one of the client's own. */
  offerNamed(name: string): Offer | undefined;
  /** The offer that an item is a call of. */
  offerOf(item: Item): Offer | undefined;
  /** The name it is offered under. */
  nameOf(offer: Offer): string;
  /** The tools of the gate that make calls for the server, under their offered names. */
  readonly offers: readonly Offer[];
  toolChoice(choice: ToolChoice): ToolChoice;
  /** The conversation as the model reads it. */
  toHistory(items: readonly Item[]): Item[];
  close(): Promise<void>;
}

export interface BridgeParts {
  readonly tools: readonly Tool[];
  readonly kinds: readonly ToolKind[];
  /** What the provider knows itself. */
  readonly native: Native;
  readonly request: KindRequest;
  /** What an earlier owner of the run was offered; undefined where there was none. */
  readonly past?: readonly PastOffer[] | undefined;
}

/** Asks servers and the shelf: what comes of it is held against what an earlier owner of the run was offered. */
export function openBridge(parts: BridgeParts): Promise<Bridge> {
  return lookAgain(parts.request.runId, () => openAll(parts));
}

async function openAll(parts: BridgeParts): Promise<Bridge> {
  const opened: OpenedTool[] = [];
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0).reverse()) await one.close?.();
  };
  try {
    return { ...(await open(parts, opened)), close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

async function open(parts: BridgeParts, opened: OpenedTool[]): Promise<Omit<Bridge, "close">> {
  const { kinds, native, request, past } = parts;
  const kindOfItem = new Map(kinds.flatMap((kind) => kind.itemTypes.map((type) => [type, kind])));
  const { passed, ignored, canFind } = await openTools(parts, opened);
  const names = createNames(passed.flatMap((tool) => (tool.type === "function" ? tool.name : [])));
  const found = opened.flatMap((one) => one.offers);
  const offers = past ? offerAgain(found, past) : found;
  const byKey = new Map(offers.map((offer) => [offer.key, offer]));
  const nameByKey = new Map(offers.map(({ key, spec }) => [key, names.take(spec.name)]));
  const byName = new Map(offers.map((offer) => [nameByKey.get(offer.key) ?? "", offer]));
  const nameOfKey = (key: string): string => nameByKey.get(key) ?? names.fit(key);
  const named = offers.map((offer): Offer => {
    return { ...offer, spec: { ...offer.spec, name: nameOfKey(offer.key) } };
  });
  const toolsFor = (canFind ? offerFound : offerAll)(passed, named);
  const pairing = kinds.filter((kind) => kind.pair && !kind.itemTypes.some(native.knows));
  return {
    offers,
    tools: toolsFor(request.items ?? [], "auto"),
    toolsFor,
    listed: opened.flatMap((one) => one.listed ?? []),
    ignored: [...ignored, ...opened.flatMap((one) => one.ignored ?? [])],
    offerNamed: (name) => byName.get(name),
    nameOf: ({ key }) => nameOfKey(key),
    offerOf(item) {
      const key = kindOfItem.get(item.type)?.keyOf(item);
      return key === undefined ? undefined : byKey.get(key);
    },
    toolChoice: (choice) =>
      chooseOffers(choice, {
        isNative: (type) => passed.some((tool) => kindOf(tool) === kindOf({ type })),
        find: (entry) => findNames(offers, entry, nameOfKey),
      }),
    toHistory(items) {
      const paired = pairing.reduce((all, kind) => kind.pair?.(all) ?? all, items);
      return answerCalls(paired, (item) => {
        const kind = native.owns(item) ? undefined : kindOfItem.get(item.type);
        if (kind) return kind.toFunctions(item, nameOfKey);
        return isUnknown(item, native.owns) ? [] : undefined;
      });
    },
  };
}

interface Opening {
  /** What the provider is given as it is. */
  readonly passed: readonly Tool[];
  readonly ignored: readonly string[];
  /** Whether somebody here finds what is deferred; else it is offered at once. */
  readonly canFind: boolean;
}

/** Kinds that find are opened last: they have to know of all the others. */
async function openTools(
  { tools, kinds, native, request }: BridgeParts,
  opened: OpenedTool[],
): Promise<Opening> {
  const kindOf = new Map(kinds.flatMap((kind) => kind.toolTypes.map((type) => [type, kind])));
  const passed: Tool[] = [];
  const ignored: string[] = [];
  const finding: { kind: ToolKind; tool: Tool; place: number }[] = [];
  const asked = { tools, include: [...request.include] };
  for (const [at, tool] of tools.entries()) {
    const kind = kindOf.get(tool.type);
    if (tool.type === "function") passed.push(tool);
    else if (native.runs(tool, asked)) {
      passed.push(tool);
      ignored.push(...native.lost(tool).map((name) => `tools[${at}].${name}`));
    } else if (kind?.finds) finding.push({ kind, tool, place: opened.length });
    else if (kind) opened.push(await kind.open(tool, request));
    else ignored.push(`tools[${at}] (${tool.type})`);
  }
  const deferred = findDeferred(
    passed,
    opened.flatMap((one) => one.offers),
  );
  // Each in its place among the others, the last first so that places hold.
  for (const { kind, tool, place } of finding.reverse()) {
    opened.splice(place, 0, await kind.open(tool, { ...request, deferred }));
  }
  return { passed, ignored, canFind: finding.length > 0 };
}

function findNames(
  offers: readonly Offer[],
  entry: JsonObject,
  nameOfKey: (key: string) => string,
): string[] {
  return offers.filter((offer) => offer.isMeantBy(entry)).map(({ key }) => nameOfKey(key));
}
