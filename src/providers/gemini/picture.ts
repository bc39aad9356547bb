/**
 * A picture that the model drew, as an item of the Responses API. The parts that the vendor wants back
 * beside the bytes are in a field of its own.
 */

import { isJsonObject } from "../../base/json.ts";
import type { ImageGenerationCall } from "../../protocol/hosted-kinds/image-generation.ts";
import type { Item } from "../../protocol/items.ts";
import type { GeminiAnswerPart, GeminiPart } from "./schema.ts";

/** The picture in a part; undefined if it is a draft among the model's thoughts, or other bytes. */
export function pictureIn({ thought, inlineData }: GeminiAnswerPart): string | undefined {
  const { mimeType, data } = inlineData ?? {};
  return !thought && mimeType?.startsWith("image/") && data ? data : undefined;
}

/** The item as it starts: `result` comes with the end. */
export function toPictureStart(id: string): Item {
  return { type: "image_generation_call", id, status: "in_progress", result: null };
}

export function toPicture(id: string, { inlineData, thoughtSignature }: GeminiAnswerPart): Item {
  const mimeType = inlineData?.mimeType ?? "";
  return {
    type: "image_generation_call",
    id,
    status: "completed",
    result: inlineData?.data ?? "",
    output_format: mimeType.slice(mimeType.indexOf("/") + 1),
    google: { mimeType, ...(thoughtSignature && { thoughtSignature }) },
  } as Item;
}

/** The part of a picture, unchanged. A picture from another vendor has no signature. */
export function toPicturePart(item: ImageGenerationCall): GeminiPart | undefined {
  if (!item.result) return undefined;
  const own: unknown = "google" in item ? item.google : undefined;
  const { mimeType, thoughtSignature } = isJsonObject(own) ? own : {};
  const type = typeof mimeType === "string" ? mimeType : "image/png";
  return {
    inlineData: { mimeType: type, data: item.result },
    ...(typeof thoughtSignature === "string" && { thoughtSignature }),
  };
}
