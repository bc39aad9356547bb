/**
 * The services that search the web, in the order of preference. Keys go into headers, never into an
 * address, because addresses end up in logs.
 */

import { isJsonObject, type Json } from "../../../base/json.ts";
import type { SearchHttpRequest, SearchProvider, SearchResult } from "./provider.ts";

/** The most results that Google returns at once. */
const GOOGLE_PAGE = 10;

export const SEARCH_PROVIDERS: readonly SearchProvider[] = [
  {
    name: "brave",
    title: "Brave Search",
    summary: "An index of its own.",
    needs: "`BRAVE_SEARCH_API_KEY` or `BRAVE_SEARCH_AI_API_KEY`",
    keys: [["BRAVE_SEARCH_API_KEY", "BRAVE_SEARCH_AI_API_KEY"]],
    url: "https://api.search.brave.com/res/v1/web/search",
    ask: ({ query, count, url, keys: [key = ""] }) => {
      const fields = { q: query, count: String(count), text_decorations: "false" };
      return [get(url, fields, { "x-subscription-token": key })];
    },
    // Without a result there is no `web`.
    read: async ({ json }) =>
      readList(field(field(json, "web"), "results") ?? emptyWhere(json, "type", "query")),
  },
  {
    name: "tavily",
    title: "Tavily",
    summary: "Made for agents: longer extracts of the pages it finds.",
    needs: "`TAVILY_API_KEY`",
    keys: [["TAVILY_API_KEY"]],
    url: "https://api.tavily.com/search",
    ask: ({ query, count, url, keys: [key] }) => {
      const body = { query, max_results: count, search_depth: "basic" };
      return [post(url, body, { authorization: `Bearer ${key}` })];
    },
    read: async ({ json }) => readList(field(json, "results"), { description: "content" }),
    advice: {
      432: "Its plan's limit is used up.",
      433: "Its pay-as-you-go limit is used up.",
    },
  },
  {
    name: "searxng",
    title: "SearXNG",
    summary: "A server of your own that asks many engines.",
    needs: "`search_url`",
    keys: [],
    url: undefined,
    ask: ({ query, url }) => [get(toSearxng(url), { q: query, format: "json" }, {})],
    read: async ({ json }) => readList(field(json, "results"), { description: "content" }),
    advice: { 403: "Add `json` to `search.formats` in the server's `settings.yml`." },
  },
  {
    name: "exa",
    title: "Exa",
    summary: "Searches by meaning.",
    needs: "`EXA_API_KEY`",
    keys: [["EXA_API_KEY"]],
    url: "https://api.exa.ai/search",
    ask: ({ query, count, url, keys: [key = ""] }) => {
      const body = { query, numResults: count, type: "auto", contents: { highlights: true } };
      return [post(url, body, { "x-api-key": key })];
    },
    read: async ({ json }) => readList(field(json, "results"), { description: "highlights" }),
    advice: { 402: "Its credits are used up." },
  },
  {
    name: "google",
    title: "Google",
    summary: "A Programmable Search Engine of your own.",
    needs: "`GOOGLE_CSE_KEY` and `GOOGLE_CSE_ID`",
    keys: [["GOOGLE_CSE_KEY"], ["GOOGLE_CSE_ID"]],
    url: "https://www.googleapis.com/customsearch/v1",
    ask({ query, count, url, keys: [key = "", cx = ""] }) {
      const pages = Math.ceil(count / GOOGLE_PAGE);
      return Array.from({ length: pages }, (_, page) => {
        const num = Math.min(GOOGLE_PAGE, count - page * GOOGLE_PAGE);
        const start = page * GOOGLE_PAGE + 1;
        const fields = { cx, q: query, num: String(num), start: String(start) };
        return get(url, fields, { "x-goog-api-key": key });
      });
    },
    // Without a result there are no `items`.
    read: async ({ json }) => {
      const items = field(json, "items") ?? emptyWhere(json, "kind", "queries");
      return readList(items, { url: "link", description: "snippet" });
    },
  },
  {
    name: "duckduckgo",
    title: "DuckDuckGo",
    summary: "Its page for browsers without scripts. It turns robots away at times.",
    needs: "nothing",
    keys: [],
    url: "https://html.duckduckgo.com/html/",
    ask: ({ query, url }) => [
      {
        method: "POST",
        url,
        headers: { accept: "text/html", "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ q: query }).toString(),
      },
    ],
    async read({ text }, signal) {
      const { readResults } = await import("../content/page-process.ts");
      return await readResults(text, { signal });
    },
    // The page of the robot check comes with 202, which is a success elsewhere.
    isWall: ({ status, text }) =>
      status === 202 || /anomaly\.js|anomaly-modal|challenge-form|bots use DuckDuckGo/i.test(text),
  },
];

function get(
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): SearchHttpRequest {
  const whole = new URL(url);
  for (const [name, value] of Object.entries(fields)) whole.searchParams.set(name, value);
  return { method: "GET", url: whole.href, headers: { accept: "application/json", ...headers } };
}

function post(
  url: string,
  body: Json,
  headers: Readonly<Record<string, string>>,
): SearchHttpRequest {
  return {
    method: "POST",
    url,
    headers: { accept: "application/json", "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/** `search_url` may be the server's address or that of its search. */
function toSearxng(url: string): string {
  const whole = new URL(url);
  const path = whole.pathname.replace(/\/+$/, "");
  whole.pathname = path.endsWith("/search") ? path : `${path}/search`;
  return whole.href;
}

function field(json: Json | undefined, name: string): Json | undefined {
  return isJsonObject(json) ? json[name] : undefined;
}

/** An empty list for an answer that has one of these fields: it is valid, and has no results. */
function emptyWhere(json: Json | undefined, ...names: readonly string[]): Json | undefined {
  return names.some((name) => field(json, name) !== undefined) ? [] : undefined;
}

/** The service's names of the three parts of a result. */
interface Names {
  readonly url?: string;
  readonly description?: string;
}

function readList(list: Json | undefined, names: Names = {}): SearchResult[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.map((entry: Json) => ({
    title: toText(field(entry, "title")),
    url: toText(field(entry, names.url ?? "url")),
    description: toText(field(entry, names.description ?? "description")),
  }));
}

function toText(json: Json | undefined): string {
  if (Array.isArray(json)) return json.filter((part) => typeof part === "string").join(" … ");
  return typeof json === "string" ? json : "";
}
