/** Sources that Gemini names for a text, as annotations of that text. */

import type { UrlCitation } from "../../protocol/content.ts";
import type { GeminiAside, GeminiCitation, GeminiGrounding, GeminiSource } from "./schema.ts";

/** The sources of a candidate, which may come in several events. */
export type Sources = Pick<GeminiAside, "citationMetadata" | "groundingMetadata">;

/** Each citation once, in the order in which they came. */
export function toCitations(sources: readonly Sources[], text: string): UrlCitation[] {
  const found = sources.flatMap(({ citationMetadata, groundingMetadata }) => [
    ...readQuotes(citationMetadata, text),
    ...readGrounding(groundingMetadata, text),
  ]);
  const unique = new Map(found.map((citation) => [JSON.stringify(citation), citation]));
  return [...unique.values()];
}

function readQuotes(metadata: GeminiAside["citationMetadata"], text: string): UrlCitation[] {
  const quotes = metadata?.citations ?? metadata?.citationSources ?? [];
  return quotes.flatMap((quote) => toCitation(quote, quote, text));
}

function readGrounding(metadata: GeminiGrounding | null | undefined, text: string): UrlCitation[] {
  const chunks = metadata?.groundingChunks ?? [];
  const supports = metadata?.groundingSupports ?? [];
  if (supports.length === 0) {
    return chunks.flatMap((chunk) => toCitation(pageOf(chunk), undefined, text));
  }
  return supports.flatMap(({ segment, groundingChunkIndices }) =>
    (groundingChunkIndices ?? []).flatMap((index) =>
      toCitation(pageOf(chunks[index]), segment ?? undefined, text),
    ),
  );
}

type Page = Pick<GeminiCitation, "uri" | "title">;

function pageOf(source: GeminiSource | undefined): Page {
  return source?.web ?? source?.retrievedContext ?? source?.maps ?? {};
}

function toCitation(
  { uri, title }: Page,
  segment: GeminiCitation | undefined,
  text: string,
): UrlCitation[] {
  if (!uri) return [];
  return [{ type: "url_citation", url: uri, title: title ?? "", ...toSpan(segment, text) }];
}

function toSpan(
  segment: GeminiCitation | undefined,
  text: string,
): { start_index?: number; end_index?: number } {
  if (text === "" || typeof segment?.endIndex !== "number") return {};
  // The wire leaves out zero.
  const { startIndex, endIndex } = segment;
  return { start_index: toIndex(text, startIndex ?? 0), end_index: toIndex(text, endIndex) };
}

/** Converts an index: Google counts bytes, everyone else characters. */
function toIndex(text: string, bytes: number): number {
  return Buffer.from(text).subarray(0, bytes).toString("utf8").length;
}
