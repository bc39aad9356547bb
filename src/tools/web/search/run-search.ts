/**
 * Runs one search: asks a service, retries where that helps, reads and cleans its results.
 *
 * No result is an empty list. Anything else is a failure that says what to do: with an empty list in its
 * place, a model would believe that there is nothing to find.
 */

import type { Clock } from "../../../base/clock.ts";
import { Failure, toFailure } from "../../../base/failure.ts";
import { tryParseJson } from "../../../base/json.ts";
import { createRedact } from "../../../base/redact.ts";
import { type RetryPolicy, retry } from "../../../base/retry.ts";
import { clip } from "../../../base/text.ts";
import { decodeHtml } from "../content/decode-html.ts";
import { toLine } from "../content/plain-text.ts";
import { toRetryAfterMs } from "../network/retry-after.ts";
import type { WebAnswer } from "../network/web-answer.ts";
import type { WebClient } from "../network/web-client.ts";
import type { ReadyProvider } from "./choose-provider.ts";
import type { SearchHttpRequest, SearchResult, SearchText } from "./provider.ts";

export interface RunSearchParts {
  readonly client: WebClient;
  readonly clock: Clock;
  /** Between 0 and 1. */
  readonly random: () => number;
  readonly signal: AbortSignal;
  allowsHost(host: string): boolean;
}

export interface FoundOnWeb {
  readonly results: readonly SearchResult[];
  /** A note on the source of the results. */
  readonly note: string | undefined;
}

/** The user waits for a search, so it is not retried for long. */
const SEARCH_RETRY: RetryPolicy = {
  attempts: 3,
  baseMs: 1000,
  maxMs: 8000,
  maxRetryAfterMs: 8000,
};

/** `fetch` is for reading more of a page. */
const MAX_DESCRIPTION_CHARS = 600;

type Asked = { readonly query: string; readonly count: number };

export async function runSearch(
  asked: Asked,
  [first, spare]: readonly [ReadyProvider, ...ReadyProvider[]],
  searching: RunSearchParts,
): Promise<FoundOnWeb> {
  const results = await searchWith(first, asked, searching);
  if (results !== "wall") return { results, note: undefined };
  const wall = `${first.provider.title} takes this computer for a robot and asks for a proof that a person searches.`;
  if (!spare) throw new Failure("tool_failed", `${wall} ${WAY_OUT}`);
  const others = await searchWith(spare, asked, searching);
  if (others === "wall") throw new Failure("tool_failed", `${wall} ${WAY_OUT}`);
  return { results: others, note: `${wall} These results are from ${spare.provider.title}.` };
}

const WAY_OUT =
  "Try again later, or set the key of a search service: `BRAVE_SEARCH_API_KEY`, `TAVILY_API_KEY`, `EXA_API_KEY`, or `GOOGLE_CSE_KEY` with `GOOGLE_CSE_ID`; or set `search_url` to a SearXNG of your own.";

async function searchWith(
  ready: ReadyProvider,
  asked: Asked,
  searching: RunSearchParts,
): Promise<readonly SearchResult[] | "wall"> {
  const { provider, url, keys } = ready;
  const found: SearchResult[] = [];
  for (const request of provider.ask({ ...asked, url, keys })) {
    const answer = await askPage(ready, request, searching);
    if (provider.isWall?.(answer)) return "wall";
    const page = await provider.read(answer, searching.signal);
    if (!page) {
      const message = `${provider.title} did not answer with a list of results. Try again later, or set another \`search_provider\`.`;
      throw new Failure("tool_failed", message);
    }
    found.push(...page);
    // The next page is requested only if this one is full.
    if (page.length === 0) break;
  }
  return toClean(found).slice(0, asked.count);
}

async function askPage(
  ready: ReadyProvider,
  request: SearchHttpRequest,
  searching: RunSearchParts,
): Promise<SearchText> {
  const { client, clock, random, signal, allowsHost } = searching;
  const ownHost = new URL(ready.url).host;
  const attempt = async (): Promise<WebAnswer> => {
    const answer = await client.request({
      ...request,
      signal,
      allowsHost,
      // The user's own server may be in a private network.
      ...(ready.provider.url === undefined ? { privateHosts: [ownHost] } : {}),
    });
    if (answer.status >= 400) throw toStatusFailure(ready, answer);
    return answer;
  };
  const policy = SEARCH_RETRY;
  const answer = await retry(attempt, () => ({
    policy,
    clock,
    random,
    signal,
    onRetry: () => {},
  })).catch((thrown: unknown) => {
    throw toToolFailure(thrown);
  });
  const text = decodeHtml(answer.body, answer.contentType);
  return { status: answer.status, text, json: tryParseJson(text) };
}

/** `retry` decides by the code whether to retry; for the model it is a failed tool. */
function toToolFailure(thrown: unknown): Failure {
  const failure = toFailure(thrown);
  const isOurs = failure.code === "provider_overloaded" || failure.code === "provider_failed";
  return isOurs ? new Failure("tool_failed", failure.message, { cause: failure }) : failure;
}

function toStatusFailure({ provider, keys }: ReadyProvider, answer: WebAnswer): Failure {
  const { status, headers, body } = answer;
  const said = `${provider.title} answered with HTTP ${status}.`;
  const advice = provider.advice?.[status];
  if (advice) return new Failure("tool_failed", `${said} ${advice}`);
  if (status === 429) {
    const message = `${said} Its limit is reached: try again later.`;
    const retryAfterMs = toRetryAfterMs(headers["retry-after"]);
    return new Failure("provider_overloaded", message, { retryAfterMs });
  }
  if (status >= 500) return new Failure("provider_failed", `${said} Try again later.`);
  const isKey = (status === 401 || status === 403) && keys.length > 0;
  const hint = isKey ? ` It does not accept the key: check ${provider.needs}.` : "";
  // Services repeat what they were sent.
  const reason = createRedact(keys)(clip(toLine(body.toString("utf8", 0, 4000)), 200));
  return new Failure("tool_failed", `${said}${hint}${reason === "" ? "" : ` It says: ${reason}`}`);
}

/** Plain text, one entry for each address, and only addresses that can be fetched. */
function toClean(results: readonly SearchResult[]): SearchResult[] {
  const clean = new Map<string, SearchResult>();
  for (const { title, url, description } of results) {
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url) || clean.has(url)) continue;
    clean.set(url, {
      title: clip(toLine(title), 300) || url,
      url,
      description: clip(toLine(description), MAX_DESCRIPTION_CHARS),
    });
  }
  return [...clean.values()];
}
