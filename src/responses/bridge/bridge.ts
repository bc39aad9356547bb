/**
 * Translates a request's tools for a model that knows only functions. Opened once for each run: it says what the
 * model is offered, turns the conversation into what the model reads, and turns the model's calls into items.
 *
 * Tools that the provider knows itself (`native`) are passed on unchanged, and so are their items.
 */

import { asJsonObject, type JsonObject } from "../../base/json.ts";
import { lookAgain } from "../../engine/run-code.ts";
import type { Item } from "../../protocol/items.ts";
import type { Native } from "../../protocol/native.ts";
import type { Tool, ToolChoice } from "../../protocol/tools.ts";
import type { KindRequest, Offer, OpenedTool, ToolKind } from "../kinds/tool-kind.ts";
import { kindOf } from "../request/hosted-kinds.ts";
import { findDeferred, type Offering, offerAll, offerFound } from "./deferred-tools.ts";
import { fitName } from "./fit-name.ts";
import { offerAgain, type PastOffer } from "./past-offers.ts";
import { isUnknown } from "./unknown-items.ts";

export interface Bridge {
  /** The tools of the first turn: functions, and what the provider knows itself. */
  readonly tools: readonly Tool[];
  /** The tools of a turn with this input, including those that a search has found since. */
  toolsFor: Offering;
  /** Items at the beginning of the answer. */
  readonly listed: readonly Item[];
  /** Names of the request's tools that were left out. */
  readonly ignored: readonly string[];
  /** The offer of a function that the model calls; undefined for a function of the client. */
  offerNamed(name: string): Offer | undefined;
  /** The offer whose call an item is. */
  offerOf(item: Item): Offer | undefined;
  /** The name under which it is offered. */
  nameOf(offer: Offer): string;
  /** The gate's tools for calls that the server makes, under their offered names. */
  readonly offers: readonly Offer[];
  toolChoice(choice: ToolChoice): ToolChoice;
  /** The conversation in the form that the model reads. */
  toHistory(items: readonly Item[]): Item[];
  close(): Promise<void>;
}

export interface BridgeParts {
  readonly tools: readonly Tool[];
  readonly kinds: readonly ToolKind[];
  /** The tools that the provider runs itself. */
  readonly native: Native;
  readonly request: KindRequest;
  /** The offers of an earlier owner of the run; undefined if there was none. */
  readonly past?: readonly PastOffer[] | undefined;
}

/**
 * Asks MCP servers and the shelf. The result is compared with what an earlier owner of the run offered.
 */
export function openBridge(parts: BridgeParts): Promise<Bridge> {
  return lookAgain(parts.request.runId, () => openAll(parts));
}

async function openAll(parts: BridgeParts): Promise<Bridge> {
  const opened: OpenedTool[] = [];
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0).reverse()) await one.close?.();
  };
  try {
    return { close, ...(await open(parts, opened)) };
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
  /** Tools that the provider gets unchanged. */
  readonly passed: readonly Tool[];
  readonly ignored: readonly string[];
  /** True if something here can find deferred tools; else they are offered at once. */
  readonly canFind: boolean;
}

/** Kinds that search tools are opened last, because they must know all the others. */
async function openTools(
  { tools, kinds, native, request }: BridgeParts,
  opened: OpenedTool[],
): Promise<Opening> {
  const kindOf = new Map(kinds.flatMap((kind) => kind.toolTypes.map((type) => [type, kind])));
  const passed: Tool[] = [];
  const ignored: string[] = [];
  const finding: { kind: ToolKind; tool: Tool; place: number }[] = [];
  const asked = { tools, include: [...request.include] };
  const hosted = tools.filter((tool) => kindOf.has(tool.type) && !native.runs(tool, asked));
  const asking = { ...request, tools: hosted };
  for (const [at, tool] of tools.entries()) {
    const kind = kindOf.get(tool.type);
    if (tool.type === "function") passed.push(tool);
    else if (native.runs(tool, asked)) {
      passed.push(tool);
      ignored.push(...native.lost(tool).map((name) => `tools[${at}].${name}`));
    } else if (kind?.finds) finding.push({ kind, tool, place: opened.length });
    else if (kind) opened.push(await kind.open(tool, asking));
    else ignored.push(`tools[${at}] (${tool.type})`);
  }
  const deferred = findDeferred(
    passed,
    opened.flatMap((one) => one.offers),
  );
  // Inserted at their places among the others, the last first so that positions stay right.
  for (const { kind, tool, place } of finding.reverse()) {
    opened.splice(place, 0, await kind.open(tool, { ...asking, deferred }));
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

/** Translates `tool_choice` if some of the tools that it names are offered as functions. */
interface Offered {
  readonly isNative: (type: string) => boolean;
  /** The names of the functions that an entry stands for. */
  readonly find: (entry: JsonObject) => readonly string[];
}

function chooseOffers(choice: ToolChoice, offered: Offered): ToolChoice {
  if (typeof choice === "string") return choice;
  if (choice.type === "function" && !("namespace" in choice)) return choice;
  if (choice.type === "allowed_tools") {
    const tools = choice.tools.flatMap((entry) => {
      const names = offered.find(entry);
      return names.length > 0 ? names.map(toFunctionEntry) : [entry];
    });
    return { ...choice, tools };
  }
  if (offered.isNative(choice.type)) return choice;
  const [name, ...others] = offered.find(asJsonObject(choice));
  // A tool that was not offered cannot be forced.
  if (name === undefined) return "auto";
  if (others.length === 0) return { type: "function", name };
  const tools = [name, ...others].map(toFunctionEntry);
  return { type: "allowed_tools", mode: "required", tools };
}

function toFunctionEntry(name: string): JsonObject {
  return { type: "function", name };
}

interface FunctionNames {
  /** Reserves the name, or a similar one that is free. */
  take(wish: string): string;
  /** The name in the form that providers accept. */
  fit(wish: string): string;
}

function createNames(taken: readonly string[]): FunctionNames {
  const used = new Set(taken);
  return {
    fit: fitName,
    take(wish) {
      let name = fitName(wish);
      for (let count = 2; used.has(name); count++) name = fitName(`${wish}_${count}`);
      used.add(name);
      return name;
    },
  };
}

/**
 * Gives every call in a conversation of function items a result: models refuse a call without one. A call that was
 * never answered, such as one that waited for an approval, gets a result that says so. A call that the client had to
 * answer and did not is the client's mistake, and is refused.
 *
 * `toFunctions` returns undefined for an item that is sent as it is. Results may stand where they came.
 */
export function answerCalls(
  items: readonly Item[],
  toFunctions: (item: Item) => readonly Item[] | undefined,
): Item[] {
  const made = new Set<Item>();
  const all = items.flatMap((item) => {
    const functions = toFunctions(item);
    for (const one of functions ?? []) made.add(one);
    return functions ? [...functions] : [item];
  });
  const answered = new Set(
    all.flatMap((item) => (item.type === "function_call_output" ? [item.call_id] : [])),
  );
  return all.flatMap((item) => {
    if (item.type !== "function_call" || !made.has(item) || answered.has(item.call_id)) {
      return [item];
    }
    return [item, toNoAnswer(item.call_id)];
  });
}

function toNoAnswer(call_id: string): Item {
  return { type: "function_call_output", call_id, output: "Error: This call was not answered." };
}
