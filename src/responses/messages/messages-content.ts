/** Blocks of what a user, a tool or the model says as parts of items. */

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Annotation, ContentPart, OutputText } from "../../protocol/content.ts";
import { BLOCKS, toAnnotation } from "../../protocol/messages-blocks.ts";
import { OWN_INDEX } from "./hosted-blocks.ts";
import type {
  BlockParam,
  DocumentParam,
  SearchResultParam,
  Source,
  TextParam,
} from "./messages-request.ts";

/** What has no place in items, each once, by name. */
export type Ignored = Set<string>;

type Marked = { readonly cache_control?: unknown };

/** A hint where to cache: vendors that have no word for it are not told, and neither is the client. */
function markOf({
  cache_control,
}: Marked): Pick<ContentPart & { type: "input_text" }, "prompt_cache_breakpoint"> {
  return cache_control ? { prompt_cache_breakpoint: { mode: "explicit" } } : {};
}

/** None for a kind that is not content, or that nobody here knows. */
export function toInputParts(block: BlockParam, ignored: Ignored): ContentPart[] | undefined {
  switch (block.type) {
    case "text":
      return [{ type: "input_text", text: block.text, ...markOf(block) }];
    case "image":
      return [{ ...toImage(block.source), ...markOf(block) }];
    case "document":
      return toDocument(block, ignored);
    case "search_result":
      return [{ type: "input_text", text: toFoundText(block), ...markOf(block) }];
    default:
      return undefined;
  }
}

function toImage(source: Source): Extract<ContentPart, { type: "input_image" }> {
  if (source.type === "url") return { type: "input_image", image_url: source.url, detail: "auto" };
  if (source.type === "file")
    return { type: "input_image", file_id: source.file_id, detail: "auto" };
  const { media_type = "image/png", data = "" } = source as { media_type?: string; data?: string };
  return { type: "input_image", image_url: `data:${media_type};base64,${data}`, detail: "auto" };
}

function toDocument(block: DocumentParam, ignored: Ignored): ContentPart[] {
  const { source, title, context, citations } = block;
  if (citations?.["enabled"] === true) ignored.add("messages.content.citations");
  const about: ContentPart[] = context ? [{ type: "input_text", text: context }] : [];
  if (source.type === "content") {
    const titled = title ? [{ type: "input_text" as const, text: title }] : [];
    return [...about, ...titled, ...toInner(source.content, ignored)];
  }
  const named = title ? { filename: title } : {};
  return [...about, { type: "input_file", ...toFile(source), ...named, ...markOf(block) }];
}

function toFile(source: Source): { file_url?: string; file_id?: string; file_data?: string } {
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

function toInner(content: string | readonly JsonObject[], ignored: Ignored): ContentPart[] {
  if (typeof content === "string") return [{ type: "input_text", text: content }];
  return content.flatMap((block) => toInputParts(block as unknown as BlockParam, ignored) ?? []);
}

/** Models of other vendors read a result of a search as text, with its address. */
function toFoundText({ title, source, content }: SearchResultParam): string {
  return [`[${title}](${source})`, ...content.map(({ text }) => text)].join("\n");
}

/** What the model said, with what it cites. */
export function toSaidPart({ text, citations }: TextParam): OutputText {
  const annotations = (citations ?? [])
    .filter(isJsonObject)
    .map((citation) => toCited(citation, text));
  return { type: "output_text", text, annotations };
}

/** A citation that this server made is not the vendor's to take back. */
function toCited(citation: JsonObject, { length }: string): Annotation {
  const annotation = toAnnotation(citation, length);
  if (citation["encrypted_index"] !== OWN_INDEX) return annotation;
  const { [BLOCKS]: _, ...plain } = annotation as Annotation & { [BLOCKS]?: unknown };
  return plain as Annotation;
}
