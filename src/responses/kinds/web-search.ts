/**
 * `web_search`, under each of its names: models are offered two functions, one that searches and one that opens a
 * page or looks for words in it. Both become `web_search_call` items. `web_fetch` is only the second; a request with
 * both gets the second from `web_fetch`.
 *
 * The tools are passed in: this server's own, or those of an MCP server.
 */

import { tryParseJson } from "../../base/json.ts";
import {
  WEB_SEARCH,
  type WebSearchPreviewTool,
  type WebSearchTool,
} from "../../protocol/hosted-kinds/web-search.ts";
import type { FunctionCall, Item } from "../../protocol/items.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { ToolResult } from "../../tools/gate/call.ts";
import type { Tool as GateTool } from "../../tools/tool.ts";
import { findError, toResultText } from "./result-text.ts";
import {
  type KindRequest,
  type Offer,
  type OpenedTool,
  type ToolKind,
  typesOf,
} from "./tool-kind.ts";
import { type PageResult, parseResults, readResults, toResultsText } from "./web-results.ts";
import { createPageTool, createSearchTool, type SearchLimits } from "./web-search-tools.ts";

export interface WebSearchParts {
  /** The tools for a request; a missing one is undefined. */
  readonly tools: (request: KindRequest) => Promise<WebTools>;
}

export interface WebTools {
  /** Takes a question; returns results with addresses. */
  readonly search: GateTool | undefined;
  /** Takes an address; returns the page's text. */
  readonly open: GateTool | undefined;
}

const { toolTypes: TOOL_TYPES, itemTypes } = typesOf(WEB_SEARCH);
/** Opens pages that the conversation names, without searching. */
const FETCH_TYPE = "web_fetch";

const SEARCH_KEY = "web_search";
const OPEN_KEY = "web_search_open_page";

type WebSearchCall = Extract<Item, { type: "web_search_call" }>;
type Action = NonNullable<WebSearchCall["action"]>;

export function createWebSearchKind(parts: WebSearchParts): ToolKind {
  const opened = new WeakMap<KindRequest, Set<string>>();
  return {
    toolTypes: [...TOOL_TYPES, FETCH_TYPE],
    itemTypes,
    async open(tool: Tool, request) {
      // Calls do not say which of two tools they belong to.
      const keys = opened.get(request) ?? new Set<string>();
      opened.set(request, keys);
      const isFetch = isFetching(tool);
      const key = isFetch ? OPEN_KEY : SEARCH_KEY;
      if (keys.has(key)) return { offers: [], ignored: [`a second ${tool.type}`] };
      const made = toOpened(tool as WebTool, await parts.tools(request));
      // A tool that only opens pages says which pages: a search beside it must not open others.
      const leavesPages = !isFetch && request.tools?.some(isFetching);
      const offers = made.offers.filter(
        (offer) => !keys.has(offer.key) && !(leavesPages && offer.key === OPEN_KEY),
      );
      for (const offer of offers) keys.add(offer.key);
      return { ...made, offers };
    },
    keyOf: (item) => (item.type === "web_search_call" ? keyOfAction(item.action?.type) : undefined),
    toFunctions: (item, nameOf) =>
      item.type === "web_search_call" ? toSearchFunctions(item, nameOf) : [],
  };
}

function isFetching({ type }: Pick<Tool, "type">): boolean {
  return type === (FETCH_TYPE as string);
}

function keyOfAction(type: string | undefined): string {
  return type === "open_page" || type === "find_in_page" ? OPEN_KEY : SEARCH_KEY;
}

/** Each form has fields that the other does not have. */
type WebTool = Omit<WebSearchTool, "type"> &
  Omit<WebSearchPreviewTool, "type"> & { type: string; max_content_tokens?: number };

/** For ordinary text. */
const CHARS_PER_TOKEN = 4;

function toOpened(tool: WebTool, { search, open }: WebTools): OpenedTool {
  const { type } = tool;
  // Without access to the web there is nothing to search: the server has no copy of it.
  if (tool.external_web_access === false) {
    return { offers: [], ignored: [`${type} (external_web_access: false)`] };
  }
  if (type === FETCH_TYPE) {
    if (open) return { offers: [toPageOffer(createPageTool(open, toLimits(tool)))] };
    return { offers: [], ignored: [`${type} (this server opens no pages)`] };
  }
  if (!search) return { offers: [], ignored: [`${type} (this server has no search tool)`] };
  const limits = toLimits(tool);
  const offers = [toSearchOffer(createSearchTool(search, limits), tool)];
  if (open) offers.push(toPageOffer(createPageTool(open, limits)));
  const images = tool.search_content_types?.includes("image");
  return { offers, ignored: images ? [`${type}.search_content_types (image)`] : [] };
}

/** How much of the model's context a search may take. */
const SIZES: Readonly<Record<string, Omit<SearchLimits, "domains" | "blocked">>> = {
  low: { results: 5, pageChars: 8000 },
  medium: { results: 10, pageChars: 24_000 },
  high: { results: 20, pageChars: 60_000 },
};

