/** Images, sound and files as parts: inline where we have the bytes, by address where we do not. */

import { Failure } from "../../base/failure.ts";
import type { ContentPart } from "../../protocol/content.ts";
import type { GeminiMedia } from "./schema.ts";

type Part<Kind extends ContentPart["type"]> = Extract<ContentPart, { type: Kind }>;

/** The part as media, or none for a part of words. */
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
  throw new Failure("invalid_request", "An image needs an `image_url` or a `file_id`.");
}

function encodeAudio({ input_audio, data, format }: Part<"input_audio">): GeminiMedia {
  const audio = input_audio ?? { data: data ?? "", format: format ?? "wav" };
  return { inlineData: { mimeType: `audio/${audio.format}`, data: audio.data } };
}

function encodeFile({ file_data, file_url, file_id, filename }: Part<"input_file">): GeminiMedia {
  const type = typeOf(filename ?? file_url ?? "") ?? "application/pdf";
  if (file_data) return fromUrl(file_data, type);
  if (file_url) return fromUrl(file_url, type);
  if (file_id) return fromFileId(file_id, type);
  throw new Failure("invalid_request", "A file needs `file_data`, a `file_url` or a `file_id`.");
}

/** `data:`, an address, or bare base64. `fallback` is the type where the address does not tell it. */
function fromUrl(url: string, fallback: string): GeminiMedia {
  const data = /^data:([^;,]*)[^,]*,/.exec(url);
  if (data) {
    const body = url.slice(data[0].length);
    const isBase64 = data[0].includes(";base64");
    const bytes = isBase64 ? body : Buffer.from(decodeURIComponent(body)).toString("base64");
    return { inlineData: { mimeType: data[1] || fallback, data: bytes } };
  }
  if (!/^[a-z]+:\/\//i.test(url)) return { inlineData: { mimeType: fallback, data: url } };
  return { fileData: { mimeType: typeOf(url) ?? fallback, fileUri: url } };
}

/** Google's file ids are addresses, or names below one: `files/abc`. */
function fromFileId(id: string, mimeType: string): GeminiMedia {
  if (/^[a-z]+:\/\//i.test(id)) return { fileData: { mimeType, fileUri: id } };
  if (id.startsWith("files/")) return { fileData: { mimeType, fileUri: `${FILES}${id}` } };
  const message = `Gemini does not know the file \`${id}\`: give its data, or a \`files/…\` of its own.`;
  throw new Failure("invalid_request", message);
}

const FILES = "https://generativelanguage.googleapis.com/v1beta/";

const TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  heic: "image/heic",
  heif: "image/heif",
  gif: "image/gif",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  json: "application/json",
  mp3: "audio/mp3",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
};

/** By the ending of a name or an address. */
function typeOf(name: string): string | undefined {
  const [path = ""] = name.split(/[?#]/);
  return TYPES[/\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ""];
}
