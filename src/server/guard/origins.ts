/**
 * Decides which pages may talk to the server: none, unless their origin is named. Browsers send a page's requests
 * even if it may not read the answers, so these requests are refused before they do anything.
 */

import type { IncomingHttpHeaders } from "node:http";
import { Failure } from "../../base/failure.ts";
import { toGlobPattern } from "../../base/glob.ts";
import { clip } from "../../base/text.ts";

export interface Origins {
  /**
   * Rejects with `forbidden` a request from a page of another origin. `isPage`: the request is for a page of ours
   * that holds no data, to which another page may link.
   */
  check(headers: IncomingHttpHeaders, isPage?: boolean): void;
  /**
   * The headers that let the page read the answer; for an `OPTIONS` request, those that say what it may send.
   */
  toHeaders(method: string, headers: IncomingHttpHeaders): Readonly<Record<string, string>>;
}

/** `origins` are globs, `https://*.example.com` or `http://localhost:*`; `*` alone allows any. */
export function createOrigins(origins: readonly string[]): Origins {
  const pattern = toGlobPattern(origins.map((origin) => (origin === "*" ? "**" : origin)));
  const isNamed = (origin: string | undefined): boolean =>
    origin !== undefined && pattern.test(origin.toLowerCase());

  return {
    check(headers, isPage = false) {
      const { origin } = headers;
      if (isNamed(origin)) return;
      if (origin !== undefined && !isOwn(origin, headers.host)) throw toForeign(origin);
      // A picture or a link of a page sends no origin. `same-site` means another port of this machine.
      const site = headers["sec-fetch-site"];
      if (isPage && isNavigation(headers)) return;
      if (site === "cross-site" || site === "same-site") throw toForeign(String(site));
    },
    toHeaders(method, headers) {
      if (origins.length === 0) return {};
      const { origin } = headers;
      // Caches must not give one origin the answer for another.
      if (origin === undefined || !isNamed(origin)) return { vary: "origin" };
      const answer = { vary: "origin", "access-control-allow-origin": origin };
      if (method === "OPTIONS") return { ...answer, ...toPreflight(headers) };
      return { ...answer, "access-control-expose-headers": EXPOSED };
    },
  };
}

/** True if the user follows a link: the browser shows the answer, and no page can read it. */
function isNavigation(headers: IncomingHttpHeaders): boolean {
  return headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
}

/** True for the server's own origin: some clients send the server's address as their origin. */
function isOwn(origin: string, host: string | undefined): boolean {
  const [, own] = /^https?:\/\/([^/]+)$/i.exec(origin) ?? [];
  return own !== undefined && own.toLowerCase() === host?.toLowerCase();
}

function toForeign(origin: string): Failure {
  const shown = clip(origin, 80);
  const message = `Pages of the origin \`${shown}\` may not use this server; \`server.origins\` allows some.`;
  return new Failure("forbidden", message);
}

const EXPOSED = [
  "x-request-id",
  "retry-after",
  "mcp-session-id",
  ...["limit", "remaining", "reset"].flatMap((what) =>
    ["requests", "tokens"].map((unit) => `x-ratelimit-${what}-${unit}`),
  ),
].join(", ");

/** Clients send headers of their own (`x-stainless-…`), so all requested headers are allowed. */
function toPreflight(headers: IncomingHttpHeaders): Record<string, string> {
  const asked = headers["access-control-request-headers"] ?? "";
  const names = asked.split(",").map((name) => name.trim());
  const allowed = names.filter((name) => /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name));
  return {
    "access-control-allow-methods": "GET, POST, DELETE",
    "access-control-allow-headers": allowed.slice(0, 100).join(", "),
    "access-control-max-age": "600",
    // Pages from the public internet ask before they talk to a machine of a private network.
    ...(headers["access-control-request-private-network"] === "true"
      ? { "access-control-allow-private-network": "true" }
      : {}),
  };
}
