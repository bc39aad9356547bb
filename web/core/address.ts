/**
 * The address is the page's state: which view, of what, with which filters. So every view is a link that can be
 * shared, and the browser's back button works. The address does not say which server is asked: that is always the
 * page's own origin.
 */

import { computed, signal } from "@preact/signals";

/** The console's base path: everything up to and with `/console/`, so that a path prefix works. */
export const BASE = toBase(location.pathname);

const current = signal(readAddress());

export interface Address {
  /** The parts of the path below the base: `["runs", "run_1"]`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export const address = computed(() => current.value);

addEventListener("popstate", () => {
  current.value = readAddress();
});

/** Goes to a view, as a step of the browser's history; with `replace` without one. */
export function go(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const url = BASE + to;
  if (replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  current.value = readAddress();
  if (!replace) scrollTo(0, 0);
}

/** Sets filters of the present view. An empty text or undefined removes one. */
export function refine(filters: Readonly<Record<string, string | undefined>>): void {
  const query = new URLSearchParams(current.value.query);
  for (const [name, value] of Object.entries(filters)) {
    if (value === undefined || value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  go(current.value.path.map(encodeURIComponent).join("/") + (text ? `?${text}` : ""), {
    replace: true,
  });
}

/** The `href` of a view, for links that may be opened in another tab. */
export function toHref(to: string): string {
  return BASE + to;
}

/** Follows a plain click on a link of ours without loading the page again. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest("a[href]");
  if (!(link instanceof HTMLAnchorElement) || link.target || link.download) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || !url.pathname.startsWith(BASE)) return;
  event.preventDefault();
  go(url.pathname.slice(BASE.length) + url.search);
}

function toBase(pathname: string): string {
  const at = pathname.indexOf("/console/");
  return at < 0 ? "/console/" : pathname.slice(0, at + "/console/".length);
}

function readAddress(): Address {
  const below = location.pathname.startsWith(BASE) ? location.pathname.slice(BASE.length) : "";
  const path = below.split("/").filter((part) => part !== "");
  return { path: path.map(decode), query: new URLSearchParams(location.search) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
