/** Intents that use the web. They need `search_web`, and `fetch` or `scrape_webpage`. */

import { isJsonObject, type JsonObject, tryParseJson } from "../../../base/json.ts";
import { plural } from "../../../base/text.ts";
import { unquote } from "../slots.ts";
import { isRefusal, parseResult, textIn } from "../tool-results.ts";
import { isOneStep } from "../wording.ts";
import { callTool, chooseTool, join, refusal } from "./file-steps.ts";
import { defineIntent, type Intent } from "./intent.ts";

const THE_WEB = "[the] (web|internet|net)";

const searchWeb = defineIntent<"text">({
  name: "search-web",
  summary: "search the web",
  tools: ["search_web"],
  acts: true,
  hints: /\b(web|internet|net|online|google)\b/i,
  phrasings: [
    "search the web for tree rings",
    "look up 'node release schedule' online",
    "web search: weather in Oslo",
    "find the Debian release notes on the internet",
    "what does the web say about bubblewrap?",
    "google sqlite write-ahead log",
  ],
  templates: [
    `(search|search on|look on|look in) ${THE_WEB} for {text}`,
    "(do a web search|web search|search online|google) [for] {text}",
    `(look up|look for|find|search for|search) {text} (online|(on|in) ${THE_WEB})`,
    `what does ${THE_WEB} (say|know) about {text}`,
  ],
  accept: ({ text = "" }) => isOneStep(text),
  *plan({ text = "" }) {
    const output = yield* callTool("search_web", { query: text });
    const { results, note } = toResults(output);
    if (isRefusal(output) || !results) return refusal("search_web", output);
    const data = { results, count: results.length, query: text };
    if (results.length === 0) {
      return { text: join([`The web search for "${text}" found nothing.`, note]), data };
    }
    const lines = results.map(
      (result, at) =>
        `${at + 1}. ${textIn(result, "title") || "(no title)"}\n   ${textIn(result, "url")}\n   ${describe(result)}`,
    );
    const title = `${plural(results.length, "result")} of a web search for "${text}":`;
    return { text: join([title, lines.map((line) => line.trimEnd()).join("\n"), note]), data };
  },
});

/** The description of a result, which search services call by several names. */
function describe(result: JsonObject): string {
  return textIn(result, "description") || textIn(result, "snippet") || textIn(result, "text");
}

interface Found {
  readonly results: readonly JsonObject[] | undefined;
  /** The tool's note beside its results: their source, or what failed. */
  readonly note: string | undefined;
}

/** Reads the results: a list, or a list in an object, on one line; a note may follow it. */
function toResults(output: string): Found {
  const [first = "", ...more] = output.split("\n");
  const whole = tryParseJson(output);
  const value = whole ?? tryParseJson(first);
  const list = isJsonObject(value) ? value["results"] : value;
  const results = Array.isArray(list) ? list.filter(isJsonObject) : undefined;
  const note = whole === undefined ? more.join("\n").trim() : "";
  return { results, note: note || undefined };
}

const THE_PAGE =
  "[(the [web] page|the (website|site|url|address)|the (text|contents?) of)] [(at|of|from)] {url}";

const readPage = defineIntent<"url" | "summary">({
  name: "read-page",
  summary: "show the text of a web page",
  tools: ["fetch"],
  acts: true,
  hints: /https?:/i,
  phrasings: [
    "fetch https://example.org/",
    "read the page at https://example.org/news",
    "what does https://example.org/about say?",
    "summarise https://example.org/report.pdf",
    "scrape `https://example.org/table.html`",
    "show me what is on https://example.org",
  ],
  templates: [
    `(fetch|get|read|open|load|show|download|scrape|visit|print|display) [me] ${THE_PAGE}`,
    `(what is|what's|what does it say|what do you see) (at|on|in) [the [web] page] {url}`,
    "what (does|do) [the [web] page] {url} (say|contain|tell|hold)",
    "(tell me|show me) what (is|stands) (at|on|in) {url}",
    `{summary=summarise} ${THE_PAGE}`,
  ],
  *plan({ url = "", summary }, conversation) {
    const tool = chooseTool(["fetch", "scrape_webpage"], conversation);
    const address = unquote(url);
    const output = yield* callTool(tool, { url: address });
    if (isRefusal(output)) return refusal(tool, output);
    const page = parseResult(output);
    const content = page && "content" in page ? textIn(page, "content") : output;
    const title = page ? textIn(page, "title") : "";
    const status = page?.["status"];
    const bad = typeof status === "number" && status >= 400;
    const head = bad ? `The server answered ${status}.` : undefined;
    const excuse =
      summary && "I am not a language model and cannot summarise; this is the text itself.";
    const named = title === "" ? `The text of ${address}:` : `The text of "${title}" (${address}):`;
    const cut =
      page?.["truncated"] === true ? "(The page continues; this is its beginning.)" : undefined;
    const data = { url: address, title, text: content, content };
    const text = join([head, excuse, named, content, cut]);
    return { text, data, ...(bad ? { failed: true, declined: true } : { material: [content] }) };
  },
});

export const BROWSING: readonly Intent[] = [searchWeb, readPage];
