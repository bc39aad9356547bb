/**
 * Reads DuckDuckGo's two pages without scripts, `html` and `lite`, which name the same elements
 * differently.
 */

import { openPage, type PageElement } from "../content/page-dom.ts";
import type { SearchResult } from "./provider.ts";

const LINKS = "a.result__a, a.result-link";
const SNIPPETS = ".result__snippet, .result-snippet";
const ADS = ".result--ad, .result-sponsored";

/** Undefined for a page that is neither a list of results nor says that there are none. */
export async function readDuckDuckGo(html: string): Promise<SearchResult[] | undefined> {
  const page = await openPage(html);
  const results: { title: string; url: string; description: string }[] = [];
  let last: (typeof results)[number] | undefined;
  // In the page's order: a snippet belongs to the link before it.
  for (const element of page.querySelectorAll(`${LINKS}, ${SNIPPETS}`)) {
    if (isLink(element)) {
      last = toResult(element);
      if (last) results.push(last);
    } else if (last) {
      last.description ||= element.textContent;
    }
  }
  if (results.length > 0) return results;
  return saysNothingFound(html) || page.querySelector(LINKS) ? [] : undefined;
}

function isLink(element: PageElement): boolean {
  return /(?:^|\s)result(?:__a|-link)(?:\s|$)/.test(element.getAttribute("class") ?? "");
}

/** Undefined for an advertisement. */
function toResult(
  link: PageElement,
): { title: string; url: string; description: string } | undefined {
  const url = unwrap(link.getAttribute("href") ?? "");
  if (!url || link.closest(ADS)) return undefined;
  return { title: link.textContent, url, description: "" };
}

/** Links lead through a counter, `//duckduckgo.com/l/?uddg=TARGET`; those of advertisers through `y.js`. */
function unwrap(href: string): string | undefined {
  const base = "https://duckduckgo.com/";
  if (!URL.canParse(href, base)) return undefined;
  const url = new URL(href, base);
  if (!/(?:^|\.)duckduckgo\.com$/.test(url.hostname)) return url.href;
  if (url.pathname.startsWith("/y.js")) return undefined;
  const target = url.pathname.startsWith("/l/") ? url.searchParams.get("uddg") : undefined;
  if (target === undefined) return url.href;
  return target === null || /duckduckgo\.com\/y\.js/.test(target) ? undefined : target;
}

function saysNothingFound(html: string): boolean {
  return /class=["'][^"']*\bno-results?\b|>\s*No\s+(?:more\s+)?results\b/i.test(html);
}
