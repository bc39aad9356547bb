/**
 * Parts of messages and of tools' outputs as blocks, and what a text cites in both directions.
 * Rejects what the API has no words for.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Annotation, ContentPart, InputFile } from "../../protocol/content.ts";
import type { Citation, DocumentBlock, ImageBlock, ImageType, TextBlock } from "./schema.ts";

type PartBlock = TextBlock | ImageBlock | DocumentBlock;

export function encodeContent(content: string | readonly ContentPart[]): PartBlock[] {
  return typeof content === "string" ? encodeText(content) : content.flatMap(encodePart);
}

/** What the model itself said: what has no words here is another vendor's, and left out. */
export function encodeSaid(content: string | readonly ContentPart[]): TextBlock[] {
  if (typeof content === "string") return encodeText(content);
  return content.flatMap((part) => {
    if (part.type === "output_text") return encodeCited(part);
    if (part.type === "refusal") return encodeText(part.refusal);
    if (part.type === "output_audio") return encodeText(part.transcript ?? "");
    return "text" in part && typeof part.text === "string" ? encodeText(part.text) : [];
  });
}

/** No block for a text of blanks, which the API refuses. */
export function encodeText(text: string): TextBlock[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/** Holds, in an annotation, the citation it was made of: the API wants it back with the text. */
const ORIGINAL = "anthropic";

/** `end`: where the cited text ends; it starts at 0, because it is all of its part. */
export function toAnnotation(citation: JsonObject, end: number): Annotation {
  const span = { start_index: 0, end_index: end, [ORIGINAL]: citation };
  const url = textOf(citation["url"]) ?? textOf(citation["source"]);
  if (url !== undefined) {
    return { type: "url_citation", url, title: textOf(citation["title"]) ?? "", ...span };
  }
  const { document_index: index } = citation;
  return {
    type: "file_citation",
    file_id: textOf(citation["file_id"]) ?? "",
    filename: textOf(citation["document_title"]) ?? "",
    quote: textOf(citation["cited_text"]) ?? null,
    ...(typeof index === "number" ? { index } : {}),
    ...span,
  };
}

function encodePart(part: ContentPart): PartBlock[] {
  return encodeBare(part).map((block) =>
    "prompt_cache_breakpoint" in part && part.prompt_cache_breakpoint
      ? { ...block, cache_control: { type: "ephemeral" } }
      : block,
  );
}

function encodeBare(part: ContentPart): PartBlock[] {
  switch (part.type) {
    case "output_text":
      return encodeCited(part);
    case "input_text":
    case "text":
    case "summary_text":
    case "reasoning_text":
      return encodeText(part.text);
    case "refusal":
      return encodeText(part.refusal);
    case "input_image":
    case "computer_screenshot":
      return [encodeImage(part)];
    case "input_file":
      return [encodeFile(part)];
    default:
      throw new Failure("invalid_request", `Claude takes no \`${part.type}\` part. Leave it out.`);
  }
}

function encodeCited(part: Extract<ContentPart, { type: "output_text" }>): TextBlock[] {
  const citations = toCitations(part.annotations ?? []);
  const blocks = encodeText(part.text);
  return citations.length > 0 ? blocks.map((block) => ({ ...block, citations })) : blocks;
}

/** The citation that an annotation was made of, if it was one of this API. */
function toCitations(annotations: readonly Annotation[]): Citation[] {
  return annotations.flatMap((annotation) => {
    const original = (annotation as unknown as JsonObject)[ORIGINAL];
    if (!isJsonObject(original)) return [];
    // Given with every citation of a document, and refused in every one.
    const { file_id: _, ...citation } = original;
    return [citation as unknown as Citation];
  });
}

const IMAGE_TYPES: readonly string[] = [
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
] satisfies ImageType[];

function encodeImage(part: {
  readonly image_url?: string | null | undefined;
  readonly file_id?: string | null | undefined;
}): ImageBlock {
  const { image_url: url, file_id } = part;
  if (file_id) return { type: "image", source: { type: "file", file_id } };
  if (!url) throw new Failure("invalid_request", "An image has neither data nor a URL.");
  const inline = readDataUrl(url);
  return inline
    ? encodeImageData(inline.type, inline.data)
    : { type: "image", source: { type: "url", url } };
}

function encodeImageData(type: string, data: string): ImageBlock {
  if (!IMAGE_TYPES.includes(type)) {
    const message = `Claude takes JPEG, PNG, GIF and WebP images, not \`${type}\`. Convert the image.`;
    throw new Failure("invalid_request", message, { param: "input" });
  }
  return { type: "image", source: { type: "base64", media_type: type as ImageType, data } };
}

function encodeFile(part: InputFile): DocumentBlock | ImageBlock {
  const { file_id, file_url: url, file_data } = part;
  const title = part.filename ? { title: part.filename } : {};
  if (file_id) return { type: "document", source: { type: "file", file_id }, ...title };
  if (url) return { type: "document", source: { type: "url", url }, ...title };
  if (!file_data) throw new Failure("invalid_request", "A file has neither data nor a URL.");
  const { type, data } = readDataUrl(file_data) ?? {
    type: typeOfName(part.filename ?? ""),
    data: file_data,
  };
  if (type.startsWith("image/")) return encodeImageData(type, data);
  return { type: "document", source: encodeDocument(type, data), ...title };
}

/** Anything that is text goes as text, whatever it is called. */
const TEXT_TYPES = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|x-sh)\b)/;

function encodeDocument(type: string, data: string): DocumentBlock["source"] {
  if (type === "application/pdf") return { type: "base64", media_type: type, data };
  if (TEXT_TYPES.test(type)) {
    const text = Buffer.from(data, "base64").toString("utf8");
    return { type: "text", media_type: "text/plain", data: text };
  }
  const message = `Claude takes PDF and text files, not \`${type}\`. Convert the file.`;
  throw new Failure("invalid_request", message, { param: "input" });
}

/** Bare base64 says nothing of its type; a PDF is the only binary document there is. */
function typeOfName(name: string): string {
  return /\.(txt|md|csv|json|xml|ya?ml|toml|html?)$/i.test(name) ? "text/plain" : "application/pdf";
}

function readDataUrl(url: string): { type: string; data: string } | undefined {
  // Cut by hand: a pattern over many megabytes of base64 would be walked twice.
  const comma = url.startsWith("data:") ? url.indexOf(",") : -1;
  if (comma === -1) return undefined;
  const [type = "", ...parameters] = url.slice("data:".length, comma).split(";");
  const data = url.slice(comma + 1);
  const isBase64 = parameters.includes("base64");
  const encoded = isBase64 ? data : Buffer.from(decodeURIComponent(data)).toString("base64");
  return { type: type || "text/plain", data: encoded };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
