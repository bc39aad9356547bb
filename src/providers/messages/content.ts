/**
 * Parts of messages and of tool results as blocks, and citations of a text in both directions. Rejects what
 * the API cannot express.
 */

import { Failure } from "../../base/failure.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Annotation, ContentPart, InputFile } from "../../protocol/content.ts";
import {
  type Citation,
  type DocumentBlock,
  type ImageBlock,
  type ImageType,
  BLOCKS as ORIGINAL,
  type TextBlock,
} from "../../protocol/messages-blocks.ts";
import { textOfPart } from "../../protocol/part-text.ts";
import { isMarked, ownMark } from "../cache-marks.ts";
import {
  decodeText,
  type EncodedFile,
  isTextType,
  readDataUrl,
  readFileContent,
} from "../file-content.ts";

type PartBlock = TextBlock | ImageBlock | DocumentBlock;

export function encodeContent(content: string | readonly ContentPart[]): PartBlock[] {
  return typeof content === "string" ? encodeText(content) : content.flatMap(encodePart);
}

/** The model's own content. A part that cannot be expressed here is another vendor's, and is left out. */
export function encodeSaid(content: string | readonly ContentPart[]): TextBlock[] {
  if (typeof content === "string") return encodeText(content);
  return content.flatMap((part) => encodeWords(part).map((block) => marked(block, part)));
}

function encodeWords(part: ContentPart): TextBlock[] {
  if (part.type === "output_text") return encodeCited(part);
  if (part.type === "refusal") return encodeText(part.refusal);
  if (part.type === "output_audio") return encodeText(part.transcript ?? "");
  return encodeText(textOfPart(part) ?? "");
}

function marked(block: TextBlock, part: ContentPart): TextBlock {
  return isMarked(part) ? { ...block, cache_control: ownMark(part) } : block;
}

/** Creates no block for a blank text, which the API refuses. */
export function encodeText(text: string): TextBlock[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function encodePart(part: ContentPart): PartBlock[] {
  const own = blockIn(part);
  if (own) return [own];
  return encodeBare(part).map((block) =>
    isMarked(part) ? { ...block, cache_control: ownMark(part) } : block,
  );
}

/** A block that a client of the Messages API has sent, unchanged. */
function blockIn(part: ContentPart): PartBlock | undefined {
  const own = (part as unknown as JsonObject)[ORIGINAL];
  return part.type === "input_text" && isJsonObject(own)
    ? (own as unknown as PartBlock)
    : undefined;
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
      throw refused(`Claude does not accept \`${part.type}\` parts. Leave it out.`);
  }
}

function encodeCited(part: Extract<ContentPart, { type: "output_text" }>): TextBlock[] {
  const citations = toCitations(part.annotations ?? []);
  const blocks = encodeText(part.text);
  return citations.length > 0 ? blocks.map((block) => ({ ...block, citations })) : blocks;
}

/** The citations from which annotations were made, if they are of this API. */
function toCitations(annotations: readonly Annotation[]): Citation[] {
  return annotations.flatMap((annotation) => {
    const original = (annotation as unknown as JsonObject)[ORIGINAL];
    if (!isJsonObject(original)) return [];
    // The API sends this field with every citation of a document, and refuses it in requests.
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
  if (!url) throw refused("An image has neither data nor a URL.");
  const inline = readDataUrl(url);
  return inline ? encodeImageData(inline) : { type: "image", source: { type: "url", url } };
}

function encodeImageData({ mediaType, base64: data }: EncodedFile): ImageBlock {
  if (!IMAGE_TYPES.includes(mediaType)) {
    throw refused(
      `Claude takes JPEG, PNG, GIF and WebP images, not \`${mediaType}\`. Convert the image.`,
    );
  }
  return { type: "image", source: { type: "base64", media_type: mediaType as ImageType, data } };
}

function encodeFile(part: InputFile): DocumentBlock | ImageBlock {
  const { file_id, file_url: url } = part;
  const title = { ...(part.filename ? { title: part.filename } : {}), ...fieldsIn(part) };
  if (file_id) return { type: "document", source: { type: "file", file_id }, ...title };
  if (url) return { type: "document", source: { type: "url", url }, ...title };
  const file = readFileContent(part);
  if (!file) throw refused("A file has neither data nor a URL.");
  if (IMAGE_TYPES.includes(file.mediaType)) return encodeImageData(file);
  return { type: "document", source: encodeDocument(file), ...title };
}

/** Further fields of a document from a client of the Messages API: its context, and whether it may be cited. */
function fieldsIn(part: InputFile): JsonObject {
  const own = (part as unknown as JsonObject)[ORIGINAL];
  return isJsonObject(own) ? own : {};
}

/** The API refuses an empty document. */
const EMPTY = "(The file is empty.)";

/** Bare base64 does not say its type; PDF is the only binary type of document. */
function encodeDocument({ mediaType, base64 }: EncodedFile): DocumentBlock["source"] {
  if (mediaType === "" || mediaType === "application/pdf") {
    return { type: "base64", media_type: "application/pdf", data: base64 };
  }
  // Any kind of text is sent as text.
  if (isTextType(mediaType)) {
    return { type: "text", media_type: "text/plain", data: decodeText(base64) || EMPTY };
  }
  throw refused(`Claude takes PDF and text files, not \`${mediaType}\`. Convert the file.`);
}

function refused(message: string): Failure {
  return new Failure("invalid_request", message, { param: "input" });
}
