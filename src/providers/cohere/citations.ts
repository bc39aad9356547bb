/** Citations of Cohere's models as annotations: an address if the source has one, otherwise the source's id. */

import type { JsonObject } from "../../base/json.ts";
import type { Annotation } from "../../protocol/content.ts";
import type { ReadCitation } from "./schema.ts";

/** One annotation for each source. `text` is the answer so far. */
export function toAnnotations(citation: ReadCitation, text: string): Annotation[] {
  const [start_index, end_index] = spanOf(citation, text);
  return (citation.sources ?? []).map(({ id, document, tool_output }): Annotation => {
    const fields = document ?? tool_output ?? {};
    const title = wordOf(fields, "title") ?? wordOf(fields, "name");
    const url = wordOf(fields, "url");
    if (url && /^https?:/i.test(url)) {
      return { type: "url_citation", url, title: title ?? "", start_index, end_index };
    }
    const file_id = id ?? wordOf(fields, "id") ?? "";
    return { type: "file_citation", file_id, filename: title ?? file_id, start_index, end_index };
  });
}

/** True if the citation belongs to the answer, and not to reasoning or a plan. */
export function isOfText({ type }: ReadCitation): boolean {
  return !type || type === "TEXT_CONTENT";
}

/** The cited range. The server counts characters, we count UTF-16 units; the cited words decide. */
function spanOf({ start, end, text: cited }: ReadCitation, text: string): [number, number] {
  const from = clamp(start ?? 0, text);
  const to = Math.max(from, clamp(end ?? text.length, text));
  if (!cited || text.slice(from, to) === cited) return [from, to];
  const characters = [...text];
  const at = characters.slice(0, from).join("").length;
  if (text.startsWith(cited, at)) return [at, at + cited.length];
  const found = text.indexOf(cited);
  return found < 0 ? [from, to] : [found, found + cited.length];
}

function clamp(place: number, { length }: string): number {
  return Math.min(length, Math.max(0, Math.trunc(place)));
}

function wordOf(fields: JsonObject, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
