/**
 * The search services as strict servers: each refuses what the real one would, and answers in the real
 * one's form. A repeated request is answered from `answers` in order, the last for ever.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

export const KEYS = {
  BRAVE_SEARCH_API_KEY: "brave-key-123456",
  TAVILY_API_KEY: "tvly-key-123456",
  EXA_API_KEY: "exa-key-123456",
  GOOGLE_CSE_KEY: "google-key-123456",
  GOOGLE_CSE_ID: "engine:42",
};

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

type Service = (asked: Asked) => Answer;

/** By host. */
export function createServices(pages: Readonly<Record<string, Service>>) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    void text(request).then((body) => {
      const host = request.headers.host ?? "";
      const { method = "", url = "", headers } = request;
      const asked = { method, url: new URL(url, `http://${host}`), headers, body };
      const answer = pages[host]?.(asked) ?? { status: 404, type: "text/plain", body: host };
      response.writeHead(answer.status, { "content-type": answer.type }).end(answer.body);
    });
  };
}

export const json = (value: unknown, status = 200): Answer => ({
  status,
  type: "application/json",
  body: JSON.stringify(value),
});

export const html = (body: string, status = 200): Answer => ({
  status,
  type: "text/html; charset=utf-8",
  body,
});

const results = (count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => from + index);

export const brave: Service = ({ method, url, headers }) => {
  if (headers["x-subscription-token"] !== KEYS.BRAVE_SEARCH_API_KEY) {
    return json({ type: "ErrorResponse", error: { code: "SUBSCRIPTION_TOKEN_INVALID" } }, 422);
  }
  const { searchParams, pathname } = url;
  const count = Number(searchParams.get("count"));
  if (method !== "GET" || pathname !== "/res/v1/web/search" || !(count >= 1 && count <= 20)) {
    return json({ type: "ErrorResponse", error: { code: "VALIDATION" } }, 422);
  }
  if (searchParams.get("q") === "nothing") return json({ type: "search", query: {} });
  const found = results(count).map((rank) => ({
    title: `Otter &amp; <strong>pond</strong> ${rank}`,
    url: `https://brave.example/${rank}`,
    description: `About <strong>otters</strong> no. ${rank}`,
  }));
  return json({ type: "search", query: {}, web: { type: "search", results: found } });
};

export const tavily: Service = ({ method, url, headers, body }) => {
  if (headers.authorization !== `Bearer ${KEYS.TAVILY_API_KEY}`) {
    return json({ detail: { error: `Unauthorized: ${headers.authorization}` } }, 401);
  }
  const { query, max_results: count } = JSON.parse(body) as Record<string, unknown>;
  if (method !== "POST" || url.pathname !== "/search" || typeof query !== "string") {
    return json({ detail: [{ msg: "Field required" }] }, 422);
  }
  const found = query === "nothing" ? [] : results(Number(count));
  return json({
    query,
    results: found.map((rank) => ({
      title: `Tavily ${rank}`,
      url: `https://tavily.example/${rank}`,
      content: `Long extract ${rank}`,
      score: 0.9,
    })),
  });
};

export const searxng: Service = ({ url }) => {
  if (url.pathname !== "/searx/search" || url.searchParams.get("format") !== "json") {
    return { status: 403, type: "text/html", body: "<h1>Forbidden</h1>" };
  }
  const found = url.searchParams.get("q") === "nothing" ? [] : results(20);
  return json({
    results: found.map((rank) => ({
      title: `Searx ${rank}`,
      url: `https://searx.example/${rank}`,
      content: `Snippet ${rank}`,
      engine: "x",
    })),
  });
};

export const exa: Service = ({ method, url, headers, body }) => {
  if (headers["x-api-key"] !== KEYS.EXA_API_KEY) return json({ error: "Invalid API key" }, 401);
  const { query, numResults, contents } = JSON.parse(body) as Record<string, unknown>;
  if (method !== "POST" || url.pathname !== "/search" || !query || !contents) {
    return json({ error: "Validation error" }, 400);
  }
  const found = query === "nothing" ? [] : results(Number(numResults));
  return json({
    requestId: "r",
    results: found.map((rank) => ({
      id: `https://exa.example/${rank}`,
      title: rank === 1 ? null : `Exa ${rank}`,
      url: `https://exa.example/${rank}`,
      highlights: [`First ${rank}`, "second"],
    })),
  });
};

