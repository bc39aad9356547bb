/** Turns blocks of a user, a tool or the model into parts of items. */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Annotation, ContentPart, OutputText } from "../../protocol/content.ts";
import { BLOCKS, toAnnotation } from "../../protocol/messages-blocks.ts";
import { OWN_INDEX } from "./hosted-blocks.ts";
import type {
  BlockParam,
  DocumentParam,
  MessagesSource,
  SearchResultParam,
  TextParam,
} from "./messages-request.ts";

/** The context in which messages are read. */
export interface Reading {
  /** Names of fields that items do not have, each once. */
  readonly ignored: Set<string>;
  /**
   * True if the model's server uses this API itself: fields that only it knows are passed on to it.
   */
  readonly isVendor: boolean;
}

interface Marked {
  readonly cache_control?: unknown;
}

/**
 * A hint where to cache, and for how long. Vendors without such hints do not get it, and the client is not told.
 */
export function markOf({
  cache_control,
}: Marked): Pick<ContentPart & { type: "input_text" }, "prompt_cache_breakpoint"> {
  if (!isJsonObject(cache_control)) return {};
  const ttl = cache_control["ttl"] === "1h" ? { ttl: "1h" } : {};
  return { prompt_cache_breakpoint: { mode: "explicit", ...ttl } };
}

/** The kinds of sources that a picture and a document have. */
const PICTURE_SOURCES: ReadonlySet<string> = new Set(["base64", "url", "file"]);
const DOCUMENT_SOURCES: ReadonlySet<string> = new Set([...PICTURE_SOURCES, "text", "content"]);

/** Undefined for a kind that is not content, or that is unknown. */
export function toInputParts(block: BlockParam, reading: Reading): ContentPart[] | undefined {
  if (!hasKnownSource(block)) return reading.isVendor ? [toOwnPart(block)] : undefined;
  switch (block.type) {
    case "text":
      return [{ type: "input_text", text: block.text, ...markOf(block) }];
    case "image":
      return [{ ...toImage(block.source), ...markOf(block) }];
    case "document":
      return toDocument(block, reading);
    case "search_result":
      if (reading.isVendor) return [toOwnPart(block)];
      if (asksForCitations(block)) reading.ignored.add(CITATIONS);
      return [{ type: "input_text", text: toFoundText(block), ...markOf(block) }];
    default:
      return undefined;
  }
}

function hasKnownSource(block: BlockParam): boolean {
  if (block.type === "image") return PICTURE_SOURCES.has(block.source.type);
  return block.type !== "document" || DOCUMENT_SOURCES.has(block.source.type);
}

/** A block that the vendor gets unchanged. */
export function toOwnPart(block: BlockParam): ContentPart {
  return { type: "input_text", text: "", [BLOCKS]: block } as unknown as ContentPart;
}

/** Only Claude cites its documents; other models answer without naming the source. */
const CITATIONS = "messages.content.citations";

function asksForCitations(block: object): boolean {
  const { citations } = block as { readonly citations?: unknown };
  return isJsonObject(citations) && citations["enabled"] === true;
}

function toImage(source: MessagesSource): Extract<ContentPart, { type: "input_image" }> {
  if (source.type === "url") return { type: "input_image", image_url: source.url, detail: "auto" };
  if (source.type === "file")
    return { type: "input_image", file_id: source.file_id, detail: "auto" };
  const { media_type = "image/png", data = "" } = source as { media_type?: string; data?: string };
  return { type: "input_image", image_url: `data:${media_type};base64,${data}`, detail: "auto" };
}

function toDocument(block: DocumentParam, reading: Reading): ContentPart[] {
  const { source, title, context, citations } = block;
  const { isVendor, ignored } = reading;
  // Pictures at another address, or in a file, are checked by the server first.
  if (isVendor && source.type === "content" && isTextAlone(source.content)) {
    return [toOwnPart(block)];
  }
  if (!isVendor && asksForCitations(block)) ignored.add(CITATIONS);
  const isTold = context && !isVendor;
  const about: ContentPart[] = isTold ? [{ type: "input_text", text: context }] : [];
  if (source.type === "content") {
    const titled = title ? [{ type: "input_text" as const, text: title }] : [];
    return [...about, ...titled, ...toInner(source.content, reading)];
  }
  const named = title ? { filename: title } : {};
  const more = { ...(context ? { context } : {}), ...(citations ? { citations } : {}) };
  const own = isVendor && Object.keys(more).length > 0 ? { [BLOCKS]: more } : {};
  return [...about, { type: "input_file", ...toFile(source), ...named, ...own, ...markOf(block) }];
}

function isTextAlone(content: string | readonly JsonObject[]): boolean {
  return typeof content === "string" || content.every(({ type }) => type === "text");
}

function toFile(source: MessagesSource): {
  file_url?: string;
  file_id?: string;
  file_data?: string;
} {
  if (source.type === "url") return { file_url: source.url };
  if (source.type === "file") return { file_id: source.file_id };
  if (source.type === "text") {
    return { file_data: `data:text/plain;base64,${Buffer.from(source.data).toString("base64")}` };
  }
  const { media_type = "application/pdf", data = "" } = source as {
    media_type?: string;
    data?: string;
  };
  return { file_data: `data:${media_type};base64,${data}` };
}

function toInner(content: string | readonly JsonObject[], reading: Reading): ContentPart[] {
  if (typeof content === "string") return [{ type: "input_text", text: content }];
  return content.flatMap((block) => toInputParts(block as unknown as BlockParam, reading) ?? []);
}

/** Models of other vendors read a search result as text, with its address. */
function toFoundText({ title, source, content }: SearchResultParam): string {
  return [`[${title}](${source})`, ...content.map(({ text }) => text)].join("\n");
}

/** The model's text, with its citations. */
export function toSaidPart(block: TextParam): OutputText {
  const { text, citations } = block;
  const annotations = (citations ?? [])
    .filter(isJsonObject)
    .map((citation) => toCited(citation, text));
  return { type: "output_text", text, annotations, ...markOf(block) } as OutputText;
}

/** The vendor would not accept a citation that this server made. */
function toCited(citation: JsonObject, { length }: string): Annotation {
  const annotation = toAnnotation(citation, length);
  if (citation["encrypted_index"] !== OWN_INDEX) return annotation;
  const { [BLOCKS]: _, ...plain } = annotation as Annotation & { [BLOCKS]?: unknown };
  return plain as Annotation;
}
