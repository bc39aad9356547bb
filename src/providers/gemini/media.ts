/** Images, sound and files as parts: inline if we have the bytes, otherwise by address. */

import { Failure } from "../../base/failure.ts";
import type { ContentPart } from "../../protocol/content.ts";
import { isTextType, readDataUrl, readFileContent, typeOfName } from "../file-content.ts";
import { isYouTube } from "../own-addresses.ts";
import type { GeminiMedia } from "./schema.ts";

type Part<Kind extends ContentPart["type"]> = Extract<ContentPart, { type: Kind }>;

/** The part as media; undefined for a text part. */
export function toMedia(part: ContentPart): GeminiMedia | undefined {
  switch (part.type) {
    case "input_image":
    case "computer_screenshot":
      return encodeImage(part);
    case "input_audio":
      return encodeAudio(part);
    case "input_file":
      return encodeFile(part);
    default:
      return undefined;
  }
}

function encodeImage(part: Part<"input_image"> | Part<"computer_screenshot">): GeminiMedia {
  const { image_url, file_id } = part;
  if (image_url) return fromUrl(image_url, "image/jpeg");
  if (file_id) return fromFileId(file_id, "image/jpeg");
  throw refused("An image needs an `image_url` or a `file_id`.");
}

function encodeAudio({ input_audio, data, format }: Part<"input_audio">): GeminiMedia {
  const audio = input_audio ?? { data: data ?? "", format: format ?? "wav" };
  return { inlineData: { mimeType: `audio/${audio.format}`, data: audio.data } };
}

function encodeFile(part: Part<"input_file">): GeminiMedia {
  const { file_url, file_id, filename } = part;
  const file = readFileContent(part);
  if (file) {
    const mimeType = toKnownType(file.mediaType || "application/pdf");
    return { inlineData: { mimeType, data: file.base64 } };
  }
  if (file_url && isYouTube(file_url)) {
    return { fileData: { mimeType: "video/mp4", fileUri: file_url } };
  }
  const type = typeOfName(filename ?? file_url ?? "") ?? "application/pdf";
  if (file_url) return fromUrl(file_url, toKnownType(type));
  if (file_id) return fromFileId(file_id, toKnownType(type));
  throw refused("A file needs `file_data`, a `file_url` or a `file_id`.");
}

/** Kinds of text that the service names; any other text is sent as plain text. */
const TEXT_TYPES: ReadonlySet<string> = new Set([
  "text/plain",
  "text/html",
  "text/css",
  "text/csv",
  "text/markdown",
  "text/xml",
  "text/rtf",
]);

function toKnownType(type: string): string {
  return isTextType(type) && !TEXT_TYPES.has(type) ? "text/plain" : type;
}

/** Reads `data:`, an address, or bare base64. `fallback` is the type if the address does not say one. */
function fromUrl(url: string, fallback: string): GeminiMedia {
  const inline = readDataUrl(url);
  if (inline) {
    return { inlineData: { mimeType: inline.mediaType || fallback, data: inline.base64 } };
  }
  if (!/^[a-z]+:\/\//i.test(url)) return { inlineData: { mimeType: fallback, data: url } };
  return { fileData: { mimeType: toKnownType(typeOfName(url) ?? fallback), fileUri: url } };
}

/** Google's file ids are addresses, or names below one: `files/abc`. */
function fromFileId(id: string, mimeType: string): GeminiMedia {
  if (/^[a-z]+:\/\//i.test(id)) return { fileData: { mimeType, fileUri: id } };
  if (id.startsWith("files/")) return { fileData: { mimeType, fileUri: `${FILES}${id}` } };
  const message = `Gemini does not know the file \`${id}\`: give its data, or a \`files/…\` of its own.`;
  throw refused(message);
}

function refused(message: string): Failure {
  return new Failure("invalid_request", message, { param: "input" });
}

const FILES = "https://generativelanguage.googleapis.com/v1beta/";