export const google: Service = ({ method, url, headers }) => {
  if (headers["x-goog-api-key"] !== KEYS.GOOGLE_CSE_KEY) {
    return json({ error: { code: 403, message: "The request is missing a valid API key." } }, 403);
  }
  const { searchParams, pathname } = url;
  const num = Number(searchParams.get("num"));
  const start = Number(searchParams.get("start"));
  const isFit =
    num >= 1 && num <= 10 && start >= 1 && searchParams.get("cx") === KEYS.GOOGLE_CSE_ID;
  if (method !== "GET" || pathname !== "/customsearch/v1" || !isFit) {
    return json({ error: { code: 400, message: "Request contains an invalid argument." } }, 400);
  }
  if (searchParams.get("q") === "nothing")
    return json({ kind: "customsearch#search", queries: {} });
  const items = results(num, start).map((rank) => ({
    title: `Google ${rank}`,
    link: `https://google.example/${rank}`,
    snippet: `Snippet\n${rank}`,
  }));
  return json({ kind: "customsearch#search", queries: {}, items });
};

export const duckduckgo: Service = ({ method, headers, body }) => {
  const query = new URLSearchParams(body).get("q");
  const isForm = headers["content-type"] === "application/x-www-form-urlencoded";
  if (method !== "POST" || !isForm || query === null) return html("Bad request", 400);
  return html(query === "nothing" ? NOTHING_PAGE : RESULTS_PAGE);
};

export const RESULTS_PAGE = `<!DOCTYPE html><html><head><title>otters at DuckDuckGo</title></head><body>
<div id="links" class="results">
<div class="result results_links results_links_deep result--ad"><h2 class="result__title">
<a rel="nofollow" class="result__a" href="https://duckduckgo.com/y.js?ad_domain=boots.example&amp;u3=x">Buy boots</a></h2>
<a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=boots.example">Half price</a></div>
<div class="result results_links results_links_deep web-result"><div class="links_main links_deep result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fotters.example%2Fa%3Fb%3D1%26c%3D2&amp;rut=abc">Otters &amp; their <b>ponds</b></a></h2>
<a class="result__url" href="//duckduckgo.com/l/?uddg=x">otters.example</a>
<a class="result__snippet" href="//duckduckgo.com/l/?uddg=x"><b>Otters</b> hold
 hands.</a></div></div>
<div class="result results_links web-result"><h2 class="result__title">
<a rel="nofollow" class="result__a" href="https://direct.example/">Direct</a></h2></div>
<div class="result results_links web-result"><h2 class="result__title">
<a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fotters.example%2Fa%3Fb%3D1%26c%3D2">Again</a></h2></div>
<div class="result results_links web-result"><h2 class="result__title">
<a rel="nofollow" class="result__a" href="javascript:alert(1)">Script</a></h2></div>
</div></body></html>`;

export const LITE_PAGE = `<html><body><table>
<tr class="result-sponsored"><td><a rel="nofollow" href="https://duckduckgo.com/y.js?x=1" class='result-link'>Ad</a></td></tr>
<tr class="result-sponsored"><td class='result-snippet'>Buy now</td></tr>
<tr><td valign="top">1.&nbsp;</td><td><a rel="nofollow" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fone.example%2F&amp;rut=a" class='result-link'>One</a></td></tr>
<tr><td>&nbsp;</td><td class='result-snippet'>The <b>first</b>.</td></tr>
<tr><td valign="top">2.&nbsp;</td><td><a rel="nofollow" href="https://two.example/" class='result-link'>Two</a></td></tr>
<tr><td>&nbsp;</td><td class='result-snippet'>The second.</td></tr>
</table></body></html>`;

export const NOTHING_PAGE = `<html><body><div id="links" class="results"><div class="result results_links result--no-result">
<div class="links_main"><div class="no-results">No results.</div></div></div></div></body></html>`;

export const WALL_PAGE = `<html><body><div class="anomaly-modal__mask"><form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html" method="POST">
<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></form></div></body></html>`;
