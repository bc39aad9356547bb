/** The pages that an answer is from: citations in the API's own form, and lists beside the answer. */

import type { ChatAnnotation, ChatChunk } from "./schema.ts";

export interface SourceCitation {
  readonly type: "url_citation";
  readonly url: string;
  readonly title: string;
  readonly start_index: number;
  readonly end_index: number;
}

export interface SourcePage {
  readonly url: string;
  readonly title: string;
}

export function toCitation({ url_citation: cited }: ChatAnnotation): SourceCitation {
  const { url, title, start_index, end_index } = cited ?? {};
  return {
    type: "url_citation",
    url: url ?? "",
    title: title ?? "",
    start_index: start_index ?? 0,
    end_index: end_index ?? 0,
  };
}

/** The pages of a chunk. If it has both lists, the one with titles is used. */
export function pagesOf({ search_results, citations }: ChatChunk): SourcePage[] {
  const pages = search_results?.length
    ? search_results
    : (citations ?? []).map((url) => ({ url, title: "" }));
  return pages.map(({ url, title }) => ({ url: url ?? "", title: title ?? "" }));
}

/** A citation for each page that is not cited yet, at the `[2]` that names the second, or at the beginning. */
export function citePages(
  pages: readonly SourcePage[],
  text: string,
  known: readonly SourceCitation[],
): SourceCitation[] {
  const cited = new Set(known.map(({ url }) => url));
  return pages.flatMap(({ url, title }, at) => {
    if (url === "" || cited.has(url)) return [];
    cited.add(url);
    const mark = `[${at + 1}]`;
    const found = text.indexOf(mark);
    const [start_index, end_index] = found < 0 ? [0, 0] : [found, found + mark.length];
    return [{ type: "url_citation" as const, url, title, start_index, end_index }];
  });
}
