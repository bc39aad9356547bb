/**
 * Message parts in the form of Cohere's chat API: text and images. A text file is sent as its text. Other
 * parts cannot be expressed and are refused.
 */

import { Failure } from "../../base/failure.ts";
import type { ContentPart, InputFile, InputImage } from "../../protocol/content.ts";
import { readDataUrl, readFileContent, toFileText } from "../file-content.ts";
import type { CohereImage, CoherePart } from "./schema.ts";

/** Encodes a user's content; undefined for an empty message. */
export function encodeParts(
  content: string | readonly ContentPart[],
): string | readonly CoherePart[] | undefined {
  if (typeof content === "string" || content.every((part) => textOf(part) !== undefined)) {
    return toText(content) || undefined;
  }
  return content.map(encodePart).filter((part) => part.type !== "text" || part.text !== "");
}

/** The text of the content, with a placeholder for each image. */
export function toText(content: string | readonly ContentPart[]): string {
  if (typeof content === "string") return content;
  const texts = content.map((part) => textOf(part) ?? IMAGE_BELOW);
  return texts.filter((text) => text !== "").join("\n");
}

const IMAGE_BELOW = "[image below]";

/** The images of a tool's output. */
export function imagesOf(content: string | readonly ContentPart[]): readonly CoherePart[] {
  if (typeof content === "string") return [];
  return content.filter((part) => textOf(part) === undefined).map(encodePart);
}

function textOf(part: ContentPart): string | undefined {
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text":
    case "summary_text":
    case "reasoning_text":
      return part.text;
    case "refusal":
      return part.refusal;
    case "input_file":
      return toFileText(part);
    case "output_audio":
      return part.transcript ?? "";
    default:
      return undefined;
  }
}

function encodePart(part: ContentPart): CoherePart {
  const text = textOf(part);
  if (text !== undefined) return { type: "text", text };
  if (part.type === "input_image") return encodeImage(part);
  if (part.type === "input_file") return encodeFile(part);
  throw refused(`Cohere does not accept \`${part.type}\` parts. Send text, text files and images.`);
}

const IMAGE_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const DETAILS = ["low", "high", "auto"] as const;

function encodeImage({ image_url: url, detail }: InputImage): CohereImage {
  if (!url) throw refused("Cohere takes images by URL or data, not by file id.");
  const type = readDataUrl(url)?.mediaType;
  if (type !== undefined && !IMAGE_TYPES.includes(type)) {
    throw refused(
      `Cohere takes PNG, JPEG, WebP and GIF images, not \`${type}\`. Convert the image.`,
    );
  }
  // Only the Responses API knows the newest value of `detail`.
  const known = detail === "original" ? "high" : DETAILS.find((word) => word === detail);
  return { type: "image_url", image_url: { url, ...(known ? { detail: known } : {}) } };
}

function encodeFile(part: InputFile): CohereImage {
  const file = readFileContent(part);
  if (file && IMAGE_TYPES.includes(file.mediaType)) {
    const url = `data:${file.mediaType};base64,${file.base64}`;
    return { type: "image_url", image_url: { url } };
  }
  const given = file ? `\`${file.mediaType || "this one"}\`` : "a file by its id or URL";
  throw refused(`Cohere takes text files and images, not ${given}. Send the file's text.`);
}

function refused(message: string): Failure {
  return new Failure("invalid_request", message, { param: "input" });
}
