/** The results of searches by any tool: read from a tool's answer, and written for a model. */

import { isJsonObject, type Json, type JsonObject, tryParseJson } from "../../base/json.ts";

export interface PageResult {
  readonly url?: string | undefined;
  readonly title?: string | undefined;
  readonly snippet?: string | undefined;
  /** The text of the page, or an answer that is not a list. */
  readonly text?: string | undefined;
}

/**
 * Results as JSON in any of the usual shapes; a plain text is one result, with the addresses in it.
 */
export function parseResults(text: string): PageResult[] {
  const json = tryParseJson(text);
  const list = json === undefined ? undefined : findList(json, 0);
  if (list) return list.flatMap((entry) => toResult(entry) ?? []);
  if (text.trim() === "") return [];
  const addresses = [...new Set(text.match(/https?:\/\/[^\s<>"'`)\]]+/g) ?? [])];
  return [{ text }, ...addresses.map((url) => ({ url: url.replace(/[.,;:!?]+$/, "") }))];
}

/**
 * The first list of objects, not too deep inside: `results`, `web.results`, `data.items`. Other lists may come before
 * it with nothing in them, such as `images`: an empty list counts only if there is no other.
 */
function findList(json: Json, depth: number): readonly Json[] | undefined {
  if (Array.isArray(json)) return json.every((entry) => isJsonObject(entry)) ? json : undefined;
  if (!isJsonObject(json) || depth > 2) return undefined;
  let empty: readonly Json[] | undefined;
  for (const value of Object.values(json)) {
    const found = value === undefined ? undefined : findList(value, depth + 1);
    if (found && found.length > 0) return found;
    empty ??= found;
  }
  return empty;
}

function toResult(entry: Json): PageResult | undefined {
  if (!isJsonObject(entry)) return undefined;
  const url = firstText(entry, ["url", "link", "href"]);
  const title = firstText(entry, ["title", "name"]);
  const text = firstText(entry, ["text"]);
  if (url === undefined && text !== undefined) return { text };
  const snippet = firstText(entry, ["snippet", "description", "content", "text", "summary"]);
  return url === undefined && snippet === undefined ? undefined : { url, title, snippet };
}

function firstText(entry: JsonObject, names: readonly string[]): string | undefined {
  return names
    .map((name) => entry[name])
    .find((value) => typeof value === "string" && value !== "") as string | undefined;
}

/**
 * The results in an item; undefined if it has none. Clients and vendors may write anything into this field, so values
 * that are not text are left out.
 */
export function readResults(held: unknown): PageResult[] | undefined {
  if (!Array.isArray(held)) return undefined;
  const entries: readonly JsonObject[] = held.filter(isJsonObject);
  return entries.flatMap((entry) => {
    const [url, title, snippet, text] = FIELDS.map((name) => firstText(entry, [name]));
    return (url ?? title ?? snippet ?? text) ? [{ url, title, snippet, text }] : [];
  });
}

const FIELDS = ["url", "title", "snippet", "text"] as const;

export function toResultsText(results: readonly PageResult[]): string {
  if (results.length === 0) return "Nothing was found.";
  const texts = results.flatMap(({ text }) => text ?? []);
  if (texts.length > 0) return texts.join("\n\n");
  const lines = results.map(({ url, title, snippet }, at) =>
    [`${at + 1}. ${title ?? url ?? ""}`, url, snippet].filter(Boolean).join("\n   "),
  );
  return `${lines.join("\n")}\n\n${CITE}`;
}

const CITE =
  "Where you use one of these, cite it right there as a Markdown link with its exact address: [title](address).";