function toLimits({ search_context_size, filters, max_content_tokens }: WebTool): SearchLimits {
  const size = SIZES[search_context_size ?? "medium"] ?? SIZES["medium"];
  const { allowed_domains, blocked_domains } = (filters ?? {}) as Sites;
  const most = max_content_tokens ? { pageChars: max_content_tokens * CHARS_PER_TOKEN } : {};
  const domains = toDomains(allowed_domains);
  return {
    results: 10,
    pageChars: 24_000,
    ...size,
    ...most,
    domains,
    blocked: toDomains(blocked_domains),
  };
}

interface Sites {
  readonly allowed_domains?: readonly string[] | null;
  readonly blocked_domains?: readonly string[] | null;
}

function toDomains(names: readonly string[] | null | undefined): string[] {
  return (names ?? []).map((domain) =>
    domain
      .toLowerCase()
      .replace(/^https?:\/\//, "")
      .replace(/\/.*$/, ""),
  );
}

function toSearchOffer(tool: GateTool, { user_location }: WebTool): Offer {
  const { city, region, country, timezone } = user_location ?? {};
  const place = [city, region, country].filter(Boolean).join(", ");
  const near = place === "" ? "" : ` The user is in ${place}.`;
  const zone = timezone ? ` The user's time zone is ${timezone}.` : "";
  return toOffer(SEARCH_KEY, {
    ...tool,
    spec: { ...tool.spec, description: `${tool.spec.description}${near}${zone}` },
  });
}

function toPageOffer(tool: GateTool): Offer {
  return toOffer(OPEN_KEY, tool);
}

function toOffer(key: string, tool: GateTool): Offer {
  return {
    key,
    spec: { ...tool.spec, name: key },
    isMeantBy: ({ type }) =>
      key === SEARCH_KEY ? TOOL_TYPES.includes(String(type)) : type === FETCH_TYPE,
    shows: "nothing",
    toItem: (call, id) => toSearchCall(call, key, id),
    run: {
      tool,
      toArguments: (item) => toArguments(item),
      show: (item, result) => [toMadeCall(item as WebSearchCall, result)],
    },
  };
}

function toSearchCall({ arguments: text }: FunctionCall, key: string, id: string): Item {
  const { query, url, pattern } = readArguments(text);
  const action: Action =
    key === SEARCH_KEY
      ? { type: "search", query, queries: [query] }
      : pattern === ""
        ? { type: "open_page", url }
        : { type: "find_in_page", url, pattern };
  return { type: "web_search_call", id, status: "in_progress", action };
}

/** A model that ignored the form has written the question itself. */
function readArguments(text: string): { query: string; url: string; pattern: string } {
  const given = tryParseJson(text);
  const fields = typeof given === "object" && given !== null ? (given as Partial<Asked>) : {};
  const take = (value: unknown): string => (typeof value === "string" ? value : "");
  const plain = typeof given === "string" ? given : "";
  return {
    query: take(fields.query) || plain,
    url: take(fields.url) || plain,
    pattern: take(fields.pattern),
  };
}

interface Asked {
  readonly query: unknown;
  readonly url: unknown;
  readonly pattern: unknown;
}

function toArguments(item: Item): string {
  const action = item.type === "web_search_call" ? item.action : undefined;
  if (keyOfAction(action?.type) === SEARCH_KEY) return JSON.stringify({ query: queryOf(action) });
  const { url, pattern } = action ?? {};
  return JSON.stringify({ url: url ?? "", ...(pattern ? { pattern } : {}) });
}

function queryOf(action: Action | null | undefined): string {
  return action?.query ?? action?.queries?.join(" ") ?? "";
}

/** Clients get the results on request, and the model always. */
function toMadeCall(item: WebSearchCall, { output, failed }: ToolResult): Item {
  const text = toResultText(output);
  if (failed) return { ...item, status: "failed", error: { message: text } } as unknown as Item;
  const { action } = item;
  const isSearch = action?.type === "search";
  const results: readonly PageResult[] = isSearch
    ? parseResults(text)
    : [{ url: action?.url ?? "", text }];
  const found = results.flatMap(({ url }) => (url ? [{ type: "url", url }] : []));
  return {
    ...item,
    status: "completed",
    action: isSearch ? { ...action, sources: found } : action,
    results,
  } as unknown as Item;
}

/** A call that the vendor made has no results here, only its sources. */
function toSearchFunctions(item: WebSearchCall, nameOf: (key: string) => string): Item[] {
  const call_id = item.id ?? "";
  const results = "results" in item ? readResults(item.results) : undefined;
  const kept = results ?? readResults(item.action?.sources) ?? [];
  const none = item.status === "failed" ? "The search failed." : "The results were not kept.";
  const output = findError(item) ?? (results || kept.length > 0 ? toResultsText(kept) : none);
  return [
    {
      type: "function_call",
      call_id,
      name: nameOf(keyOfAction(item.action?.type)),
      arguments: toArguments(item),
    },
    { type: "function_call_output", call_id, output },
  ];
}
