/**
 * Message parts in chat's form. Chat takes PDFs by their data. A text file is sent as its text. Other parts
 * cannot be expressed and are refused.
 */

import { Failure } from "../../base/failure.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ContentPart, InputAudio, InputFile, InputImage } from "../../protocol/content.ts";
import { readFileContent, toFileText } from "../file-content.ts";
import { toBody } from "../wire.ts";

/**
 * Encodes content. Plain text stays a string unless a part of it is marked: some servers accept only
 * strings.
 */
export function encodeParts(
  parts: readonly ContentPart[],
  markOf: (part: ContentPart) => JsonObject | undefined,
): string | JsonObject[] {
  const isPlain = parts.every((part) => isText(part) && !markOf(part));
  if (isPlain) return toPlainText(parts);
  return parts.map((part) => ({ ...encodePart(part), ...markOf(part) }));
}

/** The parts of a tool's output other than text. */
export function mediaOf(parts: readonly ContentPart[]): JsonObject[] {
  return parts.filter((part) => isMedia(part) && !isText(part)).map(encodePart);
}

/** The text of the content, with a placeholder for each image or file. */
export function toPlainText(content: string | readonly ContentPart[]): string {
  if (typeof content === "string") return content;
  const texts = content.map((part) => textOf(part) ?? MEDIA_WORDS[part.type] ?? "");
  return texts.filter((text) => text !== "").join("\n");
}

const MEDIA_WORDS: Readonly<Record<string, string>> = {
  input_image: "[image below]",
  input_file: "[file below]",
  input_audio: "[sound below]",
};

function isMedia({ type }: ContentPart): boolean {
  return Object.hasOwn(MEDIA_WORDS, type);
}

function isText(part: ContentPart): boolean {
  return textOf(part) !== undefined;
}

function textOf(part: ContentPart): string | undefined {
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text":
      return part.text;
    case "refusal":
      return part.refusal;
    case "input_file":
      return toFileText(part);
    default:
      return undefined;
  }
}

function encodePart(part: ContentPart): JsonObject {
  const text = textOf(part);
  if (text !== undefined) return { type: "text", text };
  switch (part.type) {
    case "input_image":
      return { type: "image_url", image_url: encodeImage(part) };
    case "input_audio":
      return { type: "input_audio", input_audio: encodeAudio(part) };
    case "input_file":
      return encodeFile(part);
    default:
      throw refused(`A chat model does not accept \`${part.type}\` parts.`);
  }
}

function encodeImage({ image_url, detail }: InputImage): JsonObject {
  if (!image_url) throw refused("A chat model takes images by URL or data, not by file id.");
  // Only the Responses API knows the newest value of `detail`.
  const known = detail === "original" ? "high" : detail;
  return toBody({ url: image_url, detail: known ?? undefined });
}

function encodeAudio({ input_audio, data, format }: InputAudio): JsonObject {
  return input_audio ?? toBody({ data, format });
}

function encodeFile(part: InputFile): JsonObject {
  const { file_id, filename } = part;
  if (file_id) return { type: "file", file: { file_id } };
  const file = readFileContent(part);
  if (!file) throw refused("A chat model takes files by data or file id, not by URL.");
  const { mediaType, base64 } = file;
  const url = `data:${mediaType || "application/pdf"};base64,${base64}`;
  if (mediaType.startsWith("image/")) return { type: "image_url", image_url: { url } };
  if (mediaType !== "" && mediaType !== "application/pdf") {
    throw refused(`A chat model takes PDF and text files, not \`${mediaType}\`. Convert the file.`);
  }
  return { type: "file", file: { filename: filename ?? "document.pdf", file_data: url } };
}

function refused(message: string): Failure {
  return new Failure("invalid_request", message, { param: "input" });
}
